//! Hosted pages: theme with its files, languages and templates.

use std::fmt::Display;
use std::path::PathBuf;

use latchkey_domain::redirect::RedirectEntry;
use latchkey_hosted::Entry;
use latchkey_pages::console::{Console, Instance, Mode};
use latchkey_pages::{Css, InvalidFile, LanguageError, Languages, Links, Pages, Picture, Site, Theme, Woff2};

use super::WiringError;
use crate::settings::{Scope, Settings};

/// Inputs from which the hosted pages and their preview are rendered, read from the settings and the files they name.
pub(crate) struct Parts {
    pub(crate) site: Site,
    pub(crate) theme: Theme,
    pub(crate) languages: Languages,
}

/// Builds the pages; `None` if they are off.
pub(crate) fn pages(settings: &Settings) -> Result<Option<Pages>, WiringError> {
    if !has_pages(settings) {
        return Ok(None);
    }
    let Parts { site, theme, languages } = parts(settings)?;
    let pages = match &settings.pages.templates_dir {
        Some(folder) => Pages::with_templates(site, &theme, languages, folder),
        None => Pages::new(site, &theme, languages),
    };
    pages.map(Some).map_err(|error| refused("pages.templates_dir", error))
}

/// Checks what an operator gave for the pages: files of the theme, languages and templates. Nothing is kept.
pub(crate) fn check_pages(settings: &Settings) -> Result<(), WiringError> {
    match &settings.pages.templates_dir {
        _ if !has_pages(settings) => Ok(()),
        Some(_) => pages(settings).map(drop),
        None => parts(settings).map(drop),
    }
}

fn has_pages(settings: &Settings) -> bool {
    settings.scope == Scope::Service && settings.pages.enabled
}

/// Builds the templates of the console; `None` if it is off.
pub(crate) fn console(settings: &Settings) -> Result<Option<Console>, WiringError> {
    if settings.scope != Scope::Service || !settings.console.enabled {
        return Ok(None);
    }
    let instance = Instance {
        name: settings.server.service_name.clone(),
        mode: if settings.server.is_development() { Mode::Development } else { Mode::Production },
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let console = Console::new(&instance, &theme(settings)?);
    console.map(Some).map_err(|error| refused("console.enabled", error))
}

/// Returns where the console is, and who reaches it.
pub(crate) fn console_entry(settings: &Settings) -> Entry {
    let console = &settings.console;
    Entry {
        public_url: console.public_url.clone(),
        allowed_networks: console.allowed_networks.clone(),
        has_own_listener: console.bind.is_some(),
    }
}

/// Returns the pages that are redirect targets without standing in the list: those that are on.
pub(super) fn own_targets(settings: &Settings) -> Vec<RedirectEntry> {
    let origin = settings.server.public_url.as_str().trim_end_matches('/');
    let mut targets = if settings.pages.enabled { latchkey_hosted::own_targets(origin) } else { Vec::new() };
    let console = &settings.console;
    if console.enabled && !console.providers.is_empty() {
        targets.extend(latchkey_hosted::console_target(&console.origin()));
    }
    targets
}

pub(crate) fn parts(settings: &Settings) -> Result<Parts, WiringError> {
    let links = &settings.page_links;
    let site = Site {
        name: settings.server.service_name.clone(),
        links: Links {
            terms: links.terms.clone(),
            privacy: links.privacy.clone(),
            support: links.support.clone(),
        },
    };
    Ok(Parts { site, theme: theme(settings)?, languages: languages(settings)? })
}

fn theme(settings: &Settings) -> Result<Theme, WiringError> {
    let theme = &settings.theme;
    Ok(Theme {
        logo: file("pages.theme.logo_file", theme.logo_file.as_ref(), Picture::parse)?,
        logo_dark: file("pages.theme.logo_dark_file", theme.logo_dark_file.as_ref(), Picture::parse)?,
        favicon: file("pages.theme.favicon_file", theme.favicon_file.as_ref(), Picture::parse)?,
        font_file: file("pages.theme.font_file", theme.font_file.as_ref(), Woff2::parse)?,
        css: file("pages.theme.css_file", theme.css_file.as_ref(), Css::parse)?,
        ..theme.without_files()
    })
}

fn file<T>(
    key: &'static str,
    path: Option<&PathBuf>,
    parse: fn(Vec<u8>) -> Result<T, InvalidFile>,
) -> Result<Option<T>, WiringError> {
    let Some(path) = path else { return Ok(None) };
    let bytes = std::fs::read(path).map_err(|error| refused(key, format!("{}: {error}", path.display())))?;
    parse(bytes).map(Some).map_err(|error| refused(key, format!("{}: {error}", path.display())))
}

fn languages(settings: &Settings) -> Result<Languages, WiringError> {
    let languages = match &settings.pages.locales_dir {
        Some(folder) => Languages::built_in()
            .with_folder(folder)
            .map_err(|error: LanguageError| refused("pages.locales_dir", error))?,
        None => Languages::built_in(),
    };
    Ok(if settings.server.is_development() { languages.with_pseudo() } else { languages })
}

fn refused(key: &'static str, reason: impl Display) -> WiringError {
    WiringError::Pages { key, reason: format!("{reason}") }
}
