//! Table `identities`: identities of external providers that are linked to accounts.

use latchkey_domain::email::Email;
use latchkey_domain::identity::{Issuer, LegacyIdentities, ProviderKey, VerifiedIdentity};
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{LinkedIdentity, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, Value, statements, values};
use crate::tables::profiles::profile_columns;
use crate::tables::users::{account_columns, account_tables};

const LISTED: u32 = 1_000;

/// Query for columns of the identity with provider `$1`, subject `$4`, and `$2` or `$3` as issuer. `$2` is
/// preferred.
macro_rules! linked {
    ($asked:literal) => {
        concat!(
            "SELECT ",
            $asked,
            " FROM identities AS k WHERE k.provider = $1 AND k.issuer IN ($2, $3) AND k.subject = $4
            ORDER BY k.issuer = $2 DESC LIMIT 1"
        )
    };
}

/// Expression for the id of the user of an identity: the user that the identity is linked to, or else the user with the
/// identity's email address.
macro_rules! concerned {
    () => {
        concat!(
            "coalesce((",
            linked!("k.user_id"),
            "),
            (SELECT id FROM users WHERE email_key = $5))"
        )
    };
}

pub const TABLE: Table = Table::new(
    "identities",
    3,
    columns! {
        text provider, text issuer, text subject, id user_id, int created_at, text email, text vouched_email_key
    },
);

statements! {
    LOCK_CONCERNED = concat!("SELECT id FROM users WHERE id = ", concerned!(), " FOR NO KEY UPDATE");
    FIND_CONCERNED = concat!(
        "SELECT (",
        linked!("k.issuer"),
        "), ",
        account_columns!(),
        " FROM ",
        account_tables!(),
        " WHERE u.id = ",
        concerned!()
    );
    FIND_CONCERNED_PROFILE =
        concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = ", concerned!());
    FIND_OWNER = linked!("k.user_id, k.issuer");
    LINK = "
    INSERT INTO identities (provider, issuer, subject, user_id, created_at, email, vouched_email_key)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
    TAKE_ISSUER = "UPDATE identities SET issuer = $2 WHERE provider = $1 AND issuer = $3 AND subject = $4";
    /// Sets the issuer of a provider's identities that were stored without one.
    SETTLE: change settle(provider: &ProviderKey, issuer: &Issuer)
        [provider.as_str(), issuer.as_str(), Issuer::unknown().as_str()] = "
    UPDATE identities SET issuer = $2 WHERE provider = $1 AND issuer = $3
        AND NOT EXISTS (SELECT 1 FROM identities AS k
            WHERE k.provider = $1 AND k.issuer = $2 AND k.subject = identities.subject)";
    SAVE_EMAIL = "
    UPDATE identities SET email = $4, vouched_email_key = $5
    WHERE provider = $1 AND issuer = $2 AND subject = $3
        AND (email IS DISTINCT FROM $4 OR vouched_email_key IS DISTINCT FROM $5)";
    UNLINK = "
    DELETE FROM identities WHERE provider = $1 AND issuer = $2 AND subject = $3 AND user_id = $4";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM identities WHERE user_id = $1";
    DELETE_LINKED_SINCE: change delete_linked_since(user_id: UserId, since: Timestamp) =
        "DELETE FROM identities WHERE user_id = $1 AND created_at >= $2";
    /// Deletes the identities of a user, except those whose provider verified the user's current email address.
    DELETE_STRANGE: change delete_strange(user_id: UserId) = "
    DELETE FROM identities WHERE user_id = $1
        AND vouched_email_key IS DISTINCT FROM (SELECT email_key FROM users WHERE id = $1)";
    /// Reads the identities of a user, oldest first.
    LIST: read list_of(user_id: UserId) [user_id, LISTED] = "
    SELECT provider, issuer, subject, email, created_at FROM identities WHERE user_id = $1
    ORDER BY created_at, provider, issuer, subject LIMIT $2";
}

/// An identity to look up, and how to treat identities that earlier releases stored without an issuer.
#[derive(Clone, Copy)]
pub(crate) struct Sought<'a> {
    pub(crate) identity: &'a VerifiedIdentity,
    pub(crate) earlier: LegacyIdentities,
}

