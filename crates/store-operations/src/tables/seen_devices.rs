//! Table `seen_devices`: devices, each together with its network, from which an account was used in the last
//! 90 days. The owner gets a mail about a sign-in from another one.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::seen_device::SeenDevice;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;

use super::{outbox, users};
use crate::bulk::{Table, columns};
use crate::form::{Script, statements};

pub const TABLE: Table = Table::new("seen_devices", 2, columns! { id user_id, text device, int seen_at });

statements! {
    /// Stores the time at which an account was used from a device, if the session exists.
    SAVE_SEEN: change save(user_id: UserId, session: SessionId, device: &SeenDevice, now: Timestamp)
        [user_id, session, device.as_str(), now] = "
    INSERT INTO seen_devices (user_id, device, seen_at)
    SELECT $1, $3, $4 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = $2)
    ON CONFLICT (user_id, device) DO UPDATE SET seen_at = excluded.seen_at";
    /// Reads the time of the last use of the account with an address.
    FIND_LAST: read find_last(email: &EmailKey) = "
    SELECT max(d.seen_at) FROM users AS u JOIN seen_devices AS d ON d.user_id = u.id WHERE u.email_key = $1";
    DELETE_SEEN: change delete_all_of(user_id: UserId) = "DELETE FROM seen_devices WHERE user_id = $1";
}

/// Stores the device of a session that was just opened. If the device is new, writes the mail about it, if
/// the owner is to get one. Does nothing if the session does not exist. The transaction must hold the lock on
/// the user's row.
pub(crate) fn meet(writes: &mut Script, user_id: UserId, session: &NewSession) {
    let device = SeenDevice::of(&session.client);
    if let Some(mail) = &session.new_device {
        outbox::notify_of_device(writes, user_id, session, (mail, &device));
    }
    let mail = session.new_device.as_ref().map(|mail| mail.id);
    users::note_device_mail(writes, user_id, session.id, mail, session.created_at);
    save(writes, user_id, session.id, &device, session.created_at);
}

/// Deletes the devices of an account. No mail about a new device is written for its next session, which
/// counts as the first.
pub(crate) fn forget(writes: &mut Script, user_id: UserId) {
    delete_all_of(writes, user_id);
    users::forget_device_mail(writes, user_id);
}
