//! Table `seen_devices`: devices with their networks from which an account was used in the last 90 days.

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::seen_device::SeenDevice;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;

use super::{outbox, users};
use crate::bulk::{Table, columns};
use crate::form::{Script, statements};

pub const TABLE: Table = Table::new("seen_devices", 2, columns! { id user_id, text device, int seen_at });

statements! {
    /// Stores the use of a device, if the session exists.
    SAVE_SEEN: change save(user_id: UserId, session: SessionId, device: &SeenDevice, now: Timestamp)
        [user_id, session, device.as_str(), now] = "
    INSERT INTO seen_devices (user_id, device, seen_at)
    SELECT $1, $3, $4 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = $2)
    ON CONFLICT (user_id, device) DO UPDATE SET seen_at = excluded.seen_at";
    DELETE_SEEN: change delete_all_of(user_id: UserId) = "DELETE FROM seen_devices WHERE user_id = $1";
}

/// Writes the mail about the device of a session that was just opened, if the owner is to get it, and stores the device.
/// Does nothing if the session does not exist. The user must be locked.
pub(crate) fn meet(writes: &mut Script, user_id: UserId, session: &NewSession) {
    let device = SeenDevice::of(&session.client);
    if let Some(mail) = &session.new_device {
        outbox::notify_of_device(writes, user_id, session, (mail, &device));
    }
    let mail = session.new_device.as_ref().map(|mail| mail.id);
    users::note_device_mail(writes, user_id, session.id, mail, session.created_at);
    save(writes, user_id, session.id, &device, session.created_at);
}

/// Forgets the devices of an account. Its next session counts as the first.
pub(crate) fn forget(writes: &mut Script, user_id: UserId) {
    delete_all_of(writes, user_id);
    users::forget_device_mail(writes, user_id);
}
