//! The mail templates, one per row of [`latchkey_domain::mail_kinds`]. The texts are in `templates/`.

use latchkey_domain::mail_kind::MailKind;

/// A template file: name and embedded text.
pub(crate) type File = (&'static str, &'static str);

/// The data that a mail requires to be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Code,
    /// A code. A link is optional.
    CodeWithLink,
    Link,
    Event,
    Nothing,
}

/// Files of one mail and the data that they require.
#[derive(Clone, Copy)]
pub struct Template {
    /// Common stem of the three file names.
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    /// File `{name}.subject.txt`.
    pub(crate) subject: File,
    /// File `{name}.txt`.
    pub(crate) text: File,
    /// File `{name}.html`.
    pub(crate) html: File,
}

macro_rules! file {
    ($($name:literal),+) => {
        (concat!($($name),+), include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $($name),+)))
    };
}

macro_rules! template {
    ($need:ident $name:literal) => {
        Template {
            name: $name,
            need: Need::$need,
            subject: file!($name, ".subject.txt"),
            text: file!($name, ".txt"),
            html: file!($name, ".html"),
        }
    };
}

macro_rules! templates {
    ($($(#[$doc:meta])* $kind:ident $name:literal
        [$need:ident $stem:literal $(| $other_need:ident $other_stem:literal)?])*) => {
        impl Template {
            pub const ALL: &[Self] =
                &[$(template!($need $stem), $(template!($other_need $other_stem),)?)*];

            /// Selects the template of a mail kind. Verification and password reset have two: one for a code and one
            /// for a link.
            #[must_use]
            pub const fn of(kind: MailKind, has_code: bool) -> Self {
                match kind {
                    $(MailKind::$kind => {
                        $(if !has_code { return template!($other_need $other_stem); })?
                        template!($need $stem)
                    })*
                }
            }
        }
    };
}

latchkey_domain::mail_kinds!(templates);

/// Files that templates include or extend.
const SHARED: [File; 7] = [
    file!("layout.html"),
    file!("verify_notes.txt"),
    file!("verify_notes.html"),
    file!("reset_notes.txt"),
    file!("reset_notes.html"),
    file!("act.txt"),
    file!("act.html"),
];

/// Iterates over all embedded template files. The operator's folder overrides files by name.
pub(crate) fn files() -> impl Iterator<Item = File> {
    let own = Template::ALL.iter().flat_map(|template| [template.subject, template.text, template.html]);
    SHARED.into_iter().chain(own)
}
