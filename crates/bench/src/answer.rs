//! Answers as the driver reads them: just enough HTTP/1.1 for what the servers here send, a `Content-Length` always.

use memchr::memmem;

use crate::error::{BenchError, Result};

/// An answer, where its bytes stand in the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// Its status.
    pub(crate) status: u16,
    /// Its head, without the empty line.
    pub(crate) head: &'a [u8],
    /// Its body.
    pub(crate) body: &'a [u8],
    /// The server closes the connection after it.
    pub(crate) closes: bool,
}

/// What stands at the beginning of the input.
pub(crate) enum Parsed<'a> {
    /// A whole answer and its length.
    Whole(Answer<'a>, usize),
    /// The beginning of one.
    Part,
}

impl<'a> Answer<'a> {
    /// Reads the first answer of the input.
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

    /// The text of a member of the body, where it is a string without escapes.
    pub(crate) fn member(&self, name: &str) -> Option<&'a str> {
        let start = format!("\"{name}\":\"");
        let at = memmem::find(self.body, start.as_bytes())? + start.len();
        let rest = &self.body[at..];
        std::str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
    }

    /// The value of the first cookie that is set.
    pub(crate) fn cookie(&self) -> Option<&'a str> {
        let value = header(self.head, b"\r\nset-cookie: ")?;
        std::str::from_utf8(&value[..memchr::memchr(b';', value).unwrap_or(value.len())]).ok()
    }
}

/// The value of a header line whose start, in lower case, is given.
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
        assert!(matches!(Answer::parse(&text[..text.len() - 5]), Ok(Parsed::Part)));
        let Ok(Parsed::Whole(answer, length)) = Answer::parse(text) else { panic!("whole") };
        assert_eq!((answer.status, answer.body, length), (200, &b"{\"a\":1}"[..], text.len() - 4));
        assert_eq!(answer.cookie(), Some("a=b"));
    }

    #[test]
    fn members_are_found_by_name() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\n{\"user\":{},\"token\":\"a.b\"}";
        let Ok(Parsed::Whole(answer, _)) = Answer::parse(text) else { panic!("whole") };
        assert_eq!(answer.member("token"), Some("a.b"));
        assert_eq!(answer.member("other"), None);
    }
}
