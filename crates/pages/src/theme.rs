//! The operator's theme: colours, logo, font and layout. It becomes one style sheet, `theme.css`: CSS custom
//! properties, the style sheet of the pages, and the operator's rules. No part of it is written into HTML.

mod colour;
mod palette;
mod sheet;

pub use colour::{Colour, InvalidColour};
pub(crate) use sheet::style_sheet;

use palette::{BORDER, Palette, Seed, TEXT};

/// Maximum size of a logo or icon, in bytes.
const LARGEST_PICTURE: usize = 64 * 1024;
/// Maximum size of a font, in bytes.
const LARGEST_FONT: usize = 200 * 1024;
/// Maximum size of the operator's style sheet, in bytes.
const LARGEST_CSS: usize = 64 * 1024;

/// A theme. [`Theme::default`] is the one of a service without settings for it.
#[derive(Debug, Clone)]
pub struct Theme {
    /// Colour of buttons and links.
    pub accent: Colour,
    /// Colour of buttons and links in the dark scheme; by default a lighter `accent`.
    pub accent_dark: Option<Colour>,
    /// Background of the page in one of the schemes: a light colour is used in the light scheme, a dark one in the dark
    /// scheme.
    pub background: Option<Colour>,
    pub logo: Option<Picture>,
    pub logo_dark: Option<Picture>,
    pub favicon: Option<Picture>,
    pub radius: Radius,
    pub font: Font,
    /// Font in WOFF2 for all text. It takes precedence over `font`.
    pub font_file: Option<Woff2>,
    /// The operator's CSS rules, which follow those of the pages.
    pub css: Option<Css>,
    pub colour_scheme: ColourScheme,
    pub layout: Layout,
    /// Whether the name of the service is visible beside the logo. A hidden name is still read by screen readers.
    pub shows_name: bool,
}

/// A picture. Its first bytes tell whether it is SVG or PNG.
#[derive(Debug, Clone)]
pub struct Picture {
    pub(crate) kind: PictureKind,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureKind {
    Svg,
    Png,
}

/// A font file in WOFF2 format.
#[derive(Debug, Clone)]
pub struct Woff2(pub(crate) Vec<u8>);

/// CSS rules of the operator.
#[derive(Debug, Clone)]
pub struct Css(pub(crate) String);

/// A file of the theme that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFile {
    #[error("the file is larger than {0} KiB")]
    TooLarge(usize),
    #[error("the file is neither SVG nor PNG")]
    NoPicture,
    #[error("the file is no font in WOFF2")]
    NoFont,
    #[error("the file is not text in UTF-8")]
    NoText,
}

/// Radius of corners in pixels, 0 to 24.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Radius(u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Font {
    System,
    Serif,
    Mono,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourScheme {
    /// The scheme that the browser prefers.
    Auto,
    Light,
    Dark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A card on the background.
    Card,
    /// No card: the content is directly on the background.
    Full,
}

/// A colour of the theme that is replaced where it would be unreadable.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjustment {
    /// Setting of the colour, such as `accent_dark`.
    pub setting: &'static str,
    pub colour: Colour,
    /// Use of the colour: `text` or `borders`.
    pub purpose: &'static str,
    /// Contrast ratio of the colour as the operator set it.
    pub ratio: f64,
    pub replacement: Colour,
}

/// The colours of a page in one scheme, as in CSS.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Sample {
    /// `light` or `dark`.
    pub scheme: &'static str,
    pub background: String,
    pub surface: String,
    pub line: String,
    pub text: String,
    pub muted: String,
    pub accent: String,
    pub on_accent: String,
    pub accent_text: String,
    /// Radius of corners, in pixels.
    pub radius: u8,
}

impl Default for Theme {
    fn default() -> Self {
        Self {
            accent: Colour::new(0x002f_5bd0),
            accent_dark: None,
            background: None,
            logo: None,
            logo_dark: None,
            favicon: None,
            radius: Radius(8),
            font: Font::System,
            font_file: None,
            css: None,
            colour_scheme: ColourScheme::Auto,
            layout: Layout::Card,
            shows_name: true,
        }
    }
}

impl Radius {
    /// Creates a radius; `None` if it is larger than 24 pixels.
    #[must_use]
    pub const fn new(pixels: u8) -> Option<Self> {
        if pixels <= 24 { Some(Self(pixels)) } else { None }
    }

