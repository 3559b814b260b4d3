//! Section `storage`: the database.

use std::path::PathBuf;

use super::reader::Reader;

/// Section `storage`.
#[derive(Debug)]
pub struct StorageSettings {
    /// Which engine, and where its data is.
    pub url: StorageUrl,
}

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorageUrl {
    /// `sqlite:PATH`, relative to the working directory.
    Sqlite(PathBuf),
}

impl StorageSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let url = reader.parse("storage.url", parse);
        Self { url: url.unwrap_or_else(|| StorageUrl::Sqlite(PathBuf::new())) }
    }
}

fn parse(text: &str) -> Result<StorageUrl, &'static str> {
    let wanted = "wanted sqlite: and the path of a file, such as sqlite:./latchkey-data/latchkey.db";
    let path = text.strip_prefix("sqlite:").ok_or(wanted)?;
    if path.starts_with("//") {
        return Err("write the path right after the colon: sqlite:relative/path or sqlite:/absolute/path");
    }
    if path.contains(['?', '#']) {
        return Err("options behind the path are not known; write the path alone");
    }
    if path.starts_with(':') || path.ends_with('/') || path.is_empty() || path.contains('\0') {
        return Err(wanted);
    }
    Ok(StorageUrl::Sqlite(PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_right_after_the_colon() {
        for path in ["data/latchkey.db", "/var/lib/latchkey/latchkey.db", "./x.db"] {
            let url = parse(&format!("sqlite:{path}"));
            assert_eq!(url, Ok(StorageUrl::Sqlite(PathBuf::from(path))));
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "postgres://host/db",
            "data.db",
            "sqlite:",
            "sqlite::memory:",
            "sqlite://data.db",
            "sqlite:///data.db",
            "sqlite:data.db?mode=ro",
            "sqlite:folder/",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
