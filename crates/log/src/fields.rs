//! Fields of text lines without colours: `message key=value`. They are those of `tracing-subscriber`, whose own formatter also
//! paints each name and sign when there are no colours, a tenth of the instructions of a request that reads.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;

const MESSAGE: &str = "message";
/// Beginning of the names of fields that describe where a line of the crate `log` comes from.
const OF_LOG: &str = "log.";

/// Formatter of fields without colours.
#[derive(Default)]
pub(super) struct PlainFields;

impl<'w> FormatFields<'w> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = Visitor { writer, is_first: true, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct Visitor<'w> {
    writer: Writer<'w>,
    is_first: bool,
    result: fmt::Result,
}

impl Visitor<'_> {
    /// Writes a field, whose value is written by `value`.
    fn put(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.result.is_err() || field.name().starts_with(OF_LOG) {
            return;
        }
        self.result = self.begin(field.name()).and_then(|()| value(&mut self.writer));
    }

    fn begin(&mut self, name: &str) -> fmt::Result {
        if !std::mem::take(&mut self.is_first) {
            self.writer.write_char(' ')?;
        }
        if name == MESSAGE {
            return Ok(());
        }
        self.writer.write_str(name.strip_prefix("r#").unwrap_or(name))?;
        self.writer.write_char('=')
    }
}

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == MESSAGE {
            self.put(field, |writer| Escaping(writer).write_str(value));
        } else if value
            .bytes()
            .all(|byte| is_printable(byte) && byte != b'"' && byte != b'\\' && byte != b'\'')
        {
            self.put(field, |writer| {
                writer.write_char('"')?;
                writer.write_str(value)?;
                writer.write_char('"')
            });
        } else {
            self.put(field, |writer| write!(writer, "{value:?}"));
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field, |writer| {
            write!(Escaping(writer), "{value}")?;
            let mut sources = std::iter::successors(value.source(), |error| error.source()).peekable();
            if sources.peek().is_none() {
                return Ok(());
            }
            write!(writer, " {}.sources=[", field.name())?;
            for (at, error) in sources.enumerate() {
                write!(Escaping(writer), "{}{error}", if at == 0 { "" } else { ", " })?;
            }
            writer.write_char(']')
        });
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == MESSAGE {
            self.put(field, |writer| write!(Escaping(writer), "{value:?}"));
        } else {
            self.put(field, |writer| write!(writer, "{value:?}"));
        }
    }
}

const fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Writer that escapes what a terminal would take for a command.
struct Escaping<'a, 'w>(&'a mut Writer<'w>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.bytes().all(is_printable) {
            return self.0.write_str(text);
        }
        for character in text.chars() {
            match character {
                '\x1b' | '\x07' | '\x08' | '\x0c' | '\x7f' => {
                    write!(self.0, "\\x{:02x}", u32::from(character))?;
                }
                '\u{80}'..='\u{9f}' => write!(self.0, "\\u{{{:x}}}", u32::from(character))?,
                _ => self.0.write_char(character)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::{fmt, registry};

    use super::*;

    const T: &str = "fields";

    #[derive(Debug)]
    struct Outer(io::Error);

    impl std::fmt::Display for Outer {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("\x1bouter")
        }
    }

    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Kept {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    impl Kept {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    #[test]
    fn lines_are_those_of_the_library() {
        let (theirs, ours) = (Kept::default(), Kept::default());
        let subscriber =
            registry().with(fmt::layer().without_time().with_ansi(false).with_writer(theirs.clone())).with(
                fmt::layer()
                    .without_time()
                    .with_ansi(false)
                    .fmt_fields(PlainFields)
                    .with_writer(ours.clone()),
            );
        let odd = "\x1b[31m a\"b\\c 'd' \u{85}ü\n\t\x07";
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: T,
                number = -3,
                unsigned = 7_u64,
                flag = true,
                plain = "word one",
                empty = "",
                "answered"
            );
            tracing::warn!(target: T, text = odd, shown = %odd, kept = ?odd, "an odd {odd}");
            let _entered =
                tracing::info_span!(target: T, "request", request_id = %"a-b", method = "GET", r#type = "x")
                    .entered();
            tracing::error!(target: T, error = %io::Error::other("no"), r#type = odd, "inside");
            let error = Outer(io::Error::other(odd));
            tracing::error!(target: T, error = &error as &dyn std::error::Error, "with its source");
            tracing::info!(target: T, only = 1);
            tracing::info!(target: T, "");
        });
        assert_eq!(ours.text(), theirs.text());
        assert_eq!(
            ours.text().lines().next(),
            Some(" INFO fields: answered number=-3 unsigned=7 flag=true plain=\"word one\" empty=\"\"")
        );
    }
}
