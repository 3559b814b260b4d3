//! Rendering of mails from embedded templates and the operator's overrides.
//!
//! The template variables are the fields of [`MailContext`](crate::MailContext). Besides, `expires_in` is the validity
//! of the code or link in words, and `subject` (in bodies) is the rendered subject.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior};

use crate::context::{MailContext, TemplateData, sample};
use crate::sanitize::single_line;
use crate::template::{File, Template, files};

/// Instruction limit of one rendering (minijinja's "fuel"): hundreds of times what a normal mail needs.
const FUEL: u64 = 50_000;
const LONGEST_FILE: u64 = 256 * 1024;

/// Error of loading or rendering templates. The text of a rendering error never quotes data of a mail.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A file in the operator's folder does not have the name of a template.
    #[error("{}: no mail template has this name; known are {}", path.display(), known.join(", "))]
    UnknownFile {
        path: PathBuf,
        /// The valid file names.
        known: Vec<&'static str>,
    },
    /// The folder or a file in it is unreadable, not UTF-8, or too long.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
    /// Invalid template: syntax error or unknown variable.
    #[error("mail template {file}{}: {reason}", line.map(|line| format!(" line {line}")).unwrap_or_default())]
    Broken {
        file: String,
        /// Line, counted from 1, if known.
        line: Option<usize>,
        reason: String,
    },
    /// A field that the template requires is missing.
    #[error("the mail {template} needs a valid {field}")]
    Missing {
        template: &'static str,
        /// Field of [`MailContext`](crate::MailContext).
        field: &'static str,
    },
}

/// Subject and bodies of a mail. It has no `Debug`, because the texts hold codes and links.
#[derive(Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Subject, a single line.
    pub subject: String,
    /// Plain text body, complete without the HTML.
    pub text: String,
    pub html: String,
}

/// Compiled templates. Each was rendered once with sample data when it was loaded, so that a broken template is found
/// at the start.
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    /// Compiles the embedded templates only. An error is a bug in one of these templates, which the tests find.
    pub fn embedded() -> Result<Self, TemplateError> {
        Self::compile(BTreeMap::new())
    }

    /// Loads the embedded templates, overridden by the files of `folder`. Hidden files are skipped; any other unknown
    /// name is an error, so that a typing error does not pass unnoticed.
    pub fn load(folder: &Path) -> Result<Self, TemplateError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| TemplateError::Unreadable { path, source }
        };
        let mut own = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            let file_name =
                path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if file_name.starts_with('.') {
                continue;
            }
            let Some((name, _)) = files().find(|(name, _)| *name == file_name) else {
                return Err(TemplateError::UnknownFile {
                    path,
                    known: files().map(|(name, _)| name).collect(),
                });
            };
            own.insert(name, read_template(&path).map_err(unreadable(&path))?);
        }
        Self::compile(own)
    }

    pub fn render(&self, template: Template, context: &MailContext) -> Result<Rendered, TemplateError> {
        // The detail of an error may quote data of the mail: only its kind is reported.
        self.render_with(template, context, |error| error.kind().to_string())
    }

    fn compile(mut own: BTreeMap<&'static str, String>) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(escaping);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(format);
        environment.set_fuel(Some(FUEL));
        environment.set_syntax(syntax().map_err(|error| broken(&error, "", full_reason))?);
        for (name, source) in files() {
            let source = own.remove(name).unwrap_or_else(|| source.to_owned());
            environment
                .add_template_owned(name, source)
                .map_err(|error| broken(&error, name, full_reason))?;
        }

        let templates = Self { environment };
        templates.trial_render()?;
        Ok(templates)
    }

    /// Renders every template with sample data, once with and once without the optional fields.
    fn trial_render(&self) -> Result<(), TemplateError> {
        for template in Template::ALL {
            for full in [false, true] {
                self.render_with(*template, &sample(full), full_reason)?;
            }
        }
        Ok(())
    }

    fn render_with(
        &self,
        template: Template,
        context: &MailContext,
        reason: fn(&minijinja::Error) -> String,
    ) -> Result<Rendered, TemplateError> {
        let mut view = TemplateData::new(template, context)
            .map_err(|missing| TemplateError::Missing { template: template.name, field: missing.0 })?;

        let subject = single_line(&self.render_file(template.subject, &view, reason)?);
        view.subject = Some(subject.clone());
        let text = self.render_file(template.text, &view, reason)?;
        let html = self.render_file(template.html, &view, reason)?;
        Ok(Rendered { subject, text: trim_lines(&text), html: trim_lines(&html) })
    }

    /// Renders one file. An empty result is an error.
    fn render_file(
        &self,
        (file, _): File,
        view: &TemplateData,
        reason: fn(&minijinja::Error) -> String,
    ) -> Result<String, TemplateError> {
        let values = minijinja::Value::from(Serde(view));
        let text = self
            .environment
            .get_template(file)
            .and_then(|template| template.render(values))
            .map_err(|error| broken(&error, file, reason))?;
        if text.trim().is_empty() {
            return Err(TemplateError::Broken {
                file: file.to_owned(),
                line: None,
                reason: "is empty".to_owned(),
            });
        }
        Ok(text)
    }
}

/// Selects HTML escaping for `.html` files; other files are plain text.
fn escaping(name: &str) -> AutoEscape {
    let is_html = Path::new(name).extension().is_some_and(|extension| extension == "html");
    if is_html { AutoEscape::Html } else { AutoEscape::None }
}

/// Formats a value with the file's escaping. A missing optional value is an error instead of the text `None`:
/// templates must test for it.
fn format(
    output: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &minijinja::Value,
) -> Result<(), minijinja::Error> {
    if value.is_none() {
        let detail = "a variable that may be none is printed without an if";
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, detail));
    }
    minijinja::escape_formatter(output, state, value)
}

/// Returns the template syntax: a line that holds only a tag adds no line to the output.
fn syntax() -> Result<SyntaxConfig, minijinja::Error> {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()
}

fn read_template(path: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("is not a file"));
    }
    if metadata.len() > LONGEST_FILE {
        return Err(std::io::Error::other("is longer than 256 KiB"));
    }
    std::fs::read_to_string(path)
}

/// Removes control characters and trailing white space, and ends the text with one line break.
fn trim_lines(text: &str) -> String {
    let mut trimmed = String::with_capacity(text.len());
    for line in text.trim().lines() {
        trimmed.extend(line.trim_end().chars().filter(|character| !character.is_control()));
        trimmed.push('\n');
    }
    trimmed
}

fn full_reason(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Converts an error of the template engine. Errors in an included file are wrapped: file and line are those of the
/// innermost error.
fn broken(error: &minijinja::Error, file: &str, reason: fn(&minijinja::Error) -> String) -> TemplateError {
    let mut innermost = error;
    while let Some(inner) = std::error::Error::source(innermost).and_then(|source| source.downcast_ref()) {
        innermost = inner;
    }
    TemplateError::Broken {
        file: innermost.name().unwrap_or(file).to_owned(),
        line: innermost.line(),
        reason: reason(innermost),
    }
}

#[cfg(test)]
mod tests;
