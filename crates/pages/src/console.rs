//! The operator console: its views, frame and messages, rendered with templates that nobody replaces, in English.
//!
//! It shares the engine, the parts, the style sheet and the script of the pages, and decides nothing either: routes, roles
//! and sessions belong to other crates. An act that the operator may not do is a form that the view does not have.

mod frame;
mod message;
pub(crate) mod states;
pub mod views;

use std::sync::Arc;

use minijinja::{Environment, context};

pub use frame::{Crumb, CrumbText, Frame, Instance, Mode, Operator, Place};
pub use latchkey_domain::operator::Role;
pub use message::{Fault, Notice, Problem, Refusal};
pub use states::{State, all as all_states};

use crate::assets::Assets;
use crate::environment::environment_of;
use crate::frame::{Links, Site};
use crate::functions::{add_common, add_console, add_words};
use crate::languages::Languages;
use crate::message::loosen;
use crate::shared::Shared;
use crate::templates::{TemplateError, broken, console_sources};
use crate::theme::Theme;
use crate::view::{View, value};

/// The console of a service.
pub struct Console {
    shared: Arc<Shared>,
    environment: Environment<'static>,
    theme: Theme,
}

impl Console {
    /// Compiles the templates.
    pub fn new(instance: &Instance, theme: &Theme) -> Result<Self, TemplateError> {
        Self::build(instance, theme, "/assets")
    }

    pub(crate) fn build(instance: &Instance, theme: &Theme, root: &str) -> Result<Self, TemplateError> {
        let site = Site { name: instance.name.clone(), links: Links::default() };
        let (assets, languages) = (Assets::new(theme), Languages::console());
        let shared = Arc::new(Shared { site, assets, languages, root: root.to_owned() });
        let mut environment = environment_of(console_sources())?;
        environment.add_global("instance", value(instance));
        environment.add_global("favicon", shared.assets.favicon());
        let language = &shared.languages.all()[0];
        // English. Its file is parsed at the first page, not at the start of the service.
        environment.add_global("language", context! { tag => &language.tag, direction => "ltr" });
        add_common(&mut environment, &shared);
        add_words(&mut environment, &shared, 0);
        add_console(&mut environment, &shared);
        Ok(Self { shared, environment, theme: theme.clone() })
    }

    #[must_use]
    pub fn assets(&self) -> &Assets {
        &self.shared.assets
    }

    /// Returns the theme in force, which the console shows and previews.
    #[must_use]
    pub const fn theme(&self) -> &Theme {
        &self.theme
    }

    /// Renders a page as HTML. A problem of a field that the page does not have is shown as one of the whole form.
    pub fn render(&self, frame: &Frame, view: &dyn View) -> Result<String, TemplateError> {
        let html = self.render_frame(frame, view)?;
        let mut problems = frame.problems.clone();
        if !loosen(&html, problems.iter_mut().map(|problem| &mut problem.field)) {
            return Ok(html);
        }
        self.render_frame(&Frame { problems, ..frame.clone() }, view)
    }

    fn render_frame(&self, frame: &Frame, view: &dyn View) -> Result<String, TemplateError> {
        let (template, page, view) = (view.template(), value(frame), view.value());
        // The detail of an error may quote values of the page, so only its kind is reported.
        let reason = |error: &minijinja::Error| error.kind().to_string();
        self.render_values(template, page, view, reason)
    }

    pub(crate) fn render_values(
        &self,
        template: &str,
        page: minijinja::Value,
        view: minijinja::Value,
        reason: fn(&minijinja::Error) -> String,
    ) -> Result<String, TemplateError> {
        self.environment
            .get_template(template)
            .and_then(|found| found.render(context! { page, view }))
            .map_err(|error| broken(&error, template, reason))
    }
}

#[cfg(test)]
mod tests;
