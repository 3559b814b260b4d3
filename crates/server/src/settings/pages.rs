//! Section `pages`: the hosted pages, with their links and their theme.

use std::path::PathBuf;

use latchkey_pages::{Address, Colour, ColourScheme, Font, Layout, Radius, Theme};
use latchkey_settings::{Kind, Reader, settings};

use super::{Settings, only_in_development};

settings! {
    /// Settings of section `pages`.
    #[derive(Debug)]
    pub struct PageSettings {
        /// Pages for people, under /auth: sign-in, sign-up, and their own account. If this is off, those paths answer
        /// 404. Development: true. Production: false.
        "pages.enabled" => enabled: bool = only_in_development, false;
        /// Folder whose files replace the embedded templates of the same name, for example sign_in.html. All are tried
        /// at the start with every state of their page. Not set: none.
        "pages.templates_dir" => templates_dir: Option<PathBuf> = "";
        /// Folder whose files add or replace languages, for example pl.toml; each has every text of the English one.
        /// Not set: none.
        "pages.locales_dir" => locales_dir: Option<PathBuf> = "";
    }
}

settings! {
    /// Settings of section `pages.links`.
    #[derive(Debug)]
    pub struct PageLinks {
        /// Links at the foot of every page: https, http or mailto. Not set: none.
        "pages.links.terms" => terms: Option<Address> [Kind::Text] | read_link = "";
        "pages.links.privacy" => privacy: Option<Address> [Kind::Text] | read_link = "";
        "pages.links.support" => support: Option<Address> [Kind::Text] | read_link = "";
    }
}

settings! {
    /// Settings of section `pages.theme`.
    #[derive(Debug)]
    pub struct PageTheme {
        /// Colour of buttons and links, # and six hexadecimal digits. Where it would be unreadable the pages darken or
        /// lighten it; `config check` says so. The colour in the dark scheme is derived from it unless set.
        "pages.theme.accent" => accent: Option<Colour> [Kind::Text] | read_colour = "#2f5bd0";
        "pages.theme.accent_dark" => accent_dark: Option<Colour> [Kind::Text] | read_colour = "";
        /// Colour behind the pages, in the scheme that it suits. Not set: ours.
        "pages.theme.background" => background: Option<Colour> [Kind::Text] | read_colour = "";
        /// Pictures, SVG or PNG of at most 64 KiB: logo, logo in the dark scheme, icon of the tab. Not set: the name
        /// alone, and our icon.
        "pages.theme.logo_file" => logo_file: Option<PathBuf> = "";
        "pages.theme.logo_dark_file" => logo_dark_file: Option<PathBuf> = "";
        "pages.theme.favicon_file" => favicon_file: Option<PathBuf> = "";
        /// Radius of corners, 0px to 24px.
        "pages.theme.radius" => radius: Option<Radius> [Kind::Text] | read_radius = "8px";
        /// Font of all text, by kind; and a file in WOFF2 of at most 200 KiB in front of it.
        "pages.theme.font" => font: Font {
            "system" => Font::System,
            "serif" => Font::Serif,
            "mono" => Font::Mono,
        } = "system";
        "pages.theme.font_file" => font_file: Option<PathBuf> = "";
        /// Style sheet of at most 64 KiB, loaded after ours. Not set: none.
        "pages.theme.css_file" => css_file: Option<PathBuf> = "";
        /// Colour scheme: "auto" follows the browser.
        "pages.theme.colour_scheme" => colour_scheme: ColourScheme {
            "auto" => ColourScheme::Auto,
            "light" => ColourScheme::Light,
            "dark" => ColourScheme::Dark,
        } = "auto";
        /// "card" shows a card on the background, "full" the content on the background itself.
        "pages.theme.layout" => layout: Layout {
            "card" => Layout::Card,
            "full" => Layout::Full,
        } = "card";
        /// Shows server.service_name beside the logo. Screen readers read it in any case.
        "pages.theme.show_name" => shows_name: bool = true;
    }
}

impl PageTheme {
    /// Returns the theme without its files.
    #[must_use]
    pub fn without_files(&self) -> Theme {
        let default = Theme::default();
        Theme {
            accent: self.accent.unwrap_or(default.accent),
            accent_dark: self.accent_dark,
            background: self.background,
            radius: self.radius.unwrap_or(default.radius),
            font: self.font,
            colour_scheme: self.colour_scheme,
            layout: self.layout,
            shows_name: self.shows_name,
            ..default
        }
    }
}

/// Returns warnings about colours of the theme that the pages replace where they would be unreadable.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    if !settings.pages.enabled {
        return Vec::new();
    }
    let adjustments = settings.theme.without_files().adjustments();
    let warning = |one: &latchkey_pages::Adjustment| {
        let (key, colour, ratio, replacement) = (one.setting, one.colour, one.ratio, one.replacement);
        format!(
            "pages.theme.{key}: {colour} has a contrast of {ratio:.1} to 1, too little for {}: the pages use \
             {replacement} there",
            one.purpose
        )
    };
    adjustments.iter().map(warning).collect()
}

fn read_link(reader: &mut Reader<'_>, key: &'static str) -> Option<Address> {
    reader.parse(key, |text| {
        let is_link = ["https://", "http://", "mailto:"].iter().any(|start| text.starts_with(start));
        let wanted = "wanted an address such as https://example.com/terms or mailto:help@example.com";
        Address::parse(text).filter(|_| is_link).ok_or(wanted)
    })
}

fn read_colour(reader: &mut Reader<'_>, key: &'static str) -> Option<Colour> {
    reader.parse(key, |text| Colour::parse(text).map_err(|_| "wanted a colour such as #2f5bd0"))
}

fn read_radius(reader: &mut Reader<'_>, key: &'static str) -> Option<Radius> {
    reader.parse(key, |text| {
        let pixels = text.strip_suffix("px").and_then(|pixels| pixels.parse().ok());
        pixels.and_then(Radius::new).ok_or("wanted 0px to 24px, such as 8px")
    })
}
