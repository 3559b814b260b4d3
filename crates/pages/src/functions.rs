//! Functions and filters for templates. Most exist once per language. HTML that they return is escaped here.

use std::fmt::Write;
use std::sync::Arc;

use latchkey_domain::time::Timestamp;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

use crate::chart;
use crate::escape::{self, write_text};
use crate::languages::{Catalogue, Piece, pieces};
use crate::message::{AT, SECONDS};
use crate::qr;
use crate::shared::Shared;

type Made = Result<Value, Error>;

/// Adds the functions that do not depend on the language.
pub(crate) fn add_common(environment: &mut Environment<'static>, shared: &Arc<Shared>) {
    let own = Arc::clone(shared);
    environment.add_function("asset", move |name: &str| own.address(name));
    environment
        .add_function("qr", |text: &str, label: &str| qr::svg(text, label).map(Value::from_safe_string));
    environment.add_filter("typed", |text: &str| {
        let mut html = String::with_capacity(text.len());
        let _ = escape::write_typed(&mut html, text);
        Value::from_safe_string(html)
    });
    environment.add_filter("day", day);
    environment.add_filter("initials", initials);
    environment.add_filter("parameters", |here: &str| {
        let query = here.split_once('?').map_or("", |(_, query)| query);
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.map(|(name, value)| vec![name.into_owned(), value.into_owned()]).collect::<Vec<_>>()
    });
    environment.add_filter("with_locale", |path: &str, tag: Option<&str>| match tag {
        Some(tag) if path.contains('?') => format!("{path}&locale={tag}"),
        Some(tag) => format!("{path}?locale={tag}"),
        None => path.to_owned(),
    });
}

/// Returns a function that runs another one with the texts of a language.
fn texts(shared: &Arc<Shared>, index: usize) -> impl Fn(&dyn Fn(&Catalogue) -> Made) -> Made + use<> {
    let shared = Arc::clone(shared);
    move |run| run(shared.languages.all()[index].catalogue())
}

/// Adds the functions that only the console has: short times and days, for tables.
pub(crate) fn add_console(environment: &mut Environment<'static>, shared: &Arc<Shared>) {
    environment.add_function("chart", |days: Vec<Value>, label: &str| -> Made {
        let number = |day: &Value, name| -> Result<u64, Error> {
            Ok(day.get_attr(name)?.as_i64().and_then(|number| u64::try_from(number).ok()).unwrap_or_default())
        };
        let bars = days.iter().map(|day| Ok((number(day, "sign_ins")?, number(day, "failures")?)));
        let bars: Vec<_> = bars.collect::<Result<_, Error>>()?;
        Ok(Value::from_safe_string(chart::bars(&bars, label)))
    });
    environment.add_function("bytes", |bytes: u64| size_in_words(bytes));
    environment.add_filter("with_code", |text: &str| Value::from_safe_string(with_code(text)));
    let with = texts(shared, 0);
    environment.add_function("day", move |at: Value| {
        with(&|words| Ok(words.dated("time.day", stored_time(&at)?).into()))
    });
    let with = texts(shared, 0);
    environment.add_function("when", move |at: Value, now: Value| {
        with(&|words| {
            let (at, now) = (stored_time(&at)?, stored_time(&now)?);
            let short = escape::text(&words.dated("time.short", at));
            let distance = escape::text(&words.distance(at, now));
            let html = format!("<time datetime=\"{at}\" data-short>{short}</time> <small>{distance}</small>");
            Ok(Value::from_safe_string(html))
        })
    });
}

/// Adds the functions of one language.
pub(crate) fn add_words(environment: &mut Environment<'static>, shared: &Arc<Shared>, index: usize) {
    let words = |shared: &Arc<Shared>| texts(shared, index);

    let with = words(shared);
    environment.add_function("t", move |key: &str, kwargs: Kwargs| {
        with(&|words| fill(words, key, &|name| kwargs.get(name).ok(), Form::Text))
    });
    let with = words(shared);
    environment.add_function("rich", move |key: &str, kwargs: Kwargs| {
        with(&|words| fill(words, key, &|name| kwargs.get(name).ok(), Form::Html))
    });
    let with = words(shared);
    environment.add_function("say", move |group: &str, message: Value| {
        let key = message.get_attr("key")?;
        let key = format!("{group}.{}", key.as_str().unwrap_or_default());
        with(&|words| fill(words, &key, &|name| message.get_attr(name).ok(), Form::Html))
    });
    let with = words(shared);
    environment.add_function("number", move |number: u64| with(&|words| Ok(words.number(number).into())));
    let with = words(shared);
    environment.add_function("moment", move |at: Value| {
        with(&|words| Ok(Value::from_safe_string(time_element(words, stored_time(&at)?))))
    });
    let with = words(shared);
    environment.add_function("ago", move |at: Value, now: Value| {
        with(&|words| {
            let (at, now) = (stored_time(&at)?, stored_time(&now)?);
            let distance = escape::text(&words.distance(at, now));
            let time = time_element(words, at);
            Ok(Value::from_safe_string(format!("{distance} <span class=\"at\">({time})</span>")))
        })
    });
    let with = words(shared);
    environment.add_function("device", move |device: Value| with(&|words| device_name(words, &device)));
}

/// Output format of a text whose placeholders are filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Plain text, for attributes and titles too. It is escaped when it is printed.
    Text,
    /// HTML. The values are isolated, so that their writing direction does not affect the text around them.
    Html,
}

