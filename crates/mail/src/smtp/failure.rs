//! Classification of SMTP failures into permanent and transient ones.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};

use latchkey_domain::words;

use crate::send_error::SendError;

words! {
    /// Stage of the SMTP session in which a failure occurred.
    pub(crate) enum Stage {
        Resolve = "the look-up of its name",
        Connect = "the connection",
        StartTls = "STARTTLS",
        Login = "AUTH",
        Sender = "MAIL FROM",
        Recipient = "RCPT TO",
        Data = "DATA",
        Content = "the end of the mail",
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A negative reply: its code and enhanced status code (RFC 3463), if any. The reply text is dropped,
    /// because it often repeats the address.
    Refused { code: u16, enhanced: Option<String> },
    /// The stage did not finish within the timeout.
    TimedOut,
    /// No connection, no TLS, a broken connection or a malformed reply.
    Broken(String),
    /// No route to the address.
    Unreachable(String),
}

/// A failed SMTP session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) cause: Cause,
}

/// Reply codes about authentication rather than the mail, at any stage (RFC 4954 section 6).
const AUTH_CODES: [u16; 4] = [530, 534, 535, 538];
/// Reply code of a server that closes the connection (RFC 5321 section 4.2.3).
const CLOSING: u16 = 421;

impl Failure {
    /// Classifies an error of the SMTP library.
    pub(crate) fn new(stage: Stage, error: &lettre::transport::smtp::Error) -> Self {
        let cause = match error.status() {
            Some(code) => {
                Cause::Refused { code: code.into(), enhanced: error.source().and_then(enhanced_code) }
            }
            None if error.is_timeout() => Cause::TimedOut,
            // The library quotes a malformed reply, which may contain the recipient.
            None if error.is_response() => Cause::Broken("its answer is no SMTP".to_owned()),
            None if is_unreachable(error) => Cause::Unreachable(innermost(error)),
            None => Cause::Broken(innermost(error)),
        };
        Self { stage, cause }
    }

    /// True if the server had closed the pooled connection before the mail was offered: a new connection may succeed.
    pub(crate) fn is_stale_connection(&self) -> bool {
        let is_gone = match &self.cause {
            Cause::Refused { code, .. } => *code == CLOSING,
            Cause::TimedOut | Cause::Broken(_) | Cause::Unreachable(_) => true,
        };
        is_gone && self.stage == Stage::Sender
    }

    /// True if the server refused the credentials.
    pub(crate) fn is_refused_auth(&self) -> bool {
        self.stage == Stage::Login && matches!(self.cause, Cause::Refused { .. })
    }

    /// Ranks the failure when several addresses of the server failed; the highest rank is reported first.
    pub(crate) fn informativeness(&self) -> u8 {
        match self.cause {
            Cause::Refused { .. } if self.is_refused_auth() => 4,
            Cause::Refused { .. } => 3,
            Cause::Broken(_) => 2,
            Cause::TimedOut => 1,
            Cause::Unreachable(_) => 0,
        }
    }

    fn is_permanent(&self) -> bool {
        let is_about_mail =
            matches!(self.stage, Stage::Sender | Stage::Recipient | Stage::Data | Stage::Content);
        let Cause::Refused { code, .. } = self.cause else { return false };
        is_about_mail && (500..600).contains(&code) && !AUTH_CODES.contains(&code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.stage;
        match &self.cause {
            Cause::Refused { code, enhanced: Some(status) } => {
                write!(f, "the mail server answered {code} ({status}) at {stage}")
            }
            Cause::Refused { code, enhanced: None } => {
                write!(f, "the mail server answered {code} at {stage}")
            }
            Cause::TimedOut => write!(f, "the mail server did not answer in time at {stage}"),
            Cause::Broken(reason) | Cause::Unreachable(reason) => {
                write!(f, "the mail server could not be talked to at {stage}: {reason}")
            }
        }
    }
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        let text = failure.to_string();
        if failure.is_permanent() { Self::Permanent(text) } else { Self::Transient(text) }
    }
}

fn is_unreachable(error: &lettre::transport::smtp::Error) -> bool {
    let mut source = error.source();
    while let Some(reason) = source {
        let kind = reason.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(
            kind,
            Some(ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable | ErrorKind::AddrNotAvailable)
        ) {
            return true;
        }
        source = reason.source();
    }
    false
}

/// Returns the text of the innermost source of an error: the message of the system or the TLS library. Not for replies
/// of the server.
fn innermost(error: &lettre::transport::smtp::Error) -> String {
    let mut reason: &dyn Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string().chars().filter(|character| !character.is_control()).take(200).collect()
}

/// Parses an enhanced status code (`5.1.1`) at the start of a reply text.
fn enhanced_code(reply: &dyn Error) -> Option<String> {
    let text = reply.to_string();
    let word = text.split_whitespace().next()?;
    let numbers: Vec<&str> = word.split('.').collect();
    let is_number =
        |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    (numbers.len() == 3 && numbers.iter().all(is_number)).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn refused(stage: Stage, code: u16) -> SendError {
        Failure { stage, cause: Cause::Refused { code, enhanced: None } }.into()
    }

    #[test]
    fn refusals_of_the_mail_are_permanent() {
        for stage in [Stage::Sender, Stage::Recipient, Stage::Data, Stage::Content] {
            assert!(!refused(stage, 550).is_transient());
            assert!(refused(stage, 451).is_transient());
        }
    }

    #[test]
    fn refusals_of_us_are_transient() {
        for stage in [Stage::Connect, Stage::StartTls, Stage::Login] {
            assert!(refused(stage, 554).is_transient());
        }
        for code in AUTH_CODES {
            assert!(refused(Stage::Sender, code).is_transient());
        }
    }

    #[test]
    fn broken_connections_are_transient() {
        for cause in [Cause::TimedOut, Cause::Broken("connection refused".to_owned())] {
            assert!(SendError::from(Failure { stage: Stage::Content, cause }).is_transient());
        }
    }

    #[test]
    fn enhanced_codes_are_told_from_words() {
        let code = |text: &str| enhanced_code(std::io::Error::other(text.to_owned()).get_ref().unwrap());
        assert_eq!(code("5.1.1 <ada@example.org> unknown").as_deref(), Some("5.1.1"));
        assert_eq!(code("ada@example.org unknown"), None);
        assert_eq!(code("1.2.3.4 is blocked"), None);
        assert_eq!(code(""), None);
    }
}
