//! Command lines of `latchkey` in hints, which must work as they are shown.

use std::borrow::Cow;
use std::path::Path;

use super::Settings;

impl Settings {
    /// Returns a command line of `latchkey` that reads the same settings file: it names the one that `--config` named.
    #[must_use]
    pub fn command_line(&self, arguments: &str) -> String {
        match &self.config {
            Some(file) => format!("latchkey --config {} {arguments}", word_of(file)),
            None => format!("latchkey {arguments}"),
        }
    }
}

/// Returns the absolute path of a file as a word for a shell, so that the line works in every folder.
fn word_of(file: &Path) -> String {
    let whole = std::path::absolute(file).map_or(Cow::Borrowed(file), Cow::Owned);
    let text = whole.to_string_lossy().into_owned();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte));
    if is_plain { text } else { quoted(&text) }
}

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_a_word_for_a_shell_that_works_in_every_folder() {
        assert_eq!(word_of(Path::new("/etc/latchkey/latchkey.toml")), "/etc/latchkey/latchkey.toml");
        assert_eq!(word_of(Path::new("/srv/o'hara s.toml")), r"'/srv/o'\''hara s.toml'");
        let relative = word_of(Path::new("latchkey.toml"));
        assert!(relative.trim_matches('\'').starts_with('/'), "{relative}");
    }
}
