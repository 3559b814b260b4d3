//! The part of the settings that a command uses. The rest is neither read from secret files nor judged, so that a
//! command on the database works where the secrets of other parts are out of reach.

/// The part of the settings that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything: the running service.
    Service,
    /// The database alone.
    Database,
    /// The database and the identity providers.
    Providers,
}

impl Scope {
    /// A key (`section.key`) is outside the scope.
    pub(super) fn leaves_out(self, key: &str) -> bool {
        let sections: &[&str] = match self {
            Self::Service => &[],
            Self::Database => &["admin.", "mail.", "oauth."],
            Self::Providers => &["admin.", "mail."],
        };
        sections.iter().any(|section| key.starts_with(section))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_on_the_database_uses_neither_mail_nor_providers_nor_admin_keys() {
        for key in
            ["mail.smtp.password", "oauth.ca_file", "oauth.providers.google.client_id", "admin.api_key"]
        {
            assert!(Scope::Database.leaves_out(key) && !Scope::Service.leaves_out(key), "{key}");
        }
        for key in ["server.secret", "storage.url", "auth.code_ttl", "passwords.min_length", "mailbox"] {
            assert!(!Scope::Database.leaves_out(key), "{key}");
        }
        assert!(Scope::Providers.leaves_out("mail.from") && !Scope::Providers.leaves_out("oauth.proxy"));
    }
}
