//! Groups of settings: a struct whose fields are items.

use std::path::PathBuf;
use std::time::Duration;

use latchkey_domain::limits::Rate;

use crate::item::{Item, Kind};
use crate::problem::Problems;
use crate::reader::Reader;
use crate::secret::Secret;
use crate::source::Source;
use crate::value::{Entries, Entry};

/// A struct of settings, declared by [`settings!`](crate::settings).
pub trait Group: Sized {
    /// The items, in the order of the documentation.
    const ITEMS: &'static [Item];

    /// Reads every field; bad values are reported to the reader.
    fn read(reader: &mut Reader<'_>) -> Self;
}

/// A group, or several groups in one struct.
pub trait Groups: Sized {
    /// The items of each group, in the order of the documentation.
    const GROUPS: &'static [&'static [Item]];

    /// Reads every group.
    fn read_all(reader: &mut Reader<'_>) -> Self;
}

impl<G: Group> Groups for G {
    const GROUPS: &'static [&'static [Item]] = &[G::ITEMS];

    fn read_all(reader: &mut Reader<'_>) -> Self {
        G::read(reader)
    }
}

/// The groups with the fixed default of every item.
#[must_use]
pub fn defaults<G: Groups>() -> G {
    let items = G::GROUPS.iter().copied().flatten();
    let values = items.filter_map(|item| Some((item.name, item.default_value()?)));
    let mut entries: Entries =
        values.map(|(name, value)| (name, Entry { value, source: Source::Default })).collect();
    G::read_all(&mut Reader::new(&mut entries, &mut Problems::default()))
}

/// A type that a field of a group can have.
pub trait Setting: Sized {
    /// The kind of its values, unless the item says another.
    const KIND: Kind;

    /// Takes the value of this key.
    fn read(reader: &mut Reader<'_>, key: &'static str) -> Self;
}

/// An enum whose variants are words of a setting.
pub trait Words: Copy + PartialEq + 'static {
    /// The words.
    const WORDS: &'static [&'static str];
    /// The variants, in the order of the words; the first stands in for a word that is none.
    const VARIANTS: &'static [Self];

    /// The word of this variant.
    fn word(self) -> &'static str {
        let pairs = Self::VARIANTS.iter().zip(Self::WORDS);
        pairs.into_iter().find(|(variant, _)| **variant == self).map_or("", |(_, word)| word)
    }

    /// The variant of this word.
    #[must_use]
    fn from_word(text: &str) -> Option<Self> {
        let pairs = Self::VARIANTS.iter().zip(Self::WORDS);
        pairs.into_iter().find(|(_, word)| **word == text).map(|(variant, _)| *variant)
    }
}

impl<T: Words> Setting for T {
    const KIND: Kind = Kind::Choice(T::WORDS);

    fn read(reader: &mut Reader<'_>, key: &'static str) -> Self {
        T::from_word(reader.text(key)).unwrap_or(T::VARIANTS[0])
    }
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
    // Zero switches it off.
    Option<Duration>: Kind::DurationOrZero, |reader, key| Some(reader.duration(key)).filter(|time| !time.is_zero());
    Rate: Kind::Rate, |reader, key| reader.rate(key);
    Option<Secret>: Kind::Secret, |reader, key| reader.take_secret(key);
    u16: Kind::Integer { from: 0, to: 0xffff }, |reader, key| reader.number(key);
    u32: Kind::Integer { from: 0, to: 0xffff_ffff }, |reader, key| reader.number(key);
    usize: Kind::Integer { from: 0, to: 0xffff_ffff }, |reader, key| reader.number(key);
}
