//! The groups of operations, in the order of the document.

use utoipa::openapi::Tag as OpenApiTag;
use utoipa::openapi::tag::TagBuilder;

/// A group of operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// Sign-up, sign-in, sessions.
    Accounts,
    /// Verification and password reset by mail.
    Email,
    /// Identity providers.
    Identities,
    /// Profiles.
    Profiles,
    /// Users, settings, audit.
    Admin,
    /// What machines ask.
    Service,
}

impl Tag {
    const ALL: [Self; 6] =
        [Self::Accounts, Self::Email, Self::Identities, Self::Profiles, Self::Admin, Self::Service];

    /// The name of the group.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Accounts => "Accounts and sessions",
            Self::Email => "Email verification and password reset",
            Self::Identities => "Identity providers",
            Self::Profiles => "Profiles",
            Self::Admin => "Administration",
            Self::Service => "Service",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Accounts => "Sign-up, sign-in, refresh, sign-out, and one's own sessions and password.",
            Self::Email => {
                "Codes and links that prove a mailbox. Known and unknown addresses are answered alike."
            }
            Self::Identities => "Sign-in through providers, and one's own identities there.",
            Self::Profiles => "One's own profile, those of others, and the search over them.",
            Self::Admin => {
                "Users, settings, identity providers and the audit trail, with an admin key. A key or parameter that a \
                 call does not know is refused by name; a PUT or PATCH takes all that the GET shows, and ignores what is \
                 read-only there."
            }
            Self::Service => "Public settings, keys, health, and this document.",
        }
    }
}

/// All groups.
pub(super) fn all() -> impl Iterator<Item = OpenApiTag> {
    let tag = |tag: Tag| TagBuilder::new().name(tag.name()).description(Some(tag.description())).build();
    Tag::ALL.into_iter().map(tag)
}
