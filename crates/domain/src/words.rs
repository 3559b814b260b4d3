//! Enums with a fixed string per variant, as in the database, in settings or in the API.

/// An enum that [`words!`](crate::words!) declared, for code that is generic over the enum.
pub trait Word: Copy + 'static {
    /// All variants, in the order of their declaration.
    const ALL: &'static [Self];

    /// Returns the string of the variant.
    fn word(self) -> &'static str;

    /// Returns the position of the variant in [`Self::ALL`].
    fn index(self) -> usize;
}

/// Declares an enum with a string per variant, the list of its variants, and conversions in both directions. A variant
/// is written with its documentation and its string: `Small = "small",`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// All variants, in the order of their declaration.
            $vis const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the string of the variant.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Returns the variant with this string; `None` if there is none.
            #[must_use]
            $vis fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl $crate::words::Word for $name {
            const ALL: &'static [Self] = $name::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }

            fn index(self) -> usize {
                self as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
