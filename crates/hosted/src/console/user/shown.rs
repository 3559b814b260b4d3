//! What is known about a user, as the page shows it.

use latchkey_domain::account_limits::HeldLimit;
use latchkey_domain::operator::Act;
use latchkey_domain::profile::Profile;
use latchkey_domain::session::{Session, SessionKind};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_pages::console::views::{
    AccountState, Avatar, ClientShown, FactorRow, IdentityRow, LimitRow, OperatorMark, PublicProfile,
    UserSession, Ways, limit_name,
};
use latchkey_pages::{Address, When};
use latchkey_service::admin::UserFile;
use latchkey_service::providers::KnownProvider;
use serde_json::{Map, Value};
use url::Url;

use super::super::visit::ConsoleVisit;
use super::forms::Forms;

/// Most sessions on the page. The list of sessions has the others.
const SESSIONS: usize = 10;

pub(super) const fn when(at: Timestamp) -> When {
    When(at)
}

pub(in crate::console) const fn state(user: &User) -> AccountState {
    if user.is_banned() {
        AccountState::Banned
    } else if user.is_in_deletion() {
        AccountState::Deletion
    } else if user.is_pending {
        AccountState::Pending
    } else if user.email_verified {
        AccountState::Verified
    } else {
        AccountState::Unverified
    }
}

/// Returns the mark of an operator's account. The reader may change it if the reader is an owner.
pub(super) fn mark(visit: &ConsoleVisit, file: &UserFile) -> Option<OperatorMark> {
    Some(OperatorMark { role: file.role?, is_protected: !visit.may(Act::ChangeOperatorAccounts) })
}

pub(super) fn ways(file: &UserFile, providers: &[KnownProvider], forms: &Forms<'_>) -> Ways {
    let factors = &file.account.factors;
    let named = |key: &str| {
        let known = providers.iter().find(|known| known.key.as_str() == key);
        known.map_or_else(|| key.to_owned(), |known| known.name().to_owned())
    };
    let identities = file.identities.iter().map(|identity| IdentityRow {
        provider: named(&identity.provider),
        email: identity.email.as_ref().map(|email| email.as_typed().to_owned()),
        unlink: forms.unlink(identity),
    });
    let passkeys = factors.passkeys.iter().map(|passkey| FactorRow {
        id: passkey.id,
        name: passkey.name.as_str().to_owned(),
        added: When(passkey.created_at),
        used: passkey.last_used_at.map(When),
    });
    let apps = factors.totp.iter().map(|totp| FactorRow {
        id: totp.id,
        name: totp.name.as_str().to_owned(),
        added: When(totp.created_at),
        used: totp.last_used_at.map(When),
    });
    Ways {
        has_password: file.account.user.has_password,
        two_step: file.account.user.two_step_at.map(When),
        passkeys: passkeys.collect(),
        apps: apps.collect(),
        recovery_codes: factors.recovery_codes_left.into(),
        identities: identities.collect(),
        remove: forms.remove_passkey(),
    }
}

pub(super) fn sessions(file: &UserFile, forms: &Forms<'_>) -> Vec<UserSession> {
    file.sessions.iter().take(SESSIONS).map(|one| session(one, forms)).collect()
}

fn session(session: &Session, forms: &Forms<'_>) -> UserSession {
    let client = &session.client;
    UserSession {
        id: session.id,
        name: session.name.as_ref().map(|name| name.as_str().to_owned()),
        client: ClientShown { device: client.device().into(), address: client.address.to_string() },
        is_pages: session.kind == SessionKind::Pages,
        opened: When(session.created_at),
        last_seen: When(session.last_seen_at),
        end: forms.end_session(),
    }
}

pub(super) fn profile(profile: &Profile) -> PublicProfile {
    PublicProfile {
        username: profile.username.as_ref().map(|username| username.as_str().to_owned()),
        bio: profile.bio.as_ref().map(|bio| bio.as_str().to_owned()),
        avatar: profile.avatar_url.as_ref().and_then(|url| avatar(url.as_str())),
        custom: (!profile.custom.is_empty()).then(|| json(&profile.custom)),
        private: Some(profile.metadata.as_map()).filter(|private| !private.is_empty()).map(json),
    }
}

/// Returns the address of a picture: a link only if it is http or https.
fn avatar(text: &str) -> Option<Avatar> {
    let url = Url::parse(text).ok()?;
    let is_web = ["http", "https"].contains(&url.scheme());
    let href = Address::parse(url.as_str()).filter(|_| is_web);
    Some(Avatar { host: url.host_str()?.to_owned(), href })
}

pub(super) fn limit(held: &HeldLimit) -> LimitRow {
    LimitRow { name: limit_name(held), until: held.until.map(When) }
}

/// Returns a JSON object as text in lines.
pub(super) fn json(object: &Map<String, Value>) -> String {
    format!("{:#}", Value::Object(object.clone()))
}
