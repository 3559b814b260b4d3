//! Macros that declare groups of settings.

/// Declares a group: a struct with one field per setting.
///
/// ```
/// use std::time::Duration;
/// latchkey_settings::settings! {
///     /// Limits.
///     #[derive(Debug)]
///     pub struct Limits {
///         /// Timeout of a request. (This sentence is the documentation of the key.)
///         "server.request_timeout" => request_timeout: Duration = "15s";
///         /// Maximum number of open connections.
///         "server.max_connections" => max_connections: usize [1..=1_000_000] = 4096;
///     }
/// }
/// assert_eq!(latchkey_settings::defaults::<Limits>().max_connections, 4096);
/// ```
///
/// An item has the form `key / field => name: Type kind | read = default;`
/// - `/ field` (optional): an admin may change the setting at run time, under this field name in the admin API.
/// - `kind` (optional): `[from..=to]`, `[Kind::…]`, or `{ "word" => Variant, … }`. Without it, the type determines the
///   kind (see [`Setting`](crate::Setting)).
/// - `| read` (optional): a function `fn(&mut Reader, &'static str) -> Type` that reads the value. The kind is then
///   [`Kind::Text`](crate::Kind) unless given.
/// - `default`: a TOML value; `none, EXAMPLE` if the setting has none; `function, EXAMPLE` if it is computed from other
///   settings. The example appears in the documentation.
///
/// `struct Name, patch Patch` also declares `Patch`, a struct for partial changes, in which every field is optional.
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
            /// Returns a copy of `base` with the change applied.
            fn over(&self, base: &$name) -> $name {
                $name { $($field: self.$field.as_ref().unwrap_or(&base.$field).clone(),)* }
            }

            /// Returns the change that sets every field to its value in `base`.
            fn of(base: &$name) -> Self {
                Self { $($field: Some(base.$field.clone()),)* }
            }

            /// Removes a key from the change.
            fn forget(&mut self, key: &str) {
                match key { $($key => self.$field = None,)* _ => {} }
            }

            /// Returns the changed items, each with its value in the form that the database stores.
            fn named(&self) -> Vec<(&'static $crate::Item, ::serde_json::Value)> {
                let values = [$(self.$field.as_ref().and_then(|value| ::serde_json::to_value(value).ok())),*];
                let items = <$name as $crate::Group>::ITEMS.iter().zip(values);
                items.filter_map(|(item, value)| value.map(|value| (item, value))).collect()
            }

            /// Sets the field of a key to a value from the database. Returns `false` if the key is unknown or the value
            /// has the wrong type.
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

/// Declares an enum as [`latchkey_domain::words!`] does, and makes it the type of a setting.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        ::latchkey_domain::words! {
            $(#[$meta])*
            $vis enum $name { $($(#[$doc])* $variant = $word,)+ }
        }

        impl $crate::Setting for $name {
            const KIND: $crate::Kind = $crate::Kind::Choice(&[$($word),+]);

            fn read(reader: &mut $crate::Reader<'_>, key: &'static str) -> Self {
                Self::parse(reader.text(key)).unwrap_or(Self::ALL[0])
            }
        }
    };
}
