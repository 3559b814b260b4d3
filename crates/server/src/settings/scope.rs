//! Scope of a command: the part of the settings that it uses. Settings outside the scope are not validated, and their
//! secret files are not read. A command on the database therefore runs where other secrets cannot be read.

/// Part of the settings that a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All settings; for the running service.
    Service,
    /// The database only, without mail, identity providers and admin keys.
    Database,
    /// The database and the identity providers.
    Providers,
    /// What pages show: the name of the service, and section `pages`.
    Pages,
}

impl Scope {
    /// True if the scope excludes a key (`section.key`).
    pub(super) fn leaves_out(self, key: &str) -> bool {
        let sections: &[&str] = match self {
            Self::Service => &[],
            Self::Database => &["admin.", "mail.", "oauth.", "pages."],
            Self::Providers => &["admin.", "mail.", "pages."],
            Self::Pages => {
                return !["server.mode", "server.service_name", "pages."].iter().any(|s| key.starts_with(s));
            }
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
        assert!(Scope::Pages.leaves_out("server.secret") && !Scope::Pages.leaves_out("pages.theme.accent"));
        assert!(Scope::Providers.leaves_out("mail.from") && !Scope::Providers.leaves_out("oauth.proxy"));
    }
}
