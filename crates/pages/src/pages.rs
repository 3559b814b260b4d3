//! All pages of a service: templates, one environment per language.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use minijinja::{Environment, Value, context};

use crate::assets::Assets;
use crate::environment::environment_of;
use crate::frame::{Frame, Site};
use crate::functions::{add_common, add_words};
use crate::languages::{Language, Languages};
use crate::message::loosen;
use crate::shared::Shared;
use crate::templates::{TemplateError, broken, sources};
use crate::theme::Theme;
use crate::view::{View, value};

mod trial;

/// The pages of a service.
pub struct Pages {
    shared: Arc<Shared>,
    base: Environment<'static>,
    /// One template environment per language, with the functions of that language; in the order of the languages.
    bound: Vec<OnceLock<Environment<'static>>>,
}

impl Pages {
    /// Takes the embedded templates.
    pub fn new(site: Site, theme: &Theme, languages: Languages) -> Result<Self, TemplateError> {
        Self::build(site, theme, languages, None, "/assets")
    }

    /// Takes the embedded templates, some replaced by the files of `folder` (`pages.templates_dir`). Renders every
    /// page in every state once, so that a broken template is found at the start.
    pub fn with_templates(
        site: Site,
        theme: &Theme,
        languages: Languages,
        folder: &Path,
    ) -> Result<Self, TemplateError> {
        let pages = Self::build(site, theme, languages, Some(folder), "/assets")?;
        pages.try_all()?;
        Ok(pages)
    }

    pub(crate) fn build(
        site: Site,
        theme: &Theme,
        languages: Languages,
        folder: Option<&Path>,
        root: &str,
    ) -> Result<Self, TemplateError> {
        let assets = Assets::new(theme);
        Self::of(Arc::new(Shared { site, assets, languages, root: root.to_owned() }), folder)
    }

    fn of(shared: Arc<Shared>, folder: Option<&Path>) -> Result<Self, TemplateError> {
        let mut base = environment_of(sources(folder)?)?;
        base.add_global("site", value(&shared.site));
        base.add_global("favicon", shared.assets.favicon());
        let languages = shared.languages.all().iter();
        let named = languages.map(|language| context! { tag => &language.tag, name => &language.name });
        base.add_global("languages", named.collect::<Value>());
        add_common(&mut base, &shared);
        let bound = shared.languages.all().iter().map(|_| OnceLock::new()).collect();
        Ok(Self { shared, base, bound })
    }

    #[must_use]
    pub fn languages(&self) -> &Languages {
        &self.shared.languages
    }

    #[must_use]
    pub fn assets(&self) -> &Assets {
        &self.shared.assets
    }

    /// Renders a page as HTML. A problem of a field that the page does not have is shown as one of the whole form.
    pub fn render(
        &self,
        language: &Language,
        frame: &Frame,
        view: &dyn View,
    ) -> Result<String, TemplateError> {
        let html = self.render_frame(language, frame, view)?;
        let mut problems = frame.problems.clone();
        if !loosen(&html, problems.iter_mut().map(|problem| &mut problem.field)) {
            return Ok(html);
        }
        self.render_frame(language, &Frame { problems, ..frame.clone() }, view)
    }

    fn render_frame(
        &self,
        language: &Language,
        frame: &Frame,
        view: &dyn View,
    ) -> Result<String, TemplateError> {
        // The detail of an error may quote values of the page, so only its kind is reported.
        self.render_values(language, view.template(), value(frame), view.value(), |error| {
            error.kind().to_string()
        })
    }

    pub(crate) fn render_values(
        &self,
        language: &Language,
        template: &str,
        page: Value,
        view: Value,
        reason: fn(&minijinja::Error) -> String,
    ) -> Result<String, TemplateError> {
        let environment = self.bound_to(language);
        environment
            .get_template(template)
            .and_then(|found| found.render(context! { page, view }))
            .map_err(|error| broken(&error, template, reason))
    }

    fn bound_to(&self, language: &Language) -> &Environment<'static> {
        let all = self.shared.languages.all();
        let index = all.iter().position(|one| one.tag == language.tag).unwrap_or_default();
        self.bound[index].get_or_init(|| {
            let mut environment = self.base.clone();
            add_words(&mut environment, &self.shared, index);
            let direction = all[index].catalogue().direction();
            let own = context! { tag => &all[index].tag, name => &all[index].name, direction };
            environment.add_global("language", own);
            environment
        })
    }
}

#[cfg(test)]
mod tests;