pub(crate) struct Owned {
    pub(crate) owner: UserId,
    pub(crate) issuer: Issuer,
}

impl Sought<'_> {
    fn named(self) -> Vec<Value> {
        let VerifiedIdentity { provider, issuer, subject, .. } = self.identity;
        let beside = self.earlier.issuer_beside(issuer);
        values![provider.as_str(), issuer.as_str(), beside.as_str(), subject.as_str()]
    }

    fn concerned(self) -> Vec<Value> {
        let mut values = self.named();
        values.push(Value::from(self.identity.email.as_ref().map(|email| email.key().as_str())));
        values
    }
}

pub(crate) fn lock_concerned(script: &mut Script, sought: Sought<'_>) -> Slot {
    script.read(&LOCK_CONCERNED, sought.concerned())
}

/// Reads the account of an identity: the account that the identity is linked to, or else the account with the
/// identity's email address. The first column is the stored issuer, null if the identity is not linked; the others are
/// those of `account_columns!`.
pub(crate) fn find_concerned(script: &mut Script, sought: Sought<'_>) -> Slot {
    script.read(&FIND_CONCERNED, sought.concerned())
}

/// Reads the profile of the same account as [`find_concerned`]: the `profile_columns!`.
pub(crate) fn find_concerned_profile(script: &mut Script, sought: Sought<'_>) -> Slot {
    script.read(&FIND_CONCERNED_PROFILE, sought.concerned())
}

pub(crate) fn find_owner(script: &mut Script, sought: Sought<'_>) -> Slot {
    script.read(&FIND_OWNER, sought.named())
}

pub(crate) fn owner(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Owned>> {
    results.find(slot, |cells| {
        cells.of("identities");
        let owner = cells.id("user_id")?;
        Ok(Owned { owner, issuer: Issuer::from_stored(cells.text("issuer")?.to_owned()) })
    })
}

pub(crate) fn insert(script: &mut Script, user_id: UserId, identity: &VerifiedIdentity, now: Timestamp) {
    let mut values = key_of(identity);
    values.extend(values![user_id, now]);
    values.extend(emails(identity));
    script.change(&LINK, values);
}

/// Sets the issuer of an identity that was stored without one.
pub(crate) fn take_issuer(script: &mut Script, identity: &VerifiedIdentity) {
    let VerifiedIdentity { provider, issuer, subject, .. } = identity;
    let unknown = Issuer::unknown();
    let values = values![provider.as_str(), issuer.as_str(), unknown.as_str(), subject.as_str()];
    script.change(&TAKE_ISSUER, values);
}

/// Updates the stored email address of an identity to the one that the provider asserts, if any.
pub(crate) fn save_email(script: &mut Script, identity: &VerifiedIdentity) {
    if identity.email.is_some() {
        let mut values = key_of(identity);
        values.extend(emails(identity));
        script.change(&SAVE_EMAIL, values);
    }
}

fn key_of(identity: &VerifiedIdentity) -> Vec<Value> {
    let VerifiedIdentity { provider, issuer, subject, .. } = identity;
    values![provider.as_str(), issuer.as_str(), subject.as_str()]
}

fn emails(identity: &VerifiedIdentity) -> Vec<Value> {
    let vouched = identity.verified_email().map(|email| email.key().as_str());
    values![identity.email.as_ref().map(Email::as_typed), vouched]
}

pub(crate) fn delete(script: &mut Script, user_id: UserId, identity: LinkedIdentity) {
    let LinkedIdentity { provider, issuer, subject, .. } = identity;
    script.change(&UNLINK, values![provider, issuer.as_str(), subject, user_id]);
}

pub(crate) fn read_linked(cells: &mut Cells<'_>) -> StoreResult<LinkedIdentity> {
    cells.of("identities");
    Ok(LinkedIdentity {
        provider: cells.text("provider")?.to_owned(),
        issuer: Issuer::from_stored(cells.text("issuer")?.to_owned()),
        subject: cells.text("subject")?.to_owned(),
        email: cells.maybe_email("email")?,
        created_at: cells.time("created_at")?,
    })
}
