//! Sections `notifications`, `profiles` and `search`: switches of single features.

use latchkey_service::search::SearchEngine;
use latchkey_service::settings::in_production;
use latchkey_settings::settings;

settings! {
    /// Settings of sections `notifications`, `profiles` and `search`.
    #[derive(Debug)]
    pub struct FeatureSettings {
        /// Security notifications: a mail to the owner when an identity is linked or unlinked, the password is changed
        /// or reset, an admin changes the email address (a mail to the old one), or a session is ended because a
        /// replaced refresh token was used again. Only verified addresses get them. None without mail.transport.
        /// Development: false. Production: true.
        "notifications.account" => security_notifications: bool = in_production, true;
        /// Create a profile at every sign-up. If off, the profile calls answer 404 PROFILE_NOT_FOUND until the user
        /// writes a profile.
        "profiles.create_on_sign_up" => create_profile_on_sign_up: bool = true;
        /// Engine of profile searches. "memory" keeps an index in this process, up to 400 MB per million profiles,
        /// built after the start; until then the database searches. "database" needs no memory, but takes longer the
        /// more profiles match. Both return the same results.
        "search.engine" => search_engine: SearchEngine {
            "memory" => SearchEngine::Memory,
            "database" => SearchEngine::Database,
        } = "memory";
    }
}
