//! Rendering: the embedded templates, a folder of the operator's own over them, and the three texts of a mail.
//!
//! The variables of a template are listed in [`MailContext`](crate::MailContext); `expires_in` says the minutes in words, and `subject` (in the
//! bodies) is the rendered subject.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior};

use crate::context::{MailContext, View, sample};
use crate::plain_words::single_line;
use crate::template::Template;

mod embedded;

/// How many instructions a template may take: hundreds of times what an honest one needs.
const FUEL: u64 = 50_000;
/// Longest template file, in bytes.
const LONGEST_FILE: u64 = 256 * 1024;

/// Why the templates cannot be used. Once they are loaded, no error text quotes the data of a mail.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A file whose name belongs to no template.
    #[error("{}: no mail template has this name; known are {}", path.display(), known.join(", "))]
    UnknownFile {
        /// The file.
        path: PathBuf,
        /// The names that would do.
        known: Vec<&'static str>,
    },
    /// The folder or a file in it cannot be read, is no text in UTF-8, or is too long.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A template is wrong: its syntax, or a variable that does not exist.
    #[error("mail template {file}{}: {reason}", line.map(|line| format!(" line {line}")).unwrap_or_default())]
    Broken {
        /// The name of the file.
        file: String,
        /// The line in it, from 1, where known.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// A mail was asked for without something that it must carry.
    #[error("the mail {template} needs a valid {field}")]
    Missing {
        /// The name of the template.
        template: &'static str,
        /// The field of [`MailContext`](crate::MailContext).
        field: &'static str,
    },
}

/// The three texts of a mail. They hold codes and links, therefore there is no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Rendered {
    /// One line.
    pub subject: String,
    /// The plain text body; stands alone.
    pub text: String,
    /// The HTML body.
    pub html: String,
}

/// Compiled templates. Loading proves them: each one was rendered with sample data.
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    /// The templates inside the binary. Fails never in a binary whose tests passed.
    pub fn embedded() -> Result<Self, TemplateError> {
        Self::compile(BTreeMap::new())
    }

    /// The files of `folder` over the embedded ones. Files beginning with a dot are passed over; any other name that is
    /// no template's is an error, so that a slip of the pen is not silently without effect.
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
            let Some((name, _)) = embedded::FILES.iter().find(|(name, _)| *name == file_name) else {
                return Err(TemplateError::UnknownFile { path, known: embedded::names() });
            };
            own.insert(*name, read_template(&path).map_err(unreadable(&path))?);
        }
        Self::compile(own)
    }

    /// Renders one mail.
    pub fn render(&self, template: Template, context: &MailContext) -> Result<Rendered, TemplateError> {
        // A failure here may quote what it choked on: name the kind of error alone.
        self.render_with(template, context, |error| error.kind().to_string())
    }

    fn compile(mut own: BTreeMap<&'static str, String>) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(escaping);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(format);
        environment.set_fuel(Some(FUEL));
        environment.set_syntax(syntax().map_err(|error| broken(&error, "", full_reason))?);
        for (name, source) in embedded::FILES {
            let source = own.remove(name).unwrap_or_else(|| (*source).to_owned());
            environment
                .add_template_owned(*name, source)
                .map_err(|error| broken(&error, name, full_reason))?;
        }

        let templates = Self { environment };
        templates.prove()?;
        Ok(templates)
    }

    /// Renders everything once, with and without the optional parts.
    fn prove(&self) -> Result<(), TemplateError> {
        for template in Template::ALL {
            for full in [false, true] {
                self.render_with(template, &sample(full), full_reason)?;
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
        let name = template.name();
        let mut view = View::new(template, context)
            .map_err(|missing| TemplateError::Missing { template: name, field: missing.0 })?;

        let subject = single_line(&self.fill(&format!("{name}.subject.txt"), &view, reason)?);
        view.subject = Some(subject.clone());
        let text = self.fill(&format!("{name}.txt"), &view, reason)?;
        let html = self.fill(&format!("{name}.html"), &view, reason)?;
        Ok(Rendered { subject, text: tidy(&text), html: tidy(&html) })
    }

    /// Fills one file. An empty result is an error: nobody wants to send nothing.
    fn fill(
        &self,
        file: &str,
        view: &View,
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

/// HTML is escaped by the name of the file, everything else is plain text.
fn escaping(name: &str) -> AutoEscape {
    let is_html = Path::new(name).extension().is_some_and(|extension| extension == "html");
    if is_html { AutoEscape::Html } else { AutoEscape::None }
}

/// Prints a value, escaped where the file asks for it. What a mail may lack is not printed as the word `None`: a template
/// has to ask for it first.
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

/// Lines that hold nothing but a tag leave no line behind.
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

/// Without control characters but the line end, no white space at line ends, one line end at the end.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.trim().lines() {
        tidied.extend(line.trim_end().chars().filter(|character| !character.is_control()));
        tidied.push('\n');
    }
    tidied
}

fn full_reason(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// An error in an included file comes wrapped in one of the including file: the innermost names the right line.
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