    #[must_use]
    pub const fn pixels(self) -> u8 {
        self.0
    }
}

impl Picture {
    pub fn parse(bytes: Vec<u8>) -> Result<Self, InvalidFile> {
        check_size(&bytes, LARGEST_PICTURE)?;
        let kind = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            PictureKind::Png
        } else if std::str::from_utf8(&bytes).is_ok_and(|text| text.contains("<svg")) {
            PictureKind::Svg
        } else {
            return Err(InvalidFile::NoPicture);
        };
        Ok(Self { kind, bytes })
    }
}

impl Woff2 {
    pub fn parse(bytes: Vec<u8>) -> Result<Self, InvalidFile> {
        check_size(&bytes, LARGEST_FONT)?;
        if bytes.starts_with(b"wOF2") { Ok(Self(bytes)) } else { Err(InvalidFile::NoFont) }
    }
}

impl Css {
    pub fn parse(bytes: Vec<u8>) -> Result<Self, InvalidFile> {
        check_size(&bytes, LARGEST_CSS)?;
        String::from_utf8(bytes).map(Self).map_err(|_| InvalidFile::NoText)
    }
}

fn check_size(bytes: &[u8], largest: usize) -> Result<(), InvalidFile> {
    if bytes.len() > largest { Err(InvalidFile::TooLarge(largest / 1024)) } else { Ok(()) }
}

impl Theme {
    /// Returns the colours that are replaced where they would be unreadable, for `config check`.
    #[must_use]
    pub fn adjustments(&self) -> Vec<Adjustment> {
        let mut schemes = Vec::new();
        if self.colour_scheme != ColourScheme::Dark {
            schemes.push(("accent", Some(self.accent), self.light()));
        }
        if self.colour_scheme != ColourScheme::Light {
            schemes.push(("accent_dark", self.accent_dark, self.dark()));
        }
        let mut adjustments = Vec::new();
        for (setting, colour, palette) in schemes {
            // A derived colour is always readable.
            let Some(colour) = colour else { continue };
            for (purpose, name, wanted) in [("text", "accent-text", TEXT), ("borders", "accent-line", BORDER)]
            {
                let ratio = ["background", "surface"].map(|ground| colour.contrast(palette.get(ground)));
                let ratio = ratio[0].min(ratio[1]);
                if ratio < wanted {
                    let replacement = palette.get(name);
                    adjustments.push(Adjustment { setting, colour, purpose, ratio, replacement });
                }
            }
        }
        adjustments
    }

    /// Returns the colours of a page in each scheme that the theme allows, for a preview.
    #[must_use]
    pub fn samples(&self) -> Vec<Sample> {
        let schemes = [
            ("light", ColourScheme::Dark, Self::light as fn(&Self) -> Palette),
            ("dark", ColourScheme::Light, Self::dark),
        ];
        let shown = schemes.into_iter().filter(|(_, other, _)| self.colour_scheme != *other);
        let sample = |(scheme, _, palette): (_, _, fn(&Self) -> Palette)| {
            let palette = palette(self);
            let colour = |name| palette.get(name).to_string();
            Sample {
                scheme,
                background: colour("background"),
                surface: colour("surface"),
                line: colour("line"),
                text: colour("text"),
                muted: colour("muted"),
                accent: colour("accent"),
                on_accent: colour("on-accent"),
                accent_text: colour("accent-text"),
                radius: self.radius.0,
            }
        };
        shown.map(sample).collect()
    }

    fn light(&self) -> Palette {
        let background = self.background.filter(|colour| colour.opposite() == Colour::BLACK);
        self.palette(Seed::light(self.accent, background.unwrap_or(Colour::new(0x00f4_f5f8))))
    }

    fn dark(&self) -> Palette {
        let background = self.background.filter(|colour| colour.opposite() == Colour::WHITE);
        let background = background.unwrap_or(Colour::new(0x0010_1318));
        let accent = self
            .accent_dark
            .unwrap_or_else(|| self.accent.readable_on(&[background.mixed(Colour::WHITE, 14)], 5.5));
        self.palette(Seed::dark(accent, background))
    }

    fn palette(&self, mut seed: Seed) -> Palette {
        if self.layout == Layout::Full {
            seed.surface = seed.background;
        }
        Palette::of(&seed)
    }
}

#[cfg(test)]
mod tests;
