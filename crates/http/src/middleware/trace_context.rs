//! The place of a request in a trace (W3C Trace Context). `traceparent` counts only from trusted proxies: any other client
//! could fill somebody else's trace, or have all of its requests sampled.

use std::fmt::Write;

use axum::extract::Request;
use http::HeaderMap;
use uuid::Uuid;

use crate::client::{PeerAddr, is_trusted};
use crate::settings::HttpSettings;

const TRACEPARENT: &str = "traceparent";

/// Trace and parent of a request, in hexadecimal digits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TraceContext {
    pub(super) trace_id: String,
    /// The span of the proxy; `None` if the trace begins here.
    pub(super) parent_id: Option<String>,
    /// True if the proxy decided to keep the trace.
    pub(super) is_sampled: bool,
}

impl TraceContext {
    /// Reads the trace of a trusted proxy, or begins one; `None` while traces are off.
    pub(super) fn of(
        request: &Request,
        settings: &HttpSettings,
        next_id: impl FnOnce() -> Uuid,
    ) -> Option<Self> {
        if !settings.has_traces {
            return None;
        }
        let peer = request.extensions().get::<PeerAddr>().map(|peer| peer.0.ip());
        let sent = peer
            .filter(|peer| is_trusted(*peer, &settings.trusted_proxies))
            .and_then(|_| Self::sent(request.headers()));
        Some(sent.unwrap_or_else(|| {
            let mut trace_id = String::with_capacity(32);
            let _ = write!(trace_id, "{}", next_id().simple()); // writing into a text cannot fail
            Self { trace_id, parent_id: None, is_sampled: false }
        }))
    }

    /// Parses the header; `None` if it is missing, repeated or malformed.
    fn sent(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(TRACEPARENT).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let mut parts = value.to_str().ok()?.split('-');
        let version = id(parts.next()?, 2).filter(|version| *version != "ff")?;
        let trace_id = id(parts.next()?, 32).filter(|id| !is_zero(id))?;
        let parent_id = id(parts.next()?, 16).filter(|id| !is_zero(id))?;
        let flags = u8::from_str_radix(id(parts.next()?, 2)?, 16).ok()?;
        // Later versions may add fields, this one has none.
        if version == "00" && parts.next().is_some() {
            return None;
        }
        Some(Self {
            trace_id: trace_id.to_owned(),
            parent_id: Some(parent_id.to_owned()),
            is_sampled: flags & 1 == 1,
        })
    }
}

/// Returns the text if it has this length, and only digits and small letters of hexadecimal numbers.
fn id(text: &str, length: usize) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == length && text.bytes().all(is_digit)).then_some(text)
}

fn is_zero(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";

    fn sent(values: &[&str]) -> Option<TraceContext> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(TRACEPARENT, HeaderValue::from_str(value).unwrap());
        }
        TraceContext::sent(&headers)
    }

    #[test]
    fn trace_of_a_proxy_is_continued() {
        for (flags, is_sampled) in [("00", false), ("01", true), ("03", true)] {
            let context = sent(&[&format!("00-{TRACE}-{PARENT}-{flags}")]).unwrap();
            assert_eq!((context.trace_id.as_str(), context.parent_id.as_deref()), (TRACE, Some(PARENT)));
            assert_eq!(context.is_sampled, is_sampled);
        }
        assert!(sent(&[&format!("01-{TRACE}-{PARENT}-01-later")]).is_some());
    }

    #[test]
    fn malformed_trace_is_not_continued() {
        let zeros = "0".repeat(32);
        for value in [
            String::new(),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("00-{zeros}-{PARENT}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{PARENT}"),
            format!("00-{TRACE}-{PARENT}-01-more"),
            format!("00-{TRACE}x-{PARENT}-01"),
        ] {
            assert_eq!(sent(&[&value]), None, "{value}");
        }
        let good = format!("00-{TRACE}-{PARENT}-01");
        assert_eq!(sent(&[&good, &good]), None);
        assert_eq!(sent(&[]), None);
    }
}
