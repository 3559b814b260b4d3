//! Schemas of values in requests and responses, from which the `OpenAPI` document is generated. Each type defines its
//! own schema beside the code that enforces it.

/// Schema of a text or free-form object, in terms of JSON Schema 2020-12. Lengths are in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Description of the value: one or two sentences in `CommonMark`.
    pub about: &'static str,
    /// Example of a valid value: the text itself, or the object as JSON text.
    pub example: &'static str,
    /// True for an object with any keys and values; false for a text.
    pub is_object: bool,
    /// Minimum length; `None` for no minimum.
    pub min_length: Option<usize>,
    /// Maximum length; `None` for no maximum.
    pub max_length: Option<usize>,
    /// Regular expression (ECMA-262) that every value matches; `None` for any text.
    pub pattern: Option<&'static str>,
    /// Format name of JSON Schema or `OpenAPI`, such as `email` or `uuid`; `None` without a format.
    pub format: Option<&'static str>,
}

impl Shape {
    /// Pattern of a text without U+0000, which no text in a request may contain.
    pub const NO_NUL: &'static str = "^[^\\u0000]*$";

    /// Creates the schema of a text without bounds.
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

    /// Creates the schema of an object with any keys and values. The example is JSON text.
    #[must_use]
    pub const fn object(about: &'static str, example: &'static str) -> Self {
        Self { is_object: true, ..Self::new(about, example) }
    }

    /// Returns the same schema with another description.
    #[must_use]
    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

/// A type with a schema for requests and responses.
pub trait Shaped {
    /// Schema of the value in requests.
    const SENT: Shape;
    /// Schema of the value in responses.
    const SHOWN: Shape = Self::SENT;
}
