//! The mail templates, by kind of mail ([`latchkey_domain::mail_kinds`]), and their embedded texts in
//! `texts/`: one file per mail and language.

use latchkey_domain::mail_kind::MailKind;

/// Data that a mail needs to be rendered, besides the action that it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Code,
    /// A code. A link is optional.
    CodeWithLink,
    Link,
    /// Neither code nor link.
    Nothing,
}

impl Need {
    pub(crate) const fn has_code(self) -> bool {
        matches!(self, Self::Code | Self::CodeWithLink)
    }

    pub(crate) const fn may_have_link(self) -> bool {
        matches!(self, Self::CodeWithLink | Self::Link)
    }
}

/// A mail template: the common name of its files, without ending, and the data that they need.
#[derive(Clone, Copy)]
pub struct Template {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
}

/// The embedded languages. In the operator's folder, files of the first one are not in a folder of their own.
pub(crate) const LANGUAGES: [&str; 8] = ["en", "de", "fr", "es", "it", "pt", "ja", "zh"];

/// A Markdown file of each language: its name without ending, and its content in each of [`LANGUAGES`].
type Text = (&'static str, [&'static str; LANGUAGES.len()]);

macro_rules! text {
    ($name:literal) => {
        text!($name "en" "de" "fr" "es" "it" "pt" "ja" "zh")
    };
    ($name:literal $($language:literal)+) => {
        ($name, [$(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/texts/", $language, "/", $name, ".md"))),+])
    };
}

macro_rules! template {
    ($need:ident $name:literal) => {
        Template { name: $name, need: Need::$need }
    };
}

macro_rules! templates {
    ($($(#[$doc:meta])* $kind:ident $name:literal
        [$need:ident $stem:literal $(| $other_need:ident $other_stem:literal)?])*) => {
        impl Template {
            pub const ALL: &[Self] =
                &[$(template!($need $stem), $(template!($other_need $other_stem),)?)*];

            /// Returns the name that the template's files share, without ending, for example `verify_code`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                self.name
            }

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

        /// The texts of the mails. A missing translation does not compile.
        const MAILS: &[Text] = &[$(text!($stem), $(text!($other_stem),)?)*];
    };
}

latchkey_domain::mail_kinds!(templates);

/// Name, without ending, of the file that holds the phrases (short texts that mails share), one per line.
pub(crate) const WORDS: &str = "words";
/// Texts that are not mails of their own: the phrases, and passages that several mails include.
const SHARED: &[Text] =
    &[text!("words"), text!("act"), text!("asked"), text!("verify_notes"), text!("reset_notes")];
/// The HTML page around the content of a mail, the same for all languages.
pub(crate) const LAYOUT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/texts/layout.html"));

/// Returns the embedded source of a text; `None` for an unknown name or language.
pub(crate) fn embedded(language: &str, name: &str) -> Option<&'static str> {
    let at = LANGUAGES.iter().position(|known| *known == language)?;
    MAILS.iter().chain(SHARED).find(|(known, _)| *known == name).map(|(_, sources)| sources[at])
}

/// Iterates over the file names, without ending, of all texts: those of mails, then those of shared texts.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MAILS.iter().chain(SHARED).map(|(name, _)| *name)
}

/// True for the name of a mail, false for that of a shared text.
pub(crate) fn is_mail(name: &str) -> bool {
    MAILS.iter().any(|(mail, _)| *mail == name)
}
