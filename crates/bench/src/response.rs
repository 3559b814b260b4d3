//! Minimal HTTP/1.1 response parser. It suffices for the servers under test, which always send a `Content-Length`.

use memchr::memmem;

use crate::error::{BenchError, Result};

/// Response that borrows from the input buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Response<'a> {
    /// Status code.
    pub(crate) status: u16,
    /// Head, without the empty line.
    pub(crate) head: &'a [u8],
    /// Body.
    pub(crate) body: &'a [u8],
    /// True if the server closes the connection after this response.
    pub(crate) closes: bool,
}

/// Result of parsing the beginning of the input.
pub(crate) enum Parsed<'a> {
    /// A complete response, and its length in bytes.
    Whole(Response<'a>, usize),
    /// The response is incomplete; more input is needed.
    Part,
}

impl<'a> Response<'a> {
    /// Parses the first response of the input.
    pub(crate) fn parse(input: &'a [u8]) -> Result<Parsed<'a>> {
        let Some(end) = memmem::find(input, b"\r\n\r\n") else { return Ok(Parsed::Part) };
        let head = &input[..end];
        let status = head.get(9..12).and_then(number).ok_or(BenchError::NoHttp)?;
        let length = header(head, b"\r\ncontent-length: ").and_then(number).unwrap_or(0);
        let whole = end + 4 + length;
        if input.len() < whole {
            return Ok(Parsed::Part);
        }
        let closes = header(head, b"\r\nconnection: ").is_some_and(|value| value == b"close");
        let status = u16::try_from(status).map_err(BenchError::other)?;
        Ok(Parsed::Whole(Self { status, head, body: &input[end + 4..whole], closes }, whole))
    }

    /// Value of a string member in the JSON body, found without parsing. The value must not contain escapes.
    pub(crate) fn member(&self, name: &str) -> Option<&'a str> {
        let start = format!("\"{name}\":\"");
        let at = memmem::find(self.body, start.as_bytes())? + start.len();
        let rest = &self.body[at..];
        std::str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
    }

    /// Value of the first `Set-Cookie`.
    pub(crate) fn cookie(&self) -> Option<&'a str> {
        let value = header(self.head, b"\r\nset-cookie: ")?;
        std::str::from_utf8(&value[..memchr::memchr(b';', value).unwrap_or(value.len())]).ok()
    }
}

/// Value of the header line that starts with this text, which must be in lower case.
fn header<'a>(head: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    let at = memmem::find(head, start)? + start.len();
    let rest = &head[at..];
    Some(&rest[..memchr::memchr(b'\r', rest).unwrap_or(rest.len())])
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_with_its_last_byte() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nset-cookie: a=b; Path=/\r\n\r\n{\"a\":1}rest";
        assert!(matches!(Response::parse(&text[..text.len() - 5]), Ok(Parsed::Part)));
        let Ok(Parsed::Whole(response, length)) = Response::parse(text) else { panic!("whole") };
        assert_eq!((response.status, response.body, length), (200, &b"{\"a\":1}"[..], text.len() - 4));
        assert_eq!(response.cookie(), Some("a=b"));
    }

    #[test]
    fn members_are_found_by_name() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\n{\"user\":{},\"token\":\"a.b\"}";
        let Ok(Parsed::Whole(response, _)) = Response::parse(text) else { panic!("whole") };
        assert_eq!(response.member("token"), Some("a.b"));
        assert_eq!(response.member("other"), None);
    }
}
