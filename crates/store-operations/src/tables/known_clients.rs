//! Table `known_clients`: clients from which a user signed in recently, and until when each counts as known.
//! A key is derived from an email address and a client's network address.

use latchkey_domain::email::EmailKey;
use latchkey_domain::guess_limits;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::LimitKey;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Results, Script, Slot, statements};

pub const TABLE: Table = Table::new("known_clients", 1, columns! { bytes key, int known_until });

statements! {
    FIND_KNOWN_CLIENT: read find(key: &LimitKey) = "SELECT known_until FROM known_clients WHERE key = $1";
    /// Marks a client as known until `until`, or until the stored time if that is later.
    SAVE_KNOWN_CLIENT: change save(key: &LimitKey, until: Timestamp) = "
    INSERT INTO known_clients AS c (key, known_until) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET known_until = greatest(c.known_until, excluded.known_until)";
    /// Marks a client as known like [`save`], but only if a session with this id exists.
    SAVE_KNOWN_CLIENT_IF_OPENED: change save_if_opened(key: &LimitKey, until: Timestamp, session: SessionId) = "
    INSERT INTO known_clients AS c (key, known_until)
    SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = $3)
    ON CONFLICT (key) DO UPDATE SET known_until = greatest(c.known_until, excluded.known_until)";
}

/// True if the client is known to the account at this time.
pub(crate) fn is_known(results: &Results<'_>, slot: Slot, now: Timestamp) -> StoreResult<bool> {
    let known_until = results.find(slot, |cells| cells.of("known_clients").time("known_until"))?;
    Ok(known_until.is_some_and(|until| now < until))
}

/// Marks the client of a new session as known to the account of this email address, if [`NewSession::known_for`] is
/// set.
pub(crate) fn remember(writes: &mut Script, email: &EmailKey, session: &NewSession) {
    if let Some(known_for) = session.known_for {
        let key = guess_limits::known_client(email, session.client.address);
        save(writes, &key, session.created_at.plus(known_for));
    }
}
