//! Groups of settings: structs whose fields are declared as items.

use std::path::PathBuf;
use std::time::Duration;

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::limits::Rate;

use crate::item::{Item, Kind};
use crate::problem::Problems;
use crate::reader::Reader;
use crate::secret::Secret;
use crate::source::Source;
use crate::value::{Entries, Entry};

/// Struct of settings, one field per item. Declared by [`settings!`](crate::settings).
pub trait Group: Sized {
    /// Items of the fields, in the order of the documentation.
    const ITEMS: &'static [Item];

    /// Reads all fields. Bad values are reported to the reader.
    fn read(reader: &mut Reader<'_>) -> Self;
}

/// Struct of settings: a single group, or a struct whose fields are groups.
pub trait Groups: Sized {
    /// Items of each group, in the order of the documentation.
    const GROUPS: &'static [&'static [Item]];

    /// Reads all fields of all groups.
    fn read_all(reader: &mut Reader<'_>) -> Self;
}

impl<G: Group> Groups for G {
    const GROUPS: &'static [&'static [Item]] = &[G::ITEMS];

    fn read_all(reader: &mut Reader<'_>) -> Self {
        G::read(reader)
    }
}

/// Makes a group, or several in one struct, in which every item has its fixed default.
#[must_use]
pub fn defaults<G: Groups>() -> G {
    let items = G::GROUPS.iter().copied().flatten();
    let values = items.filter_map(|item| Some((item.name, item.default_value()?)));
    let mut entries: Entries =
        values.map(|(name, value)| (name, Entry { value, source: Source::Default })).collect();
    G::read_all(&mut Reader::new(&mut entries, &mut Problems::default()))
}

/// A type that a field of a group of settings can have.
pub trait Setting: Sized {
    /// Kind of the values, unless the item declares another.
    const KIND: Kind;

    /// Reads the value of a key and converts it to this type.
    fn read(reader: &mut Reader<'_>, key: &'static str) -> Self;
}

macro_rules! plain_settings {
    ($($ty:ty: $kind:expr, $read:expr;)*) => { $(
        impl Setting for $ty {
            const KIND: Kind = $kind;

            fn read(reader: &mut Reader<'_>, key: &'static str) -> Self {
                let read: fn(&mut Reader<'_>, &'static str) -> Self = $read;
                read(reader, key)
            }
        }
    )* };
}

plain_settings! {
    bool: Kind::Boolean, |reader, key| reader.flag(key);
    String: Kind::Text, |reader, key| reader.text(key).to_owned();
    Option<String>: Kind::Text, |reader, key| reader.optional_text(key);
    PathBuf: Kind::Text, |reader, key| reader.text(key).into();
    Option<PathBuf>: Kind::Text, |reader, key| reader.optional_text(key).map(PathBuf::from);
    Vec<String>: Kind::List, |reader, key| reader.list(key);
    Duration: Kind::Duration, |reader, key| reader.duration(key);
    // A zero duration means "off" and reads as `None`.
    Option<Duration>: Kind::DurationOrZero, |reader, key| Some(reader.duration(key)).filter(|time| !time.is_zero());
    Rate: Kind::Rate, |reader, key| reader.rate(key);
    Option<Secret>: Kind::Secret, |reader, key| reader.take_secret(key);
    f64: Kind::Share, |reader, key| reader.text(key).parse().unwrap_or_default();
    u16: Kind::Integer { from: 0, to: 0xffff }, |reader, key| reader.number(key);
    u32: Kind::Integer { from: 0, to: 0xffff_ffff }, |reader, key| reader.number(key);
    // This enum of the domain is listed here; enums of other crates become settings by `words!` of
    // this crate.
    SecondFactorPolicy: Kind::Choice(&["off", "optional", "required"]), |reader, key| {
        SecondFactorPolicy::parse(reader.text(key)).unwrap_or(SecondFactorPolicy::Optional)
    };
    usize: Kind::Integer { from: 0, to: 0xffff_ffff }, |reader, key| reader.number(key);
}
