//! Section `profiles`.

use super::reader::Reader;

/// Section `profiles`.
#[derive(Debug)]
pub struct ProfileSettings {
    /// Whether a sign-up makes a profile.
    pub create_on_sign_up: bool,
}

impl ProfileSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        Self { create_on_sign_up: reader.flag("profiles.create_on_sign_up") }
    }
}
