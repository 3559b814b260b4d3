//! The macros that declare settings.

/// Declares a group: a struct with one field per setting.
///
/// ```
/// use std::time::Duration;
/// latchkey_settings::settings! {
///     /// Limits.
///     #[derive(Debug)]
///     pub struct Limits {
///         /// The longest time for a request. (This sentence is the documentation of the key.)
///         "server.request_timeout" => request_timeout: Duration = "15s";
///         /// Connections at once.
///         "server.max_connections" => max_connections: usize [1..=1_000_000] = 4096;
///     }
/// }
/// assert_eq!(latchkey_settings::defaults::<Limits>().max_connections, 4096);
/// ```
///
/// A line is `key / field => name: Type kind | read = default;`
/// - `/ field`: an admin may change it at run time; its field in the admin interface.
/// - kind: that of the type (see [`Setting`](crate::Setting)), or `[from..=to]`, `[Kind::…]`, or
///   `{ "word" => Variant, … }`.
/// - `| read`: a function `fn(&mut Reader, &'static str) -> Type`; the kind is then [`Kind::Text`](crate::Kind) unless
///   given.
/// - default: a TOML value; `none, EXAMPLE` for a key without one; `function, EXAMPLE` for one that follows from others.
///
/// `struct Name, patch Patch` declares a second struct beside, in which every field is optional: a partial change.
#[macro_export]
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $name:ident, patch $patch:ident $body:tt) => {
        $crate::settings! { $(#[$meta])* $vis struct $name $body }
        $crate::settings! { @patch $vis $name $patch $body }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $(
        $(#[doc = $doc:literal])* $key:literal $(/ $wire:literal)? => $field:ident : $ty:ty
            $([$($kind:tt)+])? $({$($words:tt)+})? $(| $read:ident)? = $default:tt $(, $example:tt)?;
    )* }) => {
        $(#[$meta])*
        $vis struct $name { $(
            #[doc = concat!("`", $key, "`.")]
            #[doc = ""]
            $(#[doc = $doc])*
            pub $field: $ty,
        )* }

        impl $crate::Group for $name {
            const ITEMS: &'static [$crate::Item] = &[$($crate::Item {
                name: $key,
                field: $crate::settings!(@field $($wire)?),
                kind: $crate::settings!(@kind $ty; [$($($kind)+)?] {$($($words)+)?} ($($read)?)),
                fallback: $crate::settings!(@fallback $default $(, $example)?),
                doc: &[$($doc),*],
            },)*];

            fn read(reader: &mut $crate::Reader<'_>) -> Self {
                Self { $($field: $crate::settings!(@read reader, $key, $ty; {$($($words)+)?} ($($read)?)),)* }
            }
        }
    };
    (@field) => { None };
    (@field $wire:literal) => { Some($wire) };
    (@kind $ty:ty; [] {} ()) => { <$ty as $crate::Setting>::KIND };
    (@kind $ty:ty; [] {} ($read:ident)) => { $crate::Kind::Text };
    (@kind $ty:ty; [] {$($word:literal => $variant:expr),+ $(,)?} ()) => { $crate::Kind::Choice(&[$($word),+]) };
    (@kind $ty:ty; [$from:literal ..= $to:literal] {} ($($read:ident)?)) => {
        $crate::Kind::Integer { from: $from, to: $to }
    };
    (@kind $ty:ty; [$kind:expr] {} ($($read:ident)?)) => { $kind };
    (@fallback none, $example:tt) => { $crate::Fallback::Unset(stringify!($example)) };
    (@fallback $derive:ident, $example:tt) => { $crate::Fallback::Derived($derive, stringify!($example)) };
    (@fallback $default:tt) => { $crate::Fallback::Fixed(stringify!($default)) };
    (@read $reader:ident, $key:literal, $ty:ty; {} ()) => { <$ty as $crate::Setting>::read($reader, $key) };
    (@read $reader:ident, $key:literal, $ty:ty; {} ($read:ident)) => { $read($reader, $key) };
    (@read $reader:ident, $key:literal, $ty:ty; {$($word:literal => $variant:expr),+ $(,)?} ()) => {
        [$(($word, $variant)),+].into_iter().find(|(word, _)| *word == $reader.text($key)).map_or_else(
            || [$($variant),+][0],
            |(_, variant)| variant,
        )
    };
    (@patch $vis:vis $name:ident $patch:ident { $(
        $(#[doc = $doc:literal])* $key:literal / $wire:literal => $field:ident : $ty:ty
            $([$($kind:tt)+])? = $default:tt $(, $example:tt)?;
    )* }) => {
        #[doc = concat!("A change of [`", stringify!($name), "`]: `None` leaves a field as it is.")]
        #[derive(Debug, Clone, Default)]
        $vis struct $patch { $(
            #[doc = concat!("`", $key, "`.")]
            pub $field: Option<$ty>,
        )* }

        impl $patch {
            /// The settings after the change.
            fn over(&self, base: &$name) -> $name {
                $name { $($field: self.$field.as_ref().unwrap_or(&base.$field).clone(),)* }
            }

            /// Takes a key out of the change.
            fn forget(&mut self, key: &str) {
                match key { $($key => self.$field = None,)* _ => {} }
            }

            /// The items that the change names, with their values as they are stored.
            fn named(&self) -> Vec<(&'static $crate::Item, ::serde_json::Value)> {
                let values = [$(self.$field.as_ref().and_then(|value| ::serde_json::to_value(value).ok())),*];
                let items = <$name as $crate::Group>::ITEMS.iter().zip(values);
                items.filter_map(|(item, value)| value.map(|value| (item, value))).collect()
            }

            /// Takes a stored value in; `false` if the key is unknown or the value has another type.
            fn read(&mut self, key: &str, value: &::serde_json::Value) -> bool {
                match key {
                    $($key => {
                        self.$field = ::serde::Deserialize::deserialize(value).ok();
                        self.$field.is_some()
                    })*
                    _ => false,
                }
            }
        }
    };
}

/// Implements [`Words`](crate::Words) for an enum, and reads and shows it: `words!(Mode { Development = "development" })`.
#[macro_export]
macro_rules! words {
    ($ty:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $crate::Words for $ty {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const VARIANTS: &'static [Self] = &[$(Self::$variant),+];
        }

        impl $ty {
            /// The word in settings and on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                $crate::Words::word(self)
            }

            /// Reads the word.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                $crate::Words::from_word(text)
            }
        }
    };
}
