//! The data that every page of the console shows besides its own.

use serde::Serialize;

use super::message::{Notice, Problem};
use super::views::word;
use crate::frame::{Ending, Form};
use crate::message::When;
use latchkey_domain::operator::{Act, Role};

/// Data of the instance, the same on every page.
#[derive(Debug, Clone, Serialize)]
pub struct Instance {
    /// Name of the service (`server.service_name`).
    pub name: String,
    pub mode: Mode,
    pub version: String,
}

/// Mode of the instance (`server.mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Development,
    Production,
}

/// Data of one page that its layout shows.
#[derive(Debug, Clone, Serialize)]
pub struct Frame {
    /// The time of the response.
    pub now: When,
    /// The signed-in operator; `None` on the pages before the sign-in, which show neither navigation nor version.
    pub operator: Option<Operator>,
    /// The place of the navigation that the page belongs to.
    pub place: Option<Place>,
    /// Pages between the overview and this one, the outermost first.
    pub crumbs: Vec<Crumb>,
    pub notice: Option<Notice>,
    /// Errors for which the submitted form was refused, in the order of the form's fields.
    pub problems: Vec<Problem>,
    /// The end of the session, if the page must announce it.
    pub ending: Option<Ending>,
}

impl Frame {
    /// Creates the data of a page without notice and refusals, before the sign-in.
    #[must_use]
    pub const fn new(now: When) -> Self {
        Self {
            now,
            operator: None,
            place: None,
            crumbs: Vec::new(),
            notice: None,
            problems: Vec::new(),
            ending: None,
        }
    }
}

/// The signed-in operator.
#[derive(Debug, Clone, Serialize)]
pub struct Operator {
    /// Name of the profile, or else the email address.
    pub name: String,
    #[serde(serialize_with = "word")]
    pub role: Role,
    /// Pages that the role may open, in the order of the navigation.
    pub places: Vec<Place>,
    /// Form that ends the console session.
    pub sign_out: Form,
}

/// A page above the current one.
#[derive(Debug, Clone, Serialize)]
pub struct Crumb {
    /// Text of the link: a key of the words for a place, or a name.
    pub text: CrumbText,
    pub href: String,
}

/// Text of a link to a page above.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CrumbText {
    Place(Place),
    /// Email address or name of a user.
    Name(String),
}

macro_rules! places {
    ($($(#[$doc:meta])* $place:ident $key:literal $path:literal $group:literal)+) => {
        /// A place of the navigation, in its order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Place { $($(#[$doc])* $place,)+ }

        impl Place {
            /// All places, in the order of the navigation.
            pub const ALL: &[Self] = &[$(Self::$place,)+];

            /// Returns key, path and group: the first place of a group has the name of the group.
            const fn row(self) -> (&'static str, &'static str, &'static str) {
                match self { $(Self::$place => ($key, $path, $group),)+ }
            }
        }
    };
}

// Webhooks, hooks, API keys and invitations are a line each when their pages come.
places! {
    Overview "overview" "/console" ""
    Users "users" "/console/users" "people"
    Sessions "sessions" "/console/sessions" ""
    Mails "mails" "/console/mails" ""
    Import "import" "/console/import" ""
    Audit "audit" "/console/audit" "service"
    System "system" "/console/system" ""
    Export "export" "/console/export" ""
    Providers "providers" "/console/providers" "configuration"
    Settings "settings" "/console/settings" ""
    Signing "signing" "/console/signing" ""
    Operators "operators" "/console/operators" ""
}

impl Place {
    /// Returns what an operator must be permitted to do to open the page.
    #[must_use]
    pub const fn act(self) -> Act {
        match self {
            Self::Overview | Self::System => Act::ReadNumbers,
            Self::Users => Act::ReadUsers,
            Self::Sessions => Act::ReadSessions,
            Self::Mails => Act::ReadDeliveries,
            Self::Import => Act::Import,
            Self::Export => Act::ExportAll,
            Self::Audit => Act::ReadAudit,
            Self::Providers => Act::ManageProviders,
            Self::Settings => Act::ChangeSettings,
            Self::Signing => Act::RotateKeys,
            Self::Operators => Act::ManageOperators,
        }
    }

    /// Returns the path of the page.
    #[must_use]
    pub const fn path(self) -> &'static str {
        self.row().1
    }
}

impl Serialize for Place {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown {
            key: &'static str,
            path: &'static str,
            group: &'static str,
        }
        let (key, path, group) = self.row();
        Shown { key, path, group }.serialize(serializer)
    }
}
