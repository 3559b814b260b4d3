//! The table `identities`.

use latchkey_domain::email::Email;
use latchkey_domain::identity::ProvenIdentity;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{LinkedIdentity, StoreResult};

use crate::form::{Cells, Results, Script, Slot, Value, statements, values};
use crate::tables::profiles::profile_columns;
use crate::tables::users::{account_columns, account_tables};

/// Most identities of a user that are listed.
const LISTED: u32 = 1_000;

/// The account that an identity is about: the one that it is linked to, else the one of its address.
macro_rules! concerned {
    () => {
        "coalesce((SELECT user_id FROM identities WHERE provider = $1 AND subject = $2),
            (SELECT id FROM users WHERE email_key = $3))"
    };
}

statements! {
    LOCK_CONCERNED = concat!("SELECT id FROM users WHERE id = ", concerned!(), " FOR NO KEY UPDATE");
    FIND_CONCERNED = concat!(
        "SELECT EXISTS (SELECT 1 FROM identities AS k WHERE k.provider = $1 AND k.subject = $2), ",
        account_columns!(),
        " FROM ",
        account_tables!(),
        " WHERE u.id = ",
        concerned!()
    );
    FIND_CONCERNED_PROFILE =
        concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = ", concerned!());
    FIND_OWNER = "SELECT user_id FROM identities WHERE provider = $1 AND subject = $2";
    LINK = "
    INSERT INTO identities (provider, issuer, subject, user_id, created_at, email)
    VALUES ($1, '?', $2, $3, $4, $5)";
    UNLINK = "DELETE FROM identities WHERE provider = $1 AND subject = $2 AND user_id = $3";
    DELETE_ALL_OF = "DELETE FROM identities WHERE user_id = $1";
    LIST = "
    SELECT provider, subject, email, created_at FROM identities WHERE user_id = $1
    ORDER BY created_at, provider, subject LIMIT $2";
}

fn named(identity: &ProvenIdentity) -> Vec<Value> {
    values![identity.provider.as_str(), identity.subject.as_str()]
}

fn concerned(identity: &ProvenIdentity) -> Vec<Value> {
    let mut values = named(identity);
    values.push(Value::from(identity.email.as_ref().map(|email| email.key().as_str())));
    values
}

/// Locks the account that an identity is about.
pub(crate) fn lock_concerned(script: &mut Script, identity: &ProvenIdentity) -> Slot {
    script.read(&LOCK_CONCERNED, concerned(identity))
}

/// Reads a flag and the `account_columns!` of the account that an identity is about. The flag tells whether the identity
/// is linked.
pub(crate) fn find_concerned(script: &mut Script, identity: &ProvenIdentity) -> Slot {
    script.read(&FIND_CONCERNED, concerned(identity))
}

/// Reads the `profile_columns!` of the account that an identity is about.
pub(crate) fn find_concerned_profile(script: &mut Script, identity: &ProvenIdentity) -> Slot {
    script.read(&FIND_CONCERNED_PROFILE, concerned(identity))
}

/// Reads the owner of an identity.
pub(crate) fn find_owner(script: &mut Script, identity: &ProvenIdentity) -> Slot {
    script.read(&FIND_OWNER, named(identity))
}

/// The owner that [`find_owner`] found.
pub(crate) fn owner(results: &Results<'_>, slot: Slot) -> StoreResult<Option<UserId>> {
    results.find(slot, |cells| cells.of("identities").id("user_id"))
}

/// Writes a new identity of a user.
pub(crate) fn insert(script: &mut Script, user_id: UserId, identity: &ProvenIdentity, now: Timestamp) {
    let mut values = named(identity);
    values.extend(values![user_id, now, identity.email.as_ref().map(Email::as_typed)]);
    script.change(&LINK, values);
}

/// Deletes one identity of a user.
pub(crate) fn delete(script: &mut Script, user_id: UserId, identity: LinkedIdentity) {
    script.change(&UNLINK, values![identity.provider, identity.subject, user_id]);
}

/// Deletes all identities of a user.
pub(crate) fn delete_all_of(script: &mut Script, user_id: UserId) {
    script.change(&DELETE_ALL_OF, values![user_id]);
}

/// Reads the identities of a user, oldest first.
pub(crate) fn list_of(script: &mut Script, user_id: UserId) -> Slot {
    script.read(&LIST, values![user_id, LISTED])
}

/// Reads a row of [`list_of`].
pub(crate) fn read_linked(cells: &mut Cells<'_>) -> StoreResult<LinkedIdentity> {
    cells.of("identities");
    Ok(LinkedIdentity {
        provider: cells.text("provider")?.to_owned(),
        subject: cells.text("subject")?.to_owned(),
        email: cells.maybe_email("email")?,
        created_at: cells.time("created_at")?,
    })
}
