//! The template engine: embedded templates and the operator's, escaping, limits.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior, Value};

use crate::escape::write_text;
use crate::templates::{TemplateError, broken, full_reason};

/// Instruction limit of one rendering (minijinja's "fuel"): many times what the longest page needs.
const FUEL: u64 = 400_000;

/// Makes an environment of templates, given as name and source. Each is compiled when it is used for the first time, since
/// an instance that shows no page needs neither the time nor the memory.
pub(crate) fn environment_of(
    sources: BTreeMap<&'static str, String>,
) -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(format);
    environment.set_fuel(Some(FUEL));
    // Only functions of this crate may produce unescaped HTML.
    environment.remove_filter("safe");
    environment.set_syntax(syntax().map_err(|error| broken(&error, "", full_reason))?);
    environment.set_loader(move |name| Ok(sources.get(name).cloned()));
    Ok(environment)
}

/// Prints a value, escaped in every template. A missing optional value is an error instead of the text `none`.
fn format(output: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    if value.is_none() || value.is_undefined() {
        let detail = "a variable that may be missing is printed without an if";
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, detail));
    }
    let written = match value.as_str() {
        Some(html) if value.is_safe() => output.write_str(html),
        Some(text) => write_text(output, text),
        None => write_text(output, &value.to_string()),
    };
    written.map_err(|_| minijinja::Error::new(ErrorKind::WriteFailure, "the page cannot be written"))
}

/// Returns the template syntax: a line that holds only a tag adds no line to the output.
fn syntax() -> Result<SyntaxConfig, minijinja::Error> {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()
}
