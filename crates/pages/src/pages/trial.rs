//! The trial of the operator's templates: every page in every state, at the start.

use std::sync::Arc;

use minijinja::Value;
use minijinja::value::ValueKind;

use super::Pages;
use crate::templates::{EMBEDDED, TemplateError, broken, full_reason};
use crate::tokens::{self, post_forms};
use crate::view::value;
use crate::{source, states};

impl Pages {
    /// Finds out whether the templates can show every page. Errors have full reasons, since the values are samples.
    pub(super) fn try_all(&self) -> Result<(), TemplateError> {
        self.compile_all()?;
        let ours = Self::of(Arc::clone(&self.shared), None)?;
        for state in states::all(&states::Person::plain()) {
            let template = state.view.template();
            let html = self.tried(&state)?;
            let forms = post_forms(&html);
            let own = own_forms(&state.view.value());
            let is_right =
                |action: &str, token: &str| own.iter().any(|(at, own)| at == action && own == token);
            if forms.iter().any(|form| !form.is_good(is_right)) {
                let (file, line) = self.without_token(template);
                return Err(fault(file, line, "a form that acts lacks the field form_token with its token"));
            }
            if forms.is_empty() && !post_forms(&ours.tried(&state)?).is_empty() {
                let (file, _) = self.without_token(template);
                let reason = "the page lacks its form: the template in its place shows one";
                return Err(fault(file, None, reason));
            }
        }
        Ok(())
    }

    /// Compiles all templates, also those that no state needs.
    fn compile_all(&self) -> Result<(), TemplateError> {
        for (name, ours) in EMBEDDED {
            let found = self.base.get_template(name).map_err(|error| broken(&error, name, full_reason))?;
            let line = source::autoescape(found.source()).filter(|_| found.source() != *ours);
            if line.is_some() {
                return Err(fault(name, line, "autoescape: escaping cannot be switched"));
            }
        }
        Ok(())
    }

    /// Renders a state in the first language.
    fn tried(&self, state: &states::State) -> Result<String, TemplateError> {
        let (page, view) = (value(&state.frame), state.view.value());
        self.render_values(&self.shared.languages.all()[0], state.view.template(), page, view, full_reason)
    }

    /// Returns file and line of the form without token that a template shows: of the operator's files the one that has
    /// such a form, the template itself before those that it includes.
    fn without_token(&self, template: &'static str) -> (&'static str, Option<usize>) {
        let own = EMBEDDED.iter().filter_map(|(name, ours)| {
            let found = self.base.get_template(name).ok()?;
            (found.source() != *ours).then(|| (*name, tokens::line(found.source())))
        });
        let found = own.min_by_key(|(name, line)| (line.is_none(), *name != template));
        found.unwrap_or((template, None))
    }
}

fn fault(file: &str, line: Option<usize>, reason: &str) -> TemplateError {
    TemplateError::Broken { file: file.to_owned(), line, reason: reason.to_owned() }
}

/// Returns address and token of the forms among the values of a view.
fn own_forms(view: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(view, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<(String, String)>) {
    if !matches!(value.kind(), ValueKind::Map | ValueKind::Seq) {
        return;
    }
    let text = |name| value.get_attr(name).ok().and_then(|text| text.as_str().map(str::to_owned));
    found.extend(text("action").zip(text("token")));
    for item in value.try_iter().into_iter().flatten() {
        match value.kind() {
            ValueKind::Map => collect(&value.get_item(&item).unwrap_or_default(), found),
            _ => collect(&item, found),
        }
    }
}
