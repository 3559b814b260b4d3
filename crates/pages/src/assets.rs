//! Files that pages load: style sheets, scripts, and the pictures and font of the theme.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::theme::{Layout, Picture, PictureKind, Theme, style_sheet};

/// The style sheet of the pages, without the theme.
pub const PAGES_CSS: &str = include_str!("../assets/pages.css");
/// The script of the pages, a module.
pub const PAGES_JS: &str = include_str!("../assets/pages.js");
/// The rules that the style sheet of the console adds to that of the pages.
pub const CONSOLE_CSS: &str = include_str!("../assets/console.css");
/// What the script of the console adds to that of the pages. Both are one module.
pub const CONSOLE_JS: &str = include_str!("../assets/console.js");
const FAVICON: &[u8] = include_bytes!("../assets/favicon.svg");

/// Content Security Policy of an SVG picture, for a browser that opens it as a page of its own.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// A file, served under `/assets/{digest}/{name}`.
#[derive(Debug)]
pub struct Asset {
    pub name: &'static str,
    pub content_type: &'static str,
    pub bytes: Cow<'static, [u8]>,
    /// Value of the header `Content-Security-Policy`; `None` sends no such header.
    pub policy: Option<&'static str>,
}

/// All files that the pages of a service load.
#[derive(Debug)]
pub struct Assets {
    digest: String,
    files: Vec<Asset>,
}

impl Assets {
    #[must_use]
    pub fn new(theme: &Theme) -> Self {
        let sheet = style_sheet(theme, PAGES_CSS);
        // A page loads one sheet and one script. The operator's rules are written for the pages alone.
        let plain = Theme { css: None, layout: Layout::Card, ..theme.clone() };
        let console = style_sheet(&plain, &format!("{PAGES_CSS}{CONSOLE_CSS}"));
        let mut files = vec![
            Asset::new("theme.css", "text/css; charset=utf-8", sheet.into_bytes()),
            Asset::new("pages.js", "text/javascript; charset=utf-8", PAGES_JS.as_bytes()),
            Asset::new("console.css", "text/css; charset=utf-8", console.into_bytes()),
            Asset::new(
                "console.js",
                "text/javascript; charset=utf-8",
                format!("{PAGES_JS}{CONSOLE_JS}").into_bytes(),
            ),
        ];
        files.extend(theme.logo.as_ref().map(|logo| Asset::picture(["logo.svg", "logo.png"], logo)));
        files.extend(
            theme.logo_dark.as_ref().map(|logo| Asset::picture(["logo-dark.svg", "logo-dark.png"], logo)),
        );
        files.push(theme.favicon.as_ref().map_or_else(
            || Asset::new("favicon.svg", "image/svg+xml", FAVICON),
            |icon| Asset::picture(["favicon.svg", "favicon.png"], icon),
        ));
        files.extend(
            theme.font_file.as_ref().map(|font| Asset::new("font.woff2", "font/woff2", font.0.clone())),
        );
        Self { digest: digest(&files), files }
    }

    /// Returns the digest of all files, which is a part of their URLs: the first 16 hexadecimal digits of a SHA-256.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the file at `/assets/{digest}/{name}`; `None` for another digest or an unknown name.
    #[must_use]
    pub fn find(&self, digest: &str, name: &str) -> Option<&Asset> {
        self.files.iter().find(|file| digest == self.digest && file.name == name)
    }

    /// Returns all files.
    #[must_use]
    pub fn all(&self) -> &[Asset] {
        &self.files
    }

    pub(crate) fn favicon(&self) -> &'static str {
        self.files.iter().map(|file| file.name).find(|name| name.starts_with("favicon")).unwrap_or_default()
    }
}

impl Asset {
    fn new(name: &'static str, content_type: &'static str, bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        let policy = content_type.starts_with("image/svg").then_some(PICTURE_POLICY);
        Self { name, content_type, bytes: bytes.into(), policy }
    }

    fn picture([svg, png]: [&'static str; 2], picture: &Picture) -> Self {
        match picture.kind {
            PictureKind::Svg => Self::new(svg, "image/svg+xml", picture.bytes.clone()),
            PictureKind::Png => Self::new(png, "image/png", picture.bytes.clone()),
        }
    }
}

fn digest(files: &[Asset]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(file.name.as_bytes());
        hash.update(file.bytes.len().to_be_bytes());
        hash.update(&file.bytes);
    }
    hex::encode(&hash.finalize()[..8])
}
