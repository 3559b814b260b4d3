//! Acts of operators in the console, with the least role that may do each.

use super::Role;

/// Declares [`Act`] with the table of acts: one block per role, which lists what that role may do beyond the one before.
macro_rules! acts {
    ($($role:ident { $($(#[$doc:meta])* $act:ident = $word:literal,)+ })+) => {
        /// An act of an operator. Each belongs to the least role that may do it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Act { $($($(#[$doc])* $act,)+)+ }

        impl Act {
            /// All acts, by role.
            pub const ALL: &[Self] = &[$($(Self::$act,)+)+];

            /// Returns the least role that may do the act.
            #[must_use]
            pub const fn least_role(self) -> Role {
                match self { $($(Self::$act)|+ => Role::$role,)+ }
            }

            /// Returns the word of the act in the audit log.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($(Self::$act => $word,)+)+ }
            }
        }
    };
}

acts! {
    Viewer {
        /// Read numbers about the instance.
        ReadNumbers = "read_numbers",
        /// Read accounts and profiles.
        ReadUsers = "read_users",
        /// Read sessions.
        ReadSessions = "read_sessions",
        /// Read the audit log.
        ReadAudit = "read_audit",
        /// Read what became of mails and webhooks, never their secrets.
        ReadDeliveries = "read_deliveries",
    }
    Support {
        /// End the sessions of an account.
        EndSessions = "end_sessions",
        /// Send a mail again.
        ResendMails = "resend_mails",
        /// Send a mail for a password reset.
        SendReset = "send_reset",
        /// Lift the limits that hold for an account.
        LiftLimits = "lift_limits",
        /// Ban an account, or lift its ban.
        Ban = "ban",
        /// Remove the text of a profile.
        RemoveProfileText = "remove_profile_text",
    }
    Admin {
        /// Create accounts.
        CreateUsers = "create_users",
        /// Change accounts.
        ChangeUsers = "change_users",
        /// Delete accounts.
        DeleteUsers = "delete_users",
        /// Change the address of an account.
        ChangeAddresses = "change_addresses",
        /// Set a password for an account.
        SetPasswords = "set_passwords",
        /// Change the metadata of an account.
        ChangeMetadata = "change_metadata",
        /// Remove second factors and passkeys of an account.
        RemoveFactors = "remove_factors",
        /// Invite people.
        ManageInvitations = "manage_invitations",
        /// Manage webhooks.
        ManageWebhooks = "manage_webhooks",
        /// Import accounts.
        Import = "import",
        /// Export a list as CSV.
        ExportLists = "export_lists",
        /// End the sessions of another operator.
        EndSessionsOfOperators = "end_sessions_of_operators",
    }
    Owner {
        /// Manage operators and their roles.
        ManageOperators = "manage_operators",
        /// Change, ban or delete the account of another operator.
        ChangeOperatorAccounts = "change_operator_accounts",
        /// Manage API keys.
        ManageApiKeys = "manage_api_keys",
        /// Manage identity providers.
        ManageProviders = "manage_providers",
        /// Manage hooks.
        ManageHooks = "manage_hooks",
        /// Change the redirect list and all other settings.
        ChangeSettings = "change_settings",
        /// Rotate signing keys.
        RotateKeys = "rotate_keys",
        /// Export the whole instance.
        ExportAll = "export_all",
        /// Reveal a secret.
        RevealSecrets = "reveal_secrets",
    }
}

impl Act {
    /// True if the operator must have proved a second factor recently: the acts of owners, deletions, changes of addresses,
    /// passwords and factors, and imports.
    #[must_use]
    pub const fn needs_recent_factor(self) -> bool {
        matches!(self.least_role(), Role::Owner)
            || matches!(
                self,
                Self::DeleteUsers
                    | Self::ChangeAddresses
                    | Self::SetPasswords
                    | Self::RemoveFactors
                    | Self::Import
            )
    }
}
