//! The generated style sheet.

use std::fmt::Write;

use super::{ColourScheme, Font, Layout, PictureKind, Theme};

/// Returns `theme.css`: custom properties, the style sheet of the pages, the operator's rules. URLs in it are relative
/// to its own URL.
pub(crate) fn style_sheet(theme: &Theme, pages: &str) -> String {
    let mut css = String::from("/* Generated from the settings of pages.theme. */\n");
    write_schemes(theme, &mut css);
    write_shape(theme, &mut css);
    css.push_str(pages);
    if let Some(own) = &theme.css {
        css.push('\n');
        css.push_str(&own.0);
    }
    css
}

fn write_schemes(theme: &Theme, css: &mut String) {
    let logo_dark = theme.logo_dark.as_ref().map(|picture| picture.kind);
    match theme.colour_scheme {
        ColourScheme::Light => block(css, "light", |css| theme.light().write(css)),
        ColourScheme::Dark => {
            block(css, "dark", |css| {
                theme.dark().write(css);
                write_logo(css, "logo-dark", logo_dark);
            });
        }
        ColourScheme::Auto => {
            block(css, "light dark", |css| theme.light().write(css));
            css.push_str("@media (prefers-color-scheme:dark){");
            block(css, "light dark", |css| {
                theme.dark().write(css);
                write_logo(css, "logo-dark", logo_dark);
            });
            css.push_str("}\n");
        }
    }
}

fn block(css: &mut String, scheme: &str, write: impl Fn(&mut String)) {
    // Writing to a string cannot fail.
    let _ = write!(css, ":root{{color-scheme:{scheme};");
    write(css);
    css.push_str("}\n");
}

/// Writes the properties that do not depend on the colour scheme.
fn write_shape(theme: &Theme, css: &mut String) {
    let fonts = match theme.font {
        Font::System => "system-ui,sans-serif",
        Font::Serif => "ui-serif,Georgia,serif",
        Font::Mono => "ui-monospace,Menlo,Consolas,monospace",
    };
    let own = if theme.font_file.is_some() { "\"theme\"," } else { "" };
    if theme.font_file.is_some() {
        css.push_str(
            "@font-face{font-family:\"theme\";src:url(font.woff2) format(\"woff2\");font-display:swap}\n",
        );
    }
    let _ = write!(css, ":root{{--radius:{}px;--font:{own}{fonts};", theme.radius.0);
    if theme.logo.is_some() || theme.logo_dark.is_some() {
        css.push_str("--logo-display:block;");
    }
    css.push_str("}\n");
    // If there is only a dark logo, both schemes use it. The rule of the dark scheme is repeated after this one.
    let logo = theme.logo.as_ref().map(|picture| ("logo", picture.kind));
    let logo = logo.or_else(|| theme.logo_dark.as_ref().map(|picture| ("logo-dark", picture.kind)));
    if let Some((name, kind)) = logo {
        css.push_str(":where(:root){");
        write_logo(css, name, Some(kind));
        css.push_str("}\n");
    }
    if theme.layout == Layout::Full {
        css.push_str(":root{--card-line:transparent;--card-shadow:none;--card-padding:0px}\n");
    }
    if !theme.shows_name {
        css.push_str(":root{--name-clip:inset(50%);--name-position:absolute}\n");
    }
}

fn write_logo(css: &mut String, name: &str, kind: Option<PictureKind>) {
    let Some(kind) = kind else { return };
    let extension = kind.extension();
    let _ = write!(css, "--logo:url({name}.{extension});");
}

impl PictureKind {
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}
