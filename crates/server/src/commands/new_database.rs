//! Line of the commands that made a database where the settings name none, such as one that was run without `--config`.

use std::fs;
use std::path::Path;

use crate::settings::{Settings, StorageUrl};
use crate::storage::OpenedBy;
use crate::wiring::{Assembly, WiringError, assemble};

/// Settings file of the Debian package.
const INSTALLED: &str = "/etc/latchkey/latchkey.toml";

/// Builds the service for a command. If that makes a database of which no setting says where it is, a line says so.
pub(super) async fn assemble_for_command(
    settings: &Settings,
    opened_by: OpenedBy,
) -> Result<Assembly, WiringError> {
    let missing = missing(settings);
    let assembly = assemble(settings, opened_by).await?;
    if let Some(path) = missing {
        // An installed file that this user may not look for is named too.
        let is_installed = fs::exists(INSTALLED).unwrap_or(true);
        eprintln!("{}", line_about(&std::path::absolute(path).unwrap_or_else(|_| path.into()), is_installed));
    }
    Ok(assembly)
}

/// Returns the path of the database if it is not there, and neither `--config` nor a setting says that it is there.
fn missing(settings: &Settings) -> Option<&Path> {
    let StorageUrl::Sqlite(path) = &settings.storage.url else { return None };
    let is_named = settings.config.is_some() || settings.pinned("data.dir") || settings.pinned("storage.url");
    (!is_named && matches!(fs::exists(path), Ok(false))).then_some(path)
}

fn line_about(path: &Path, is_installed: bool) -> String {
    let made = format!("latchkey: there was no database at {}; a new one was made", path.display());
    if is_installed {
        format!("{made}. `--config {INSTALLED}` names the one of the installed service")
    } else {
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_names_the_file_of_the_package_where_it_is_installed() {
        let path = Path::new("/home/ada/latchkey-data/latchkey.db");

        assert_eq!(
            line_about(path, false),
            "latchkey: there was no database at /home/ada/latchkey-data/latchkey.db; a new one was made"
        );
        assert!(line_about(path, true).contains("--config /etc/latchkey/latchkey.toml"));
    }
}
