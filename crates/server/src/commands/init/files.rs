//! Files that `latchkey init` writes: the settings, and a file per secret. Each is readable by its owner alone.

use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use latchkey_service::entropy::{Entropy, SystemEntropy};
use toml::Value;
use zeroize::Zeroizing;

use super::answers::Answers;
use crate::cli::InitArgs;
use crate::commands::CommandError;
use crate::data_folder::{DataFolderError, create_private, sync_folder};

pub(super) const SETTINGS_FILE: &str = "latchkey.toml";

/// A file: name, purpose, text.
type File = (&'static str, &'static str, Zeroizing<String>);

pub(super) struct Files {
    /// Absolute path.
    pub(super) folder: PathBuf,
    files: Vec<File>,
}

impl Files {
    pub(super) fn new(arguments: &InitArgs, answers: &Answers) -> Result<Self, CommandError> {
        let entropy: &dyn Entropy = &SystemEntropy;
        let random = || Zeroizing::new(format!("{}\n", hex::encode(entropy.bytes::<32>())));
        let settings = settings(arguments, answers)?;
        let mut files = vec![
            (SETTINGS_FILE, "the settings", Zeroizing::new(settings)),
            (
                "server-secret",
                "the key to what the database holds encrypted; keep a copy in another place",
                random(),
            ),
            ("admin-key", "the key of the admin API", random()),
        ];
        if let Some(password) = &answers.mail.password {
            let text = Zeroizing::new(format!("{}\n", **password));
            files.push(("smtp-password", "the password of the mail server", text));
        }
        if let Some(url) = &answers.database {
            let text = Zeroizing::new(format!("{}\n", url.reveal()));
            files.push(("storage-url", "the URL of the database, with its password", text));
        }
        Ok(Self { folder: std::path::absolute(&arguments.out)?, files })
    }

    /// Writes all files, or none: an existing one is not replaced.
    pub(super) fn write(&self) -> Result<(), CommandError> {
        create_private(&self.folder)?;
        let mut paths = self.files.iter().map(|(name, _, _)| self.folder.join(name));
        if let Some(existing) = paths.find(|path| path.symlink_metadata().is_ok()) {
            return Err(CommandError::Refused(format!(
                "{} exists; move it away, or give another folder by --out. Nothing was written",
                existing.display()
            )));
        }
        let written = self.files.iter().try_for_each(|(name, _, text)| write(&self.folder.join(name), text));
        let written = written.and_then(|()| {
            sync_folder(&self.folder).map_err(|error| DataFolderError::unwritable(&self.folder, error))
        });
        if written.is_err() {
            self.remove();
        }
        Ok(written?)
    }

    /// Removes the files again, because the settings turned out to be unusable.
    pub(super) fn remove(&self) {
        for (name, _, _) in &self.files {
            let _ = fs::remove_file(self.folder.join(name)); // the error that is reported is the first one
        }
    }
}

/// List of the written files with their purposes.
impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Written to {}, for its owner alone:", self.folder.display())?;
        self.files.iter().try_for_each(|(name, purpose, _)| write!(f, "\n  {name:<15}{purpose}"))
    }
}

fn write(path: &Path, text: &str) -> Result<(), DataFolderError> {
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|error| DataFolderError::unwritable(path, error))
}

/// Builds the settings file. Keys that end in `_file` name the files of the secrets beside it.
fn settings(arguments: &InitArgs, answers: &Answers) -> Result<String, CommandError> {
    let mut text = HEAD.to_owned();
    let data = std::path::absolute(&arguments.data)?;
    let mut section = |name: &str, keys: &[(&str, Option<Value>)]| {
        let _ = write!(text, "\n[{name}]\n"); // writing to a string does not fail
        for (key, value) in keys.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    let some = |text: &str| Some(Value::from(text));
    section(
        "server",
        &[
            ("mode", some("production")),
            ("bind", some(&arguments.bind.to_string())),
            ("public_url", some(&answers.public_url)),
            ("trusted_proxies", Some(Value::from(arguments.trusted_proxies.clone()))),
            ("secret_file", some("server-secret")),
        ],
    );
    section("admin", &[("api_key_file", some("admin-key"))]);
    section("data", &[("dir", some(&data.display().to_string()))]);
    if answers.database.is_some() {
        section("storage", &[("url_file", some("storage-url"))]);
    }
    let mail = &answers.mail;
    section("mail", &[("transport", some("smtp")), ("from", some(&sender(arguments, answers)))]);
    section(
        "mail.smtp",
        &[
            ("host", some(&mail.host)),
            ("port", mail.port.map(|port| Value::from(i64::from(port)))),
            ("tls", some(mail.tls)),
            ("username", mail.username.as_deref().map(Value::from)),
            ("password_file", mail.password.as_ref().map(|_| Value::from("smtp-password"))),
        ],
    );
    section("log", &[("format", some("json"))]);
    Ok(text)
}

const HEAD: &str = "\
# Settings of this instance. All settings, with meaning and default: latchkey config print --defaults
#
# server.trusted_proxies are the addresses from which the reverse proxy connects. Apps that users return to after a
# sign-in, and from whose pages they may sign in, are listed in auth.allowed_redirect_urls.
";

/// Returns `--from`, or no-reply at the host of the public URL.
fn sender(arguments: &InitArgs, answers: &Answers) -> String {
    let host = || url::Url::parse(&answers.public_url).ok()?.host_str().map(str::to_owned);
    let default = || host().map(|host| format!("no-reply@{host}"));
    arguments.from.clone().or_else(default).unwrap_or_default()
}
