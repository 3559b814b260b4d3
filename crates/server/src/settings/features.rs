//! Sections `notifications`, `profiles` and `search`: switches of single features.

use latchkey_service::search::SearchEngine;
use latchkey_service::settings::in_production;
use latchkey_settings::settings;

settings! {
    /// Sections `notifications`, `profiles` and `search`.
    #[derive(Debug)]
    pub struct FeatureSettings {
        /// Security notifications: a mail to the owner when an identity is linked to the account or unlinked, the password
        /// is changed or reset, an admin gives the account another address (a mail to the old one), or a session is ended because a
        /// replaced refresh token came back. Only verified addresses get them. Development: false. Production: true.
        /// None without mail.transport.
        "notifications.account" => security_notifications: bool = in_production, true;
        /// A sign-up makes a profile. Off, the profile calls answer 404 PROFILE_NOT_FOUND until the
        /// user writes one.
        "profiles.create_on_sign_up" => create_profile_on_sign_up: bool = true;
        /// The engine of profile searches: "memory" keeps an index in this process, up to 400 MB per million
        /// profiles, made at the start while the database answers; "database" needs no memory and takes longer
        /// the more profiles match. Both find the same.
        "search.engine" => search_engine: SearchEngine {
            "memory" => SearchEngine::Memory,
            "database" => SearchEngine::Database,
        } = "memory";
    }
}
