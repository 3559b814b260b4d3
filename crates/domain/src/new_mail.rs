//! A mail to be written to the outbox. Its kinds are in [`crate::mail_kind`].

use crate::mail_schedule::MailId;

/// A mail to be written to the outbox. The store operation that writes it determines kind and recipient.
#[derive(Debug, Clone)]
pub struct NewMail {
    /// Id of the mail.
    pub id: MailId,
    /// Data for the template (a code, a link or an event), sealed under the server secret. Data of the recipient are
    /// added when the mail is sent.
    pub sealed: Vec<u8>,
}
