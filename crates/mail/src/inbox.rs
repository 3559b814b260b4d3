//! Lists and reads the mails that the file transport wrote, for the inbox page of development mode.

use std::io;
use std::path::Path;

use latchkey_domain::time::Timestamp;
use mail_parser::{Address, Message, MessageParser};
use time::PrimitiveDateTime;

use crate::blocking_io::run_blocking;
use crate::file::{FileTransport, TIME_FORMAT};
use crate::message::MessageId;

/// Summary of a stored mail, for the list on the inbox page.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredMail {
    /// Argument of [`FileTransport::read`]: file name without `.eml`.
    pub id: String,
    /// Date of the mail, from its file name.
    pub date: Timestamp,
    pub to: String,
    pub subject: String,
}

/// A parsed mail. It has no `Debug`, because it holds codes and links.
#[derive(Clone, PartialEq, Eq)]
pub struct ParsedMail {
    /// File name without `.eml`.
    pub id: String,
    pub to: String,
    /// The sender, `Name <address>`.
    pub from: String,
    pub subject: String,
    /// Date of the mail, from its file name.
    pub date: Timestamp,
    /// Plain text body with `\n` line ends.
    pub text: String,
    /// HTML body. Display it only in a sandboxed frame.
    pub html: String,
}

impl FileTransport {
    /// Lists up to `limit` mails, newest first. Files that the transport did not write are skipped.
    pub async fn list(&self, limit: usize) -> io::Result<Vec<StoredMail>> {
        let folder = self.folder().to_owned();
        run_blocking(move || list(&folder, limit)).await
    }

    /// Reads a mail; `None` if it does not exist or `id` is malformed.
    pub async fn read(&self, id: &str) -> io::Result<Option<ParsedMail>> {
        let Some(date) = date_in(id) else { return Ok(None) };
        let (folder, id) = (self.folder().to_owned(), id.to_owned());
        run_blocking(move || Ok(read_file(&folder, &id)?.and_then(|mail| parse(id, date, &mail)))).await
    }
}

fn list(folder: &Path, limit: usize) -> io::Result<Vec<StoredMail>> {
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".eml")) {
            ids.push(id.to_owned());
        }
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));

    let mails = ids.into_iter().filter_map(|id| {
        let date = date_in(&id)?;
        // A file that was deleted since the listing, or is unreadable, is skipped.
        let mail = read_file(folder, &id).ok().flatten()?;
        parse(id, date, &mail)
    });
    Ok(mails
        .take(limit)
        .map(|ParsedMail { id, date, to, subject, .. }| StoredMail { id, date, to, subject })
        .collect())
}

/// Parses the time at the start of a mail's id. The rest must be a message id, which prevents path traversal.
fn date_in(id: &str) -> Option<Timestamp> {
    let (time, message_id) = id.split_once('-')?;
    MessageId::parse(message_id).ok()?;
    let moment = PrimitiveDateTime::parse(time, TIME_FORMAT).ok()?.assume_utc();
    i64::try_from(moment.unix_timestamp_nanos() / 1_000_000).ok().map(Timestamp::from_millis)
}

fn read_file(folder: &Path, id: &str) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(folder.join(format!("{id}.eml"))) {
        Ok(mail) => Ok(Some(mail)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(id: String, date: Timestamp, mail: &[u8]) -> Option<ParsedMail> {
    let mail = MessageParser::default().parse(mail)?;
    Some(ParsedMail {
        id,
        to: first(mail.to()).1,
        from: match first(mail.from()) {
            (Some(name), address) => format!("{name} <{address}>"),
            (None, address) => address,
        },
        subject: mail.subject().unwrap_or_default().to_owned(),
        date,
        text: body(&mail, Message::body_text),
        html: body(&mail, Message::body_html),
    })
}

fn first(list: Option<&Address<'_>>) -> (Option<String>, String) {
    let address = list.and_then(Address::first);
    let name = address.and_then(|address| address.name()).map(ToOwned::to_owned);
    (name, address.and_then(|address| address.address()).unwrap_or_default().to_owned())
}

fn body<'m>(
    mail: &'m Message<'m>,
    part: fn(&'m Message<'m>, usize) -> Option<std::borrow::Cow<'m, str>>,
) -> String {
    part(mail, 0).unwrap_or_default().replace("\r\n", "\n")
}
