//! Email addresses as mail headers and SMTP envelopes need them: the domain in ASCII (IDNA), no line breaks.

use std::fmt;

use lettre::Address;

/// A sender address with an optional display name (RFC 5322 `mailbox`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    name: Option<String>,
    address: Address,
}

/// Parse error: the text is neither `user@host` nor `Name <user@host>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as \"no-reply@example.org\" or \"Name <no-reply@example.org>\"")]
pub struct InvalidMailbox;

impl Mailbox {
    /// Parses `user@host` or `Name <user@host>`. The host needs no dot, so that `latchkey@localhost` works in
    /// development.
    pub fn parse(text: &str) -> Result<Self, InvalidMailbox> {
        if text.chars().any(char::is_control) {
            return Err(InvalidMailbox);
        }
        let Some((name, rest)) = text.rsplit_once('<') else {
            let address = ascii_address(text.trim()).ok_or(InvalidMailbox)?;
            return Ok(Self { name: None, address });
        };
        let bare = rest.trim_end().strip_suffix('>').ok_or(InvalidMailbox)?;
        let address = ascii_address(bare).ok_or(InvalidMailbox)?;
        let name = name.trim().trim_matches('"').trim();
        Ok(Self { name: (!name.is_empty()).then(|| name.to_owned()), address })
    }

    /// Returns `user@host` with the host in ASCII.
    #[must_use]
    pub fn address(&self) -> &str {
        self.address.as_ref()
    }

    /// Returns the host of the address in ASCII. It is also the right side of the `Message-ID` of mails from this
    /// sender.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.address.domain()
    }

    pub(crate) fn envelope_address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn to_header(&self) -> lettre::message::Mailbox {
        lettre::message::Mailbox::new(self.name.clone(), self.address.clone())
    }
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} <{}>", self.address),
            None => write!(f, "{}", self.address),
        }
    }
}

/// Parses an address and converts its domain to ASCII (IDNA). `None` if some mail servers would reject the address, for
/// example because its local part is not ASCII.
pub(crate) fn ascii_address(text: &str) -> Option<Address> {
    let (local, domain) = text.rsplit_once('@')?;
    if !local
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>' | b'"' | b'\\' | b'@'))
    {
        return None;
    }
    let domain = idna::domain_to_ascii_strict(domain).ok()?;
    Address::new(local, domain).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn mailboxes_read_back() {
        for text in ["no-reply@example.org", "Latchkey <no-reply@example.org>", "Žaneta <a@localhost>"] {
            assert_eq!(Mailbox::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Mailbox::parse("\"A, B\" <a@b.example>").unwrap().name.as_deref(), Some("A, B"));
        assert_eq!(Mailbox::parse("<a@b.example>").unwrap().name, None);
    }

    #[test]
    fn no_mailbox_can_hold_a_header() {
        for text in [
            "",
            "a",
            "a@",
            "@b",
            "a@b.example\r\nBcc: c@d.example",
            "N\n <a@b.example>",
            "N <a@b.example",
            "a b@c.d",
        ] {
            assert_eq!(Mailbox::parse(text), Err(InvalidMailbox), "{text:?}");
        }
    }

    #[test]
    fn domains_go_out_in_ascii() {
        assert_eq!(ascii_address("Ada@Bücher.example").unwrap().to_string(), "Ada@xn--bcher-kva.example");
    }

    #[test]
    fn addresses_that_need_special_servers_are_refused() {
        for text in [
            "jos\u{e9}@example.org",
            "\"a b\"@example.org",
            "a@b@example.org",
            "a>@example.org",
            "a@exa mple.org",
        ] {
            assert!(ascii_address(text).is_none(), "{text:?}");
        }
    }
}
