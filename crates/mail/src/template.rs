//! Templates of the mails, from the rows of [`latchkey_domain::mail_kinds`]. The texts are in `templates/`.

use latchkey_domain::mail_kind::MailKind;

/// A template file: name and embedded text.
pub(crate) type File = (&'static str, &'static str);

/// Required data of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Code,
    Link,
    Event,
    Nothing,
}

/// Template of a mail.
#[derive(Clone, Copy)]
pub struct Template {
    /// Stem of the three files.
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    /// `{name}.subject.txt`
    pub(crate) subject: File,
    /// `{name}.txt`
    pub(crate) text: File,
    /// `{name}.html`
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

            /// Template of a kind, for a payload with or without a code.
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

/// All embedded files. The operator's folder overrides them by name.
pub(crate) fn files() -> impl Iterator<Item = File> {
    let own = Template::ALL.iter().flat_map(|template| [template.subject, template.text, template.html]);
    SHARED.into_iter().chain(own)
}
