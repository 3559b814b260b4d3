//! Acts of operators in the console, with the least role that may do each.

use super::Role;

/// Declares [`Act`] with the table of acts: one block per role, which lists what that role may do beyond the one before.
macro_rules! acts {
    ($($role:ident { $($(#[$doc:meta])* $act:ident,)+ })+) => {
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
        }
    };
}

acts! {
    Viewer {
        /// Read numbers about the instance.
        ReadNumbers,
        /// Read accounts and profiles.
        ReadUsers,
        /// Read sessions.
        ReadSessions,
        /// Read the audit log.
        ReadAudit,
        /// Read what became of mails and webhooks, never their secrets.
        ReadDeliveries,
    }
    Support {
        /// End the sessions of an account.
        EndSessions,
        /// Send a mail again.
        ResendMails,
        /// Send a mail for a password reset.
        SendReset,
        /// Lift the limits that hold for an account.
        LiftLimits,
        /// Ban an account, or lift its ban.
        Ban,
        /// Remove the text of a profile.
        RemoveProfileText,
    }
    Admin {
        /// Create accounts.
        CreateUsers,
        /// Change accounts.
        ChangeUsers,
        /// Delete accounts.
        DeleteUsers,
        /// Change the address of an account.
        ChangeAddresses,
        /// Set a password for an account.
        SetPasswords,
        /// Change the metadata of an account.
        ChangeMetadata,
        /// Remove second factors and passkeys of an account.
        RemoveFactors,
        /// Invite people.
        ManageInvitations,
        /// Manage webhooks.
        ManageWebhooks,
        /// Import accounts.
        Import,
        /// Export a list as CSV.
        ExportLists,
        /// End the sessions of another operator.
        EndSessionsOfOperators,
    }
    Owner {
        /// Manage operators and their roles.
        ManageOperators,
        /// Change, ban or delete the account of another operator.
        ChangeOperatorAccounts,
        /// Manage API keys.
        ManageApiKeys,
        /// Manage identity providers.
        ManageProviders,
        /// Manage hooks.
        ManageHooks,
        /// Change the redirect list and all other settings.
        ChangeSettings,
        /// Rotate signing keys.
        RotateKeys,
        /// Export the whole instance.
        ExportAll,
        /// Reveal a secret.
        RevealSecrets,
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
