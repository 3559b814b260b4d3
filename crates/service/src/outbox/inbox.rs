//! The mails that the file transport wrote, for the inbox page of development mode.

use latchkey_mail::Transport;
pub use latchkey_mail::{ParsedMail, StoredMail};

use super::Outbox;
use crate::error::{Error, Result};
use crate::refusal::MAIL_NOT_FOUND;

impl Outbox {
    /// Lists the newest mails; empty unless the transport writes mails to a folder.
    pub async fn list_inbox(&self, limit: usize) -> Result<Vec<StoredMail>> {
        match &self.mailer.transport {
            Some(Transport::File(folder)) => folder.list(limit).await.map_err(Error::internal),
            _ => Ok(Vec::new()),
        }
    }

    pub async fn read_inbox(&self, id: &str) -> Result<ParsedMail> {
        let Some(Transport::File(folder)) = &self.mailer.transport else {
            return Err(Error::Refused(&MAIL_NOT_FOUND));
        };
        folder.read(id).await.map_err(Error::internal)?.ok_or(Error::Refused(&MAIL_NOT_FOUND))
    }
}
