//! Forms of values on the wire as plain data, for the description of the interface. Each type states its own form beside
//! the code that enforces it.

/// The form of a text, or of an object, in the words of JSON Schema 2020-12. Lengths count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// One or two sentences about the value, in `CommonMark`.
    pub about: &'static str,
    /// A valid value: the text itself, or the object as JSON.
    pub example: &'static str,
    /// Is true for an object with any keys and values.
    pub is_object: bool,
    /// The least length.
    pub min_length: Option<usize>,
    /// The greatest length.
    pub max_length: Option<usize>,
    /// A regular expression of ECMA-262 that every value matches.
    pub pattern: Option<&'static str>,
    /// A format such as `email` or `uuid`.
    pub format: Option<&'static str>,
}

impl Shape {
    /// The pattern of a text without U+0000, which no text of a request may have.
    pub const NO_NUL: &'static str = "^[^\\u0000]*$";

    /// A text without bounds.
    #[must_use]
    pub const fn new(about: &'static str, example: &'static str) -> Self {
        Self {
            about,
            example,
            is_object: false,
            min_length: None,
            max_length: None,
            pattern: None,
            format: None,
        }
    }

    /// A free object, with an example in JSON.
    #[must_use]
    pub const fn object(about: &'static str, example: &'static str) -> Self {
        Self { is_object: true, ..Self::new(about, example) }
    }

    /// The same form with other words.
    #[must_use]
    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

/// A type with a form on the wire.
pub trait Shaped {
    /// The form that requests may send.
    const SENT: Shape;
    /// The form that responses show.
    const SHOWN: Shape = Self::SENT;
}
