//! Rendering of mails from embedded texts and the operator's overrides.
//!
//! The template variables are the fields of [`MailContext`](crate::MailContext). Besides, `expires_in` is the validity
//! of the code or link in words, `subject` (in bodies) is the rendered subject, `locale` is the language, and there are
//! the phrases `greeting`, `button_help`, `sent_by` and `no_replies`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use latchkey_domain::locale::Locale;
use latchkey_domain::mail_kind::MailKind;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, ErrorKind, HtmlEscape, Output, State, UndefinedBehavior, Value};

use crate::context::{MailContext, PHRASES, TemplateData, sample};
use crate::markdown::SIGNATURE;
use crate::sanitize::single_line;
use crate::sources::{Sources, template_name};
use crate::template::{LANGUAGES, Template, WORDS};
use crate::wrap::wrap;

/// Instruction limit of one rendering (minijinja's "fuel"): hundreds of times what a normal mail needs.
const FUEL: u64 = 50_000;

/// Function that describes an error of the template engine. While templates are loaded, it includes the
/// details of the engine; when a mail is rendered, it must not, because they may quote a code or link.
type Reason = fn(&minijinja::Error) -> String;

/// Error of loading or rendering templates. The text of a rendering error never quotes the code, link or
/// names in a mail.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A file in the operator's folder does not have the name of a template.
    #[error("{}: no mail template has this name; known are layout.html, folders named like a language (not en), and \
        the endings .md, .subject.txt, .txt and .html after {}", path.display(), known.join(", "))]
    UnknownFile {
        path: PathBuf,
        /// The valid file names without ending: those of mails, and of texts that several mails include.
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

/// The templates of all mails in all languages. Those of an operator were rendered once with sample data when they were
/// loaded, so that a broken template is found at the start.
pub struct Templates {
    environment: Environment<'static>,
    sources: Arc<Sources>,
}

impl Templates {
    /// Creates the templates from the embedded texts only. They are compiled on first use; the tests render
    /// all of them.
    pub fn embedded() -> Result<Self, TemplateError> {
        Self::new(Sources::embedded())
    }

    /// Creates the templates from the embedded texts and the files of `folder`, which replace embedded ones
    /// of the same name, and renders all once with sample data.
    pub fn load(folder: &Path) -> Result<Self, TemplateError> {
        let templates = Self::new(Sources::load(folder)?)?;
        templates.trial_render()?;
        Ok(templates)
    }

    /// Returns all languages: the embedded ones, and those that the operator added.
    #[must_use]
    pub fn locales(&self) -> &[Locale] {
        &self.sources.locales
    }

    /// Renders a mail in the first of the `wanted` languages that there is, else in English.
    pub fn render(
        &self,
        template: Template,
        wanted: &[&Locale],
        context: &MailContext,
    ) -> Result<Rendered, TemplateError> {
        let best = wanted.iter().find_map(|locale| locale.best_of(self.locales()));
        let language = best.map_or(LANGUAGES[0], Locale::as_str);
        // The detail of an error may quote data of the mail, so only its kind is reported.
        self.render_with(template, language, context, |error| error.kind().to_string())
    }

    fn new(sources: Sources) -> Result<Self, TemplateError> {
        let sources = Arc::new(sources);
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(escaping);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(format);
        environment.set_fuel(Some(FUEL));
        environment.set_syntax(syntax().map_err(|error| broken(&error, "", full_reason))?);
        environment.add_filter("wrap", |text: String| wrap(&text));
        environment.add_filter("breakable", |address: String| breakable(&address));
        environment.set_path_join_callback(|name, parent| match parent.split_once('/') {
            Some((folder, _)) => format!("{folder}/{name}").into(),
            None => name.into(),
        });
        let loaded = Arc::clone(&sources);
        environment.set_loader(move |name| Ok(loaded.find(name)));
        Ok(Self { environment, sources })
    }

    /// Renders every mail in every language with sample data, once with and once without the optional fields.
    fn trial_render(&self) -> Result<(), TemplateError> {
        for language in self.locales().iter().map(Locale::as_str) {
            for template in Template::ALL {
                for full in [false, true] {
                    self.render_with(*template, language, &sample(full), full_reason)?;
                }
            }
            let view = view(Template::of(MailKind::PasswordChanged, false), language, &sample(true))?;
            for phrase in PHRASES {
                self.render_phrase(language, phrase, &view, full_reason)?;
            }
        }
        Ok(())
    }

    fn render_with(
        &self,
        template: Template,
        language: &str,
        context: &MailContext,
        reason: Reason,
    ) -> Result<Rendered, TemplateError> {
        let mut view = view(template, language, context)?;
        let file = |view: &TemplateData, ending: &str| {
            self.render_file(&template_name(language, &format!("{}{ending}", template.name)), view, reason)
        };
        view.add_phrases(|view, phrase| self.render_phrase(language, phrase, view, reason))?;

        let subject = single_line(&file(&view, ".subject.txt")?);
        view.subject = Some(subject.clone());
        let text = file(&view, ".txt")?;
        let html = file(&view, ".html")?;
        Ok(Rendered { subject, text: trim_lines(&text), html: trim_lines(&html) })
    }

    /// Renders one phrase of `words.md`, as a single line.
    fn render_phrase(
        &self,
        language: &str,
        phrase: &str,
        view: &TemplateData,
        reason: Reason,
    ) -> Result<String, TemplateError> {
        let template = template_name(language, &format!("{WORDS}/{phrase}"));
        Ok(self.render_file(&template, view, reason)?.trim().to_owned())
    }

    /// Renders one file. An empty result is an error.
    fn render_file(&self, file: &str, view: &TemplateData, reason: Reason) -> Result<String, TemplateError> {
        let values = Value::from(Serde(view));
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

fn view(template: Template, language: &str, context: &MailContext) -> Result<TemplateData, TemplateError> {
    TemplateData::new(template, language, context)
        .map_err(|missing| TemplateError::Missing { template: template.name, field: missing.0 })
}

/// Selects HTML escaping for `.html` files; other files are plain text.
fn escaping(name: &str) -> AutoEscape {
    let is_html = Path::new(name).extension().is_some_and(|extension| extension == "html");
    if is_html { AutoEscape::Html } else { AutoEscape::None }
}

/// Formats a value with the file's escaping. A missing optional value is an error instead of the text `None`:
/// templates must test for it.
fn format(output: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    if value.is_none() {
        let detail = "a variable that may be none is printed without an if";
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, detail));
    }
    minijinja::escape_formatter(output, state, value)
}

/// Lets lines of the HTML end after each colon of an IPv6 address, which is too long for the screen of a phone.
fn breakable(address: &str) -> Value {
    Value::from_safe_string(HtmlEscape(address).to_string().replace(':', ":<wbr>"))
}

/// Returns the template syntax: a line that holds only a tag adds no line to the output.
fn syntax() -> Result<SyntaxConfig, minijinja::Error> {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()
}

/// Removes control characters and trailing white space, except that of the line above the signature, and ends the text
/// with one line break.
fn trim_lines(text: &str) -> String {
    let mut trimmed = String::with_capacity(text.len());
    for line in text.trim().lines() {
        let line = if line == SIGNATURE { line } else { line.trim_end() };
        trimmed.extend(line.chars().filter(|character| !character.is_control()));
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
fn broken(error: &minijinja::Error, file: &str, reason: Reason) -> TemplateError {
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
mod language_tests;
#[cfg(test)]
mod tests;
