//! The colours of one colour scheme. Each has enough contrast to every background on which it is used (WCAG 2.2, 1.4.3
//! and 1.4.11).

use std::fmt::Write;

use super::colour::Colour;

/// Minimum contrast ratio of text.
pub(super) const TEXT: f64 = 4.5;
/// Minimum contrast ratio of borders of controls and of the focus ring.
pub(super) const BORDER: f64 = 3.0;

/// Colours from which a palette is derived.
pub(super) struct Seed {
    pub(super) accent: Colour,
    pub(super) background: Colour,
    pub(super) surface: Colour,
    pub(super) text: Colour,
    pub(super) danger: Colour,
    pub(super) good: Colour,
}

impl Seed {
    pub(super) const fn light(accent: Colour, background: Colour) -> Self {
        Self {
            accent,
            background,
            surface: Colour::WHITE,
            text: Colour::new(0x0017_1b22),
            danger: Colour::new(0x00b3_2621),
            good: Colour::new(0x001a_7446),
        }
    }

    pub(super) fn dark(accent: Colour, background: Colour) -> Self {
        Self {
            accent,
            background,
            surface: tinted(background, Colour::WHITE, 5),
            text: Colour::new(0x00e9_ebf0),
            danger: Colour::new(0x00ff_8f87),
            good: Colour::new(0x006f_d3a0),
        }
    }
}

/// Returns a background with a tint of a colour. The tint is omitted if text on it would lose too much contrast.
fn tinted(ground: Colour, colour: Colour, percent: u16) -> Colour {
    let tinted = ground.mixed(colour, percent);
    if ground.opposite().contrast(tinted) < TEXT { ground } else { tinted }
}

/// Colours of one scheme, by the names of their CSS custom properties.
pub(super) struct Palette {
    colours: Vec<(&'static str, Colour)>,
}

impl Palette {
    pub(super) fn of(seed: &Seed) -> Self {
        let Seed { accent, background, surface, .. } = *seed;
        let on_accent = accent.opposite();
        let (danger_ground, good_ground, accent_ground) =
            (tinted(surface, seed.danger, 9), tinted(surface, seed.good, 10), tinted(surface, accent, 8));
        // Text of every colour may be on the page, on a card, or on a tinted notice in the card.
        let grounds = [background, surface, danger_ground, good_ground, accent_ground];
        let text = seed.text.readable_on(&grounds, 7.0);
        let colours = vec![
            ("background", background),
            ("surface", surface),
            ("text", text),
            ("muted", text.mixed(surface, 38).readable_on(&grounds, TEXT)),
            ("line", surface.mixed(text, 13)),
            ("field", text.mixed(surface, 45).readable_on(&[background, surface], BORDER)),
            ("accent", accent),
            ("accent-hover", accent.mixed(on_accent.opposite(), 12)),
            ("on-accent", on_accent),
            ("accent-text", accent.readable_on(&grounds, TEXT)),
            ("accent-line", accent.readable_on(&[background, surface], BORDER)),
            ("accent-ground", accent_ground),
            ("danger", seed.danger.readable_on(&grounds, TEXT)),
            ("danger-ground", danger_ground),
            ("good", seed.good.readable_on(&grounds, TEXT)),
            ("good-ground", good_ground),
        ];
        Self { colours }
    }

    /// Returns a colour by its name; black for an unknown name.
    pub(super) fn get(&self, name: &str) -> Colour {
        self.colours.iter().find(|(known, _)| *known == name).map_or(Colour::BLACK, |(_, colour)| *colour)
    }

    /// Writes the colours as CSS custom properties.
    pub(super) fn write(&self, css: &mut String) {
        for (name, colour) in &self.colours {
            // Writing to a string cannot fail.
            let _ = write!(css, "--{name}:{colour};");
        }
    }
}