/// Returns the text of a key with its placeholders filled. A missing key or value is an error. If the values have the
/// time `now`, the distance to it follows each time in HTML.
fn fill(words: &Catalogue, key: &str, value: &dyn Fn(&str) -> Option<Value>, form: Form) -> Made {
    let text = words.text(key).ok_or_else(|| fault(format!("the languages have no text {key}")))?;
    let now = value("now").and_then(|now| stored_time(&now).ok()).filter(|_| form == Form::Html);
    let count = value("count").and_then(|count| u64::try_from(count.as_i64()?).ok());
    let mut filled = String::new();
    for piece in pieces(text.form(&words.tag, count)) {
        match piece {
            Piece::Literal(literal) if form == Form::Html => filled.push_str(&escape::text(literal)),
            Piece::Literal(literal) => filled.push_str(literal),
            Piece::Placeholder(name) => {
                let value = value(name).filter(|value| !value.is_undefined());
                let value = value.ok_or_else(|| fault(format!("the text {key} needs a value for {name}")))?;
                write_value(words, &mut filled, &value, form)?;
                if let Some(now) = now
                    && let Ok(at) = stored_time(&value)
                {
                    let _ = write!(filled, " ({})", escape::text(&words.distance(at, now)));
                }
            }
        }
    }
    Ok(if form == Form::Html { Value::from_safe_string(filled) } else { filled.into() })
}

fn write_value(words: &Catalogue, filled: &mut String, value: &Value, form: Form) -> Result<(), Error> {
    match value.kind() {
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            if form == Form::Text {
                filled.push_str(text);
            } else {
                filled.push_str("<bdi>");
                write_text(filled, text).map_err(|_| fault("a value cannot be written"))?;
                filled.push_str("</bdi>");
            }
        }
        ValueKind::Number => {
            let number = value.as_i64().and_then(|number| u64::try_from(number).ok());
            filled.push_str(&words.number(number.unwrap_or_default()));
        }
        ValueKind::Map => {
            if let Some(seconds) = value.get_attr(SECONDS)?.as_i64() {
                let seconds = u64::try_from(seconds).unwrap_or_default();
                let duration = words.duration(seconds);
                if form == Form::Text {
                    filled.push_str(&duration);
                } else {
                    let duration = escape::text(&duration);
                    let _ = write!(filled, "<span data-left=\"{seconds}\">{duration}</span>");
                }
            } else if form == Form::Text {
                filled.push_str(&words.moment(stored_time(value)?));
            } else {
                filled.push_str(&time_element(words, stored_time(value)?));
            }
        }
        _ => return Err(fault("a value is neither text nor number, time or duration")),
    }
    Ok(())
}

/// Returns a time in UTC. The script of the pages shows it in the zone of the browser.
fn time_element(words: &Catalogue, at: Timestamp) -> String {
    format!("<time datetime=\"{at}\">{}</time>", escape::text(&words.moment(at)))
}

fn stored_time(value: &Value) -> Result<Timestamp, Error> {
    let millis = value.get_attr(AT)?.as_i64();
    millis.map(Timestamp::from_millis).ok_or_else(|| fault("a value is no point in time"))
}

fn device_name(words: &Catalogue, device: &Value) -> Made {
    let key = match (device.get_attr("browser")?.is_none(), device.get_attr("system")?.is_none()) {
        (false, false) => "device.browser_and_system",
        (false, true) => "device.browser",
        (true, false) => "device.app_on_system",
        (true, true) => "device.unknown",
    };
    fill(words, key, &|name| device.get_attr(name).ok(), Form::Text)
}

/// Returns a number of bytes in the largest unit that fits: `12.3 MiB`.
fn size_in_words(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// Returns text as HTML. What stands between two backticks is code.
fn with_code(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, (code, after))) =
        rest.split_once('`').and_then(|(before, after)| Some((before, after.split_once('`')?)))
    {
        let _ = write!(html, "{}<code>{}</code>", escape::text(before), escape::text(code));
        rest = after;
    }
    html.push_str(&escape::text(rest));
    html
}

/// Returns the first letters of the first and the last word, in capitals.
fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    let first = words.next();
    first.into_iter().chain(words.next_back()).flat_map(char::to_uppercase).collect()
}

/// Returns the day of a typed day or time, as a field of type `date` takes it; empty for other text, about which a
/// browser complains.
fn day(text: &str) -> String {
    Timestamp::parse(text).map(Timestamp::to_date_text).unwrap_or_default()
}

fn fault(detail: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, detail)
}

#[cfg(test)]
mod tests {
    use super::{day, initials, with_code};

    #[test]
    fn initials_are_of_the_first_and_last_word() {
        for (name, expected) in [
            ("Ada Lovelace", "AL"),
            ("ada", "A"),
            ("Juan Carlos de la Cruz", "JC"),
            ("“Quoted” (name)", "QN"),
            ("山田 太郎", "山太"),
            ("", ""),
            ("!!!", ""),
        ] {
            assert_eq!(initials(name), expected);
        }
    }

    #[test]
    fn code_stands_between_two_backticks() {
        for (text, expected) in [
            (
                "`**` is any path, `<b>` no tag.",
                "<code>**</code> is any path, <code>&lt;b&gt;</code> no tag.",
            ),
            ("one ` alone & none", "one ` alone &amp; none"),
            ("", ""),
        ] {
            assert_eq!(with_code(text), expected);
        }
    }

    #[test]
    fn day_of_what_is_not_a_time_is_empty() {
        for (text, expected) in [
            ("2026-03-01", "2026-03-01"),
            ("2026-03-01T23:00:00Z", "2026-03-01"),
            ("2026-02-30", ""),
            ("1.3.2026", ""),
            ("", ""),
        ] {
            assert_eq!(day(text), expected);
        }
    }
}
