//! Hosted pages for sign-in and the own account. Templates render *views*, the values of one page, as HTML, with style
//! sheet, script, theme and languages.
//!
//! This crate decides nothing: use cases, routes, cookies and sessions belong to other crates, which fill the views.
//! Three terms recur here. A *page session* is the browser's session at the pages, as opposed to sessions of apps. A
//! *flow* is a sign-in that an app started by sending the browser to the pages; it ends with the return to the app. The
//! URL of that return has a *ticket*, in which the target and its code are encrypted for this browser.

mod assets;
mod chart;
pub mod console;
mod environment;
mod escape;
mod files;
mod frame;
mod functions;
mod headers;
mod html;
mod languages;
mod marks;
mod message;
mod pages;
mod preview;
mod qr;
mod shared;
mod source;
mod states;
mod templates;
mod theme;
mod tokens;
mod view;
pub mod views;

pub use assets::{Asset, Assets, CONSOLE_CSS, CONSOLE_JS, PAGES_CSS, PAGES_JS};
pub use frame::{Address, Ending, Form, Frame, Links, Site};
pub use headers::{HEADERS, POLICY};
pub use languages::{
    Catalogue, Fault as LanguageFault, Language, LanguageError, Languages, PSEUDO, accepted,
};
pub use message::{Fault, Notice, Problem, Wait, When};
pub use pages::Pages;
pub use preview::{Preview, PreviewError, write_preview};
pub use states::{Person, State, all as all_states};
pub use templates::TemplateError;
pub use theme::{
    Adjustment, Colour, ColourScheme, Css, Font, InvalidColour, InvalidFile, Layout, Picture, Radius, Sample,
    Theme, Woff2,
};
pub use view::View;
