//! `/console/settings/theme`: colours and corners to try, what pages look like with them, and the lines for the
//! configuration file. Nothing is changed here.

use axum::routing::get;
use latchkey_pages::console::views::{Adjusted, ThemePage};
use latchkey_pages::console::{Problem, Refusal};
use latchkey_pages::{Colour, Radius, Theme};

use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::{Outcome, Stop};
use crate::console::visit::ConsoleVisit;

pub(super) const PATH: &str = "/console/settings/theme";

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let mut theme = visit.console.templates.theme().clone();
    let mut typed = Typed::of(&theme);
    typed.read(&visit)?;
    let problems = typed.apply(&mut theme);
    let view = typed.shown(&theme);
    match problems {
        None => visit.page(&view),
        Some(problem) => visit.refuse(Rejection::of(problem), &view),
    }
}

/// The fields, as typed.
struct Typed {
    accent: String,
    accent_dark: String,
    background: String,
    radius: String,
}

impl Typed {
    /// Returns the values in force.
    fn of(theme: &Theme) -> Self {
        let text = |colour: Option<Colour>| colour.map(|colour| colour.to_string()).unwrap_or_default();
        Self {
            accent: theme.accent.to_string(),
            accent_dark: text(theme.accent_dark),
            background: text(theme.background),
            radius: format!("{}px", theme.radius.pixels()),
        }
    }

    fn read(&mut self, visit: &ConsoleVisit) -> Result<(), Stop> {
        let fields = [
            ("accent", &mut self.accent),
            ("accent_dark", &mut self.accent_dark),
            ("background", &mut self.background),
            ("radius", &mut self.radius),
        ];
        for (name, field) in fields {
            if let Some(text) = visit.query.optional(name)? {
                text.trim().clone_into(field);
            }
        }
        Ok(())
    }

    /// Puts the typed values into the theme; returns the problem of one that does not fit.
    fn apply(&self, theme: &mut Theme) -> Option<Problem> {
        let optional = |text: &str| if text.is_empty() { Ok(None) } else { Colour::parse(text).map(Some) };
        let parsed = (Colour::parse(&self.accent), optional(&self.accent_dark), optional(&self.background));
        let (Ok(accent), Ok(accent_dark), Ok(background)) = parsed else {
            return Some(problem("a colour is written like #2f5bd0"));
        };
        let pixels = self.radius.strip_suffix("px").unwrap_or(&self.radius).parse().ok();
        let Some(radius) = pixels.and_then(Radius::new) else {
            return Some(problem("the radius is between 0px and 24px"));
        };
        (theme.accent, theme.accent_dark, theme.background) = (accent, accent_dark, background);
        theme.radius = radius;
        None
    }

    fn shown(self, theme: &Theme) -> ThemePage {
        ThemePage {
            samples: theme.samples(),
            adjustments: theme.adjustments().iter().map(Adjusted::from).collect(),
            toml: toml(theme),
            accent: self.accent,
            accent_dark: self.accent_dark,
            background: self.background,
            radius: self.radius,
        }
    }
}

fn problem(rule: &str) -> Problem {
    Problem::whole(Refusal::InvalidSetting { rule: rule.to_owned() })
}

/// Formats the values as lines of the configuration file.
fn toml(theme: &Theme) -> String {
    let colours = [
        ("accent", Some(theme.accent)),
        ("accent_dark", theme.accent_dark),
        ("background", theme.background),
    ];
    let mut lines = vec!["[pages.theme]".to_owned()];
    lines.extend(colours.into_iter().filter_map(|(name, colour)| Some(format!("{name} = \"{}\"", colour?))));
    lines.push(format!("radius = \"{}px\"", theme.radius.pixels()));
    lines.join("\n")
}
