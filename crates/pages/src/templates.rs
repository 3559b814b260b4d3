//! Templates: the embedded ones, and the operator's in their place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::files::read_text;

const LONGEST_FILE: u64 = 256 * 1024;

macro_rules! embedded {
    ($($(#[$doc:meta])* $list:ident { $($name:literal)+ })+) => {
        $($(#[$doc])* pub(crate) const $list: &[(&str, &str)] = &[$(($name, include_str!(concat!("../templates/", $name)))),+];)+
    };
}

embedded! {
    /// Names and sources of the embedded templates of the pages.
    EMBEDDED {
    "layout.html" "ui.html" "totp.html" "codes.html"
    "sign_in.html" "sign_up.html" "continue.html" "provider_return.html" "sign_out.html"
    "verify.html" "verified.html" "forgot.html" "reset.html" "mail_code.html" "invitation.html"
    "challenge.html" "enroll.html" "recovery_codes.html" "codes_left.html"
    "account.html" "account_profile.html" "account_email.html" "account_password.html" "account_passkeys.html"
    "account_two_step.html" "account_sessions.html" "account_providers.html" "account_activity.html" "account_data.html"
    "account_deleted.html"
    "error.html" "start.html"
    }
    /// Those of the console, which the operator cannot replace.
    CONSOLE {
    "console/layout.html" "console/parts.html"
    "console/sign_in.html" "console/confirm.html" "console/activate.html"
    "console/users.html" "console/chosen.html" "console/bulk_result.html" "console/user_new.html"
    "console/user.html" "console/audit.html" "console/mails.html"
    "console/overview.html" "console/system.html" "console/sessions.html" "console/irreversible.html"
    "console/operators.html" "console/signing.html" "console/error.html" "console/again.html"
    "console/settings.html" "console/setting.html" "console/setting_change.html" "console/theme.html" "console/providers.html"
    "console/imports.html" "console/import_new.html" "console/import.html" "console/export.html"
    }
}

/// Error of loading or rendering templates. The text of a rendering error never quotes values of a page.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A file in the operator's folder does not have the name of a template.
    #[error("{}: no page template has this name; known are {}", path.display(), known.join(", "))]
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
    /// Invalid template: syntax error, unknown variable or text, or a form without its token.
    #[error("page template {file}{}: {reason}", line.map(|line| format!(" line {line}")).unwrap_or_default())]
    Broken {
        file: String,
        /// Line, counted from 1, if known.
        line: Option<usize>,
        reason: String,
    },
}

/// Returns the sources of all templates: the embedded ones, replaced by the files of `folder`. Hidden files are skipped.
pub(crate) fn sources(folder: Option<&Path>) -> Result<BTreeMap<&'static str, String>, TemplateError> {
    let mut sources: BTreeMap<_, _> =
        EMBEDDED.iter().map(|(name, source)| (*name, (*source).to_owned())).collect();
    let Some(folder) = folder else { return Ok(sources) };
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| TemplateError::Unreadable { path, source }
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        let Some(own) = sources.get_mut(name.as_str()) else {
            return Err(TemplateError::UnknownFile { path, known: sources.into_keys().collect() });
        };
        *own = read_text(&path, LONGEST_FILE).map_err(unreadable(&path))?;
    }
    Ok(sources)
}

/// Returns the sources of the console's templates, with the parts that they share with the pages.
pub(crate) fn console_sources() -> BTreeMap<&'static str, String> {
    let shared = EMBEDDED.iter().filter(|(name, _)| ["ui.html", "totp.html", "codes.html"].contains(name));
    CONSOLE.iter().chain(shared).map(|(name, source)| (*name, (*source).to_owned())).collect()
}

/// Returns the full reason of an error. Used at the start only, when templates show sample values.
pub(crate) fn full_reason(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Converts an error of the template engine. Errors in an included file are wrapped: file and line are those of the
/// innermost error.
pub(crate) fn broken(
    error: &minijinja::Error,
    file: &str,
    reason: fn(&minijinja::Error) -> String,
) -> TemplateError {
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
