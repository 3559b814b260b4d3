//! The account that an activation link makes, for an address to which an owner gave a role before it had one:
//!
//! 1. [`Console::address_of`] tells that the link is of such an address.
//! 2. [`Console::create_account`] takes a password and mails a code to the address.
//! 3. [`Console::verify_account`] takes the code. The account gets the grant, and goes on as any other: it adds a second
//!    factor.
//!
//! Only the holder of a valid link gets this far. Whether the address has an account by now, none of the steps tells.

use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose};
use latchkey_domain::email::Email;
use latchkey_domain::password::Password;
use latchkey_domain::tokens::LinkToken;

use super::activation::{ActivationStep, link};
use super::{Console, ConsoleEntrance};
use crate::accounts::sign_up::{RedirectInput, SignUp};
use crate::error::{Error, Result};
use crate::mailbox::verify_email::VerificationProof;
use crate::refusal::INVALID_CREDENTIALS;
use crate::sessions::ConsoleSignIn;
use crate::settings::EmailMethod;

impl Console {
    /// Returns the address of an activation link that makes an account; `None` for every other link.
    pub async fn address_of(&self, token: &str) -> Result<Option<Email>> {
        match LinkToken::parse(token) {
            Some(link) => self.operators.address_of(&link).await,
            None => Ok(None),
        }
    }

    /// Creates the account of the link's address, and mails the code that verifies it.
    pub async fn create_account(
        &self,
        token: &str,
        password: Password,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<()> {
        let link = link(token)?;
        let sign_up = SignUp {
            email: self.needed_address(&link).await?,
            password,
            name: None,
            redirect: RedirectInput::default(),
            browser: None,
            client: sign_in.activating(&link).from(client.clone()),
        };
        self.accounts.sign_up_named(sign_up).await
    }

    /// Mails another code.
    pub async fn send_code_again(&self, token: &str, client: &Client) -> Result<()> {
        let email = self.needed_address(&link(token)?).await?;
        let (purpose, redirect) = (Purpose::VerifyEmail, RedirectInput::default());
        self.challenges.mailbox.request_code(email, purpose, EmailMethod::Code, redirect, client).await
    }

    /// Verifies the address by the mailed code, and passes the grant on to the account. A mailed code alone
    /// opens nothing here: the activation link is needed beside it, and the only next step is to enrol a second factor.
    pub async fn verify_account(
        &self,
        token: &str,
        code: EnteredCode,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<ActivationStep> {
        let link = link(token)?;
        let proof = VerificationProof::Code(self.needed_address(&link).await?, code);
        let from = sign_in.activating(&link).from(client.clone());
        let entrance = self.challenges.mailbox.verify_email(proof, None, from).await?;
        self.operators.adopt(&link, client).await?;
        self.go_on(&link, ConsoleEntrance::of(entrance)?, client).await
    }

    async fn needed_address(&self, link: &LinkToken) -> Result<Email> {
        self.operators.address_of(link).await?.ok_or(Error::Refused(&INVALID_CREDENTIALS))
    }
}
