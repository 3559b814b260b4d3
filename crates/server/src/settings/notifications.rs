//! Section `notifications`.

use super::reader::Reader;

/// Section `notifications`.
#[derive(Debug)]
pub struct NotificationSettings {
    /// Whether owners get mails about what is done with their accounts.
    pub account: bool,
}

impl NotificationSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        Self { account: reader.flag("notifications.account") }
    }
}
