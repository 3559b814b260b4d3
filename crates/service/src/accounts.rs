//! Accounts: rate limits of sign-ups, and the choice of the language of an account's mails. The sign-up
//! itself is in [`sign_up`].

use std::sync::Arc;

use latchkey_domain::client::Client;
use latchkey_domain::limits::{Rate, Take};
use latchkey_domain::locale::Locale;
use latchkey_settings::settings;

use crate::error::Result;
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::passwords::Passwords;
use crate::sessions::Sessions;
use crate::sessions::authenticate::Caller;

pub mod sign_up;

settings! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on sign-ups from one client address.
        "limits.sign_up_per_address" => sign_up_address: Rate = "20/1h";
    }
}

pub struct Accounts {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) limits: Limits,
}

impl Accounts {
    /// Sets the language of the mails that the caller's account gets.
    pub async fn set_locale(&self, caller: Caller, locale: &Locale) -> Result<()> {
        Ok(self.kernel.store.set_locale(caller.user_id, locale).await?)
    }

    fn takes(&self, client: &Client) -> Vec<Take> {
        self.kernel.limits.by_address("sign-up, per address", self.limits.sign_up_address, client)
    }
}
