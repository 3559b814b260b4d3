//! What `latchkey init` has to know: from its arguments, from questions at a terminal, or from standard input.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;
use zeroize::Zeroizing;

use crate::cli::{InitArgs, SecretUrl};
use crate::commands::CommandError;
use crate::settings::{Secret, StorageUrl};
use crate::terminal;

pub(super) struct Answers {
    pub(super) public_url: String,
    pub(super) mail: MailServer,
    /// URL of the PostgreSQL database, with its password; `None` for SQLite.
    pub(super) database: Option<Secret>,
}

/// Mail server as the settings `mail.smtp` name it.
#[derive(PartialEq, Eq)]
pub(super) struct MailServer {
    pub(super) tls: &'static str,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    pub(super) username: Option<String>,
    pub(super) password: Option<Zeroizing<String>>,
}

impl Answers {
    pub(super) async fn gather(arguments: &InitArgs) -> Result<Self, CommandError> {
        let question = "URL under which browsers reach the service: ";
        let public_url = match &arguments.public_url {
            Some(url) => url.clone(),
            None => ask("--public-url", question).await?.to_string(),
        };
        let question = "Mail server, smtp://USER@HOST or smtps://USER@HOST: ";
        let smtp = match &arguments.smtp {
            Some(SecretUrl(url)) => Zeroizing::new(url.reveal().to_owned()),
            None => ask("--smtp", question).await?,
        };
        let mut mail = MailServer::parse(smtp.trim())?;
        if mail.username.is_some() && mail.password.is_none() {
            let password = read_password("Password of the mail server: ").await?;
            if password.is_empty() {
                return Err(refused("give the password of the mail server on standard input"));
            }
            mail.password = Some(password);
        }
        let database = match &arguments.postgres {
            Some(SecretUrl(url)) => Some(read_database(url.reveal()).await?),
            None => None,
        };
        Ok(Self { public_url, mail, database })
    }
}

impl MailServer {
    fn parse(text: &str) -> Result<Self, CommandError> {
        let wanted =
            || refused("--smtp: wanted smtp://USER@HOST or smtps://USER@HOST, with :PORT if it is unusual");
        let url = Url::parse(text).map_err(|_| wanted())?;
        let tls = match url.scheme() {
            "smtp" => "starttls",
            "smtps" => "tls",
            _ => return Err(wanted()),
        };
        // What stands behind the server would be dropped silently.
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(refused(
                "--smtp: something stands behind the server: wanted smtp://USER@HOST:PORT alone, with @ / ? # : of the user \
                 and the password as %40 %2F %3F %23 %3A",
            ));
        }
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wanted)?;
        Ok(Self {
            tls,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port(),
            username: Some(decode(url.username())).filter(|name| !name.is_empty()),
            password: url.password().map(|password| Zeroizing::new(decode(password))),
        })
    }
}

/// Adds the password to the URL of the database, if the URL names a user and no password.
async fn read_database(url: &str) -> Result<Secret, CommandError> {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    let has_user_alone = authority.split_once('@').is_some_and(|(user, _)| !user.contains(':'));
    let mut whole = Zeroizing::new(url.to_owned());
    if has_user_alone {
        let password = read_password("Password of the database (empty: none): ").await?;
        if !password.is_empty() {
            let encoded = Zeroizing::new(utf8_percent_encode(&password, NON_ALPHANUMERIC).to_string());
            whole = Zeroizing::new(url.replacen('@', &format!(":{}@", *encoded), 1));
        }
    }
    match StorageUrl::parse(&whole) {
        Ok(StorageUrl::Postgres(url)) => Ok(url),
        Ok(StorageUrl::Sqlite(_)) => Err(refused("--postgres: wanted postgres://USER@HOST/DATABASE")),
        Err(reason) => Err(refused(&format!("--postgres: {reason}"))),
    }
}

/// Asks for an argument that is missing.
async fn ask(argument: &str, question: &str) -> Result<Zeroizing<String>, CommandError> {
    if !terminal::is_there() {
        return Err(refused(&format!(
            "{argument} is missing, and standard input is no terminal to ask at; nothing was written"
        )));
    }
    Ok(Zeroizing::new(terminal::ask_line(question).await?.trim().to_owned()))
}

/// Asks for a password at a terminal, otherwise reads the next line of standard input.
async fn read_password(question: &str) -> Result<Zeroizing<String>, CommandError> {
    let read =
        if terminal::is_there() { terminal::ask_hidden(question).await } else { terminal::read_line().await };
    Ok(read?)
}

fn refused(text: &str) -> CommandError {
    CommandError::Refused(text.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn mail_server_is_a_url() {
        let server = MailServer::parse("smtps://no-reply%40example.com@mail.example.com:1465").ok().unwrap();
        assert_eq!((server.tls, server.port), ("tls", Some(1465)));
        assert_eq!(server.username.as_deref(), Some("no-reply@example.com"));
        let server = MailServer::parse("smtp://mail.example.com").ok().unwrap();
        assert!(server.tls == "starttls" && server.username.is_none() && server.port.is_none());
        for other in [
            "mail.example.com",
            "http://mail.example.com",
            "smtp://",
            "smtp:mail",
            "smtp://mail.example.com/path",
            "smtp://mail.example.com?tls=none",
            "smtp://mail.example.com/?x",
            "smtp://mail.example.com#x",
        ] {
            assert!(MailServer::parse(other).is_err(), "{other}");
        }
    }
}
