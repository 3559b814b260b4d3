//! The encoding of spans for a collector: `ExportTraceServiceRequest` of OTLP 1.x in protobuf, as far as it is needed.
//! <https://github.com/open-telemetry/opentelemetry-proto> has the field numbers.

use std::time::{SystemTime, UNIX_EPOCH};

use latchkey_log::traces::{Attribute, FinishedSpan};

/// Names of the fields of our spans in OpenTelemetry's conventions.
const NAMES: [(&str, &str); 4] = [
    ("method", "http.request.method"),
    ("route", "http.route"),
    ("status", "http.response.status_code"),
    ("user_id", "enduser.id"),
];
/// Wire types of protobuf.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
/// Kinds of spans.
const INTERNAL: u64 = 1;
const SERVER: u64 = 2;
const CLIENT: u64 = 3;
/// Status of a failed span.
const ERROR: u64 = 2;

/// A protobuf message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
            number >>= 7;
        }
        self.0.push(u8::try_from(number).unwrap_or_default());
    }

    fn key(&mut self, field: u64, wire_type: u64) {
        self.varint(field << 3 | wire_type);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.key(field, VARINT);
        self.varint(number);
    }

    fn fixed(&mut self, field: u64, number: u64) {
        self.key(field, FIXED64);
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn attribute(&mut self, field: u64, name: &str, value: &Attribute) {
        self.message(field, |pair| {
            pair.bytes(1, name.as_bytes());
            pair.message(2, |any| match value {
                Attribute::Text(text) => any.bytes(1, text.as_bytes()),
                Attribute::Number(number) => any.number(3, number.cast_unsigned()),
            });
        });
    }

    fn span(&mut self, span: &FinishedSpan) {
        self.bytes(1, &span.trace_id);
        self.bytes(2, &span.id);
        if let Some(parent) = &span.parent {
            self.bytes(4, parent);
        }
        self.bytes(5, span.name.as_bytes());
        let kind = match span.name {
            "request" => SERVER,
            "provider" | "deliver" => CLIENT,
            _ => INTERNAL,
        };
        self.number(6, kind);
        self.fixed(7, nanoseconds(span.started_at));
        self.fixed(8, nanoseconds(span.ended_at));
        for (name, value) in &span.attributes {
            let known = NAMES.iter().find(|(ours, _)| ours == name).map(|(_, theirs)| (*theirs).to_owned());
            self.attribute(9, &known.unwrap_or_else(|| format!("latchkey.{name}")), value);
        }
        if span.is_error {
            self.message(15, |status| status.number(3, ERROR));
        }
    }
}

/// Encodes spans for `POST /v1/traces`.
pub(super) fn encode(spans: &[FinishedSpan]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |of_resource| {
        of_resource.message(1, |resource| {
            for (name, value) in
                [("service.name", "latchkey"), ("service.version", env!("CARGO_PKG_VERSION"))]
            {
                resource.attribute(1, name, &Attribute::Text(value.to_owned()));
            }
        });
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| scope.bytes(1, b"latchkey"));
            for span in spans {
                of_scope.message(2, |message| message.span(span));
            }
        });
    });
    request.0
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn span_is_encoded_as_the_protocol_says() {
        let started_at = UNIX_EPOCH + Duration::from_nanos(1);
        let span = FinishedSpan {
            trace_id: [0xAA; 16],
            id: [0xBB; 8],
            parent: Some([0xCC; 8]),
            name: "request",
            is_root: true,
            started_at,
            ended_at: started_at + Duration::from_nanos(255),
            attributes: vec![("status", Attribute::Number(503))],
            is_error: true,
        };

        let mut message = Message::default();
        message.span(&span);

        let expected = [
            &[0x0A, 16][..],
            &[0xAA; 16],
            &[0x12, 8],
            &[0xBB; 8],
            &[0x22, 8],
            &[0xCC; 8],
            &[0x2A, 7],
            b"request",
            &[0x30, 2],
            &[0x39, 1, 0, 0, 0, 0, 0, 0, 0],
            &[0x41, 0, 1, 0, 0, 0, 0, 0, 0],
            &[0x4A, 32, 0x0A, 25],
            b"http.response.status_code",
            &[0x12, 3, 0x18, 0xF7, 0x03],
            &[0x7A, 2, 0x18, 2],
        ]
        .concat();
        assert_eq!(message.0, expected);
    }
}
