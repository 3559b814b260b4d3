use super::palette::Palette;
use super::*;
use crate::assets::Assets;

fn colour(text: &str) -> Colour {
    Colour::parse(text).unwrap()
}

/// Themes with every accent of a coarse grid, on light, dark and middling backgrounds.
fn themes() -> impl Iterator<Item = Theme> {
    let steps = [0x00, 0x55, 0xaa, 0xff];
    let accents = steps.into_iter().flat_map(move |red| {
        steps
            .into_iter()
            .flat_map(move |green| steps.map(move |blue| Colour::new(red << 16 | green << 8 | blue)))
    });
    let backgrounds =
        [None, Some("#ffffff"), Some("#000000"), Some("#777777"), Some("#fff3d6"), Some("#2b1b4d")];
    let layouts = [Layout::Card, Layout::Full];
    accents.flat_map(move |accent| {
        backgrounds.into_iter().flat_map(move |background| {
            layouts.map(|layout| Theme {
                accent,
                accent_dark: background.map(|_| accent),
                background: background.map(colour),
                layout,
                ..Theme::default()
            })
        })
    })
}

#[test]
fn no_theme_makes_the_pages_unreadable() {
    let grounds = ["background", "surface", "danger-ground", "good-ground", "accent-ground"];
    let check = |palette: &Palette, theme: &Theme| {
        let pair = |name: &str, ground: &str, ratio: f64| {
            let (one, two) = (palette.get(name), palette.get(ground));
            assert!(one.contrast(two) >= ratio, "{name} {one} on {ground} {two} of {theme:?}");
        };
        for ground in grounds {
            for name in ["text", "muted", "accent-text", "danger", "good"] {
                pair(name, ground, 4.5);
            }
        }
        for ground in ["background", "surface"] {
            pair("field", ground, 3.0);
            pair("accent-line", ground, 3.0);
        }
        pair("on-accent", "accent", 4.5);
        pair("on-accent", "accent-hover", 4.5);
        // Marks are in the colour of the surface.
        pair("surface", "danger", 4.5);
        pair("surface", "good", 4.5);
    };
    for theme in themes() {
        check(&theme.light(), &theme);
        check(&theme.dark(), &theme);
    }
}

#[test]
fn a_readable_accent_stays_as_it_is() {
    let theme = Theme::default();
    assert_eq!(theme.light().get("accent-text"), theme.accent);
    assert_eq!(theme.adjustments(), Vec::new());
}

#[test]
fn a_pale_accent_is_darkened_for_text_and_borders_and_reported() {
    let theme = Theme { accent: colour("#ffcc00"), accent_dark: Some(colour("#222222")), ..Theme::default() };
    let adjustments = theme.adjustments();
    let told: Vec<_> = adjustments.iter().map(|one| (one.setting, one.purpose, one.ratio < 3.0)).collect();
    assert_eq!(
        told,
        [
            ("accent", "text", true),
            ("accent", "borders", true),
            ("accent_dark", "text", true),
            ("accent_dark", "borders", true)
        ]
    );
    assert_eq!(theme.light().get("accent"), theme.accent, "the button keeps the colour");
    let only_light = Theme { colour_scheme: ColourScheme::Light, ..theme };
    assert_eq!(only_light.adjustments().len(), 2);
}

#[test]
fn a_background_is_used_in_the_scheme_that_it_suits() {
    let dark = Theme { background: Some(colour("#2b1b4d")), ..Theme::default() };
    assert_eq!(dark.dark().get("background"), colour("#2b1b4d"));
    assert_ne!(dark.light().get("background"), colour("#2b1b4d"));
    let light = Theme { background: Some(colour("#fff3d6")), ..Theme::default() };
    assert_eq!(light.light().get("background"), colour("#fff3d6"));
    assert_ne!(light.dark().get("background"), colour("#fff3d6"));
}

fn sheet(theme: &Theme) -> String {
    style_sheet(theme, "/* pages */")
}

#[test]
fn the_sheet_has_the_schemes_that_are_wanted() {
    let auto = sheet(&Theme::default());
    assert!(auto.contains("color-scheme:light dark") && auto.contains("prefers-color-scheme:dark"));
    for (scheme, word) in
        [(ColourScheme::Light, "color-scheme:light;"), (ColourScheme::Dark, "color-scheme:dark;")]
    {
        let one = sheet(&Theme { colour_scheme: scheme, ..Theme::default() });
        assert!(one.contains(word) && !one.contains("@media"), "{one}");
    }
}

#[test]
fn the_sheet_has_shape_files_and_own_rules() {
    let svg = || Picture::parse(b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec()).unwrap();
    let theme = Theme {
        radius: Radius::new(3).unwrap(),
        font: Font::Serif,
        font_file: Some(Woff2::parse(b"wOF2rest".to_vec()).unwrap()),
        css: Some(Css::parse(b"h1{color:red}".to_vec()).unwrap()),
        logo: Some(svg()),
        logo_dark: Some(Picture::parse(b"\x89PNG\r\n\x1a\nrest".to_vec()).unwrap()),
        layout: Layout::Full,
        shows_name: false,
        ..Theme::default()
    };
    let sheet = sheet(&theme);
    for part in [
        "--radius:3px;",
        "--font:\"theme\",ui-serif",
        "url(font.woff2)",
        "--logo:url(logo.svg);",
        "--logo:url(logo-dark.png);",
        "--card-line:transparent",
        "--name-clip:",
    ] {
        assert!(sheet.contains(part), "{part} is missing in {sheet}");
    }
    let (pages, own) = (sheet.find("/* pages */").unwrap(), sheet.find("h1{color:red}").unwrap());
    assert!(pages < own);

    let assets = Assets::new(&theme);
    let names: Vec<_> = assets.all().iter().map(|asset| asset.name).collect();
    assert_eq!(
        names,
        [
            "theme.css",
            "pages.js",
            "console.css",
            "console.js",
            "logo.svg",
            "logo-dark.png",
            "favicon.svg",
            "font.woff2"
        ]
    );
    let logo = assets.find(assets.digest(), "logo.svg").unwrap();
    assert!(logo.policy.is_some_and(|policy| policy.contains("sandbox")));
    assert!(assets.find("0000000000000000", "logo.svg").is_none());
    assert_ne!(assets.digest(), Assets::new(&Theme::default()).digest());
}

#[test]
fn files_are_refused_by_size_and_kind() {
    assert_eq!(Picture::parse(vec![b' '; 65 * 1024]).unwrap_err(), InvalidFile::TooLarge(64));
    assert_eq!(Picture::parse(b"GIF89a".to_vec()).unwrap_err(), InvalidFile::NoPicture);
    assert_eq!(Woff2::parse(b"OTTO".to_vec()).unwrap_err(), InvalidFile::NoFont);
    assert_eq!(Css::parse(vec![0xff]).unwrap_err(), InvalidFile::NoText);
    assert_eq!(Radius::new(25), None);
}
