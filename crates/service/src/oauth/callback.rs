//! The callback from an identity provider: the browser returns with an authorization code or an error. The outcome
//! goes to the app by redirect. If the redirect target is unknown or no longer allowed, a page shows it.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::{IdentityRefusal, ProviderClaims, ProviderKind, VerifiedIdentity};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_oauth::{Grant, PkceVerifier, ProviderError, ProviderIdentity};
use latchkey_store::{NewCodeOutcome, NewOAuthCode, StateOutcome, TakenFlow};
use serde_json::Value;
use zeroize::Zeroizing;

use super::OAuth;
use super::start::FlowSecrets;
use crate::error::{Error, Result};
use crate::providers::KnownProvider;
use crate::refusal::{
    EMAIL_NOT_VERIFIED, PROVIDER_EMAIL_NOT_VERIFIED, PROVIDER_WITHOUT_EMAIL, SIGN_IN_TO_LINK,
    SIGNUP_DISABLED, USER_BANNED,
};

/// The parameters of a callback request.
#[derive(Default)]
pub struct OAuthReturn {
    /// The provider's key in the path.
    pub provider: String,
    pub state: Option<String>,
    /// The authorization `code` from the provider.
    pub code: Option<String>,
    /// The error code from the provider (RFC 6749 section 4.1.2.1).
    pub error: Option<String>,
    /// The issuer `iss` in the authorization response (RFC 9207).
    pub issuer: Option<String>,
    /// The form field `user`, a JSON object with the user's name. Only Apple sends it.
    pub user: Option<String>,
    /// The cookie that binds a sign-in to the browser that started it, as received.
    pub browser: ReturningBrowser,
}

/// The browser that returns from the provider, as far as its cookies are known.
#[derive(Clone, Default)]
pub enum ReturningBrowser {
    /// A browser that posts the provider's response as a form (`form_post`). Browsers send no `SameSite=Lax` cookie
    /// with a cross-site POST, so the cookie cannot be checked.
    #[default]
    Unknown,
    /// A browser that followed a redirect. The value is that of its cookie, if it has one.
    Known(Option<LinkToken>),
}

impl ReturningBrowser {
    /// Returns `false` if the sign-in is bound to a browser and the returning browser lacks that browser's cookie. A
    /// browser whose cookies cannot be read passes.
    fn may_have_begun(&self, flow: &FlowSecrets) -> bool {
        match (flow.browser, self) {
            (None, _) | (_, Self::Unknown) => true,
            (Some(hash), Self::Known(token)) => {
                token.as_ref().is_some_and(|token| *token.hash().as_bytes() == hash)
            }
        }
    }
}

/// The response of a callback to the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallbackAnswer {
    /// Redirect to this URL of the app.
    Redirect(String),
    /// An error page, because there is no redirect target, or it is no longer allowed.
    Page(CallbackProblem),
}

/// The reason for which a callback failed. Its message is shown on the error page, or sent to the app by redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackProblem {
    /// The `state` is missing or unknown.
    Unknown,
    /// The `state` has expired.
    Expired,
    /// The `state` was already used.
    Replayed,
    /// The sign-in was started with another provider.
    OtherProvider,
    /// The sign-in was started in another browser.
    OtherBrowser,
    /// The user cancelled at the provider.
    Denied,
    /// The provider returned an error other than the user's cancellation, refused the authorization code, or sent
    /// neither code nor error.
    Refused,
    /// The provider does not respond.
    Down,
    /// The provider's response failed validation, so it proves no identity.
    Unproven,
    /// The provider is no longer configured or was switched off.
    NotConfigured,
    /// A fault of this service, such as an unavailable database.
    Unavailable,
    /// Too many callbacks with an unknown `state` came from this client.
    Limited,
    /// The redirect target is no longer allowed.
    NoTarget,
    /// The identity is linked to another account.
    Taken,
    /// The rules of sign-in with an identity ([`latchkey_domain::identity`]) refuse it.
    Identity(IdentityRefusal),
}

impl CallbackProblem {
    /// Returns a sentence for the user, on the error page or in the app.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Unknown => "This sign-in is not known. Please go back to the app and sign in again.",
            Self::Expired => "The sign-in took too long. Please try again.",
            Self::Replayed => "This sign-in was already answered. Please try again.",
            Self::OtherProvider => "The answer came from another provider. Please try again.",
            Self::OtherBrowser => {
                "The sign-in was begun in another browser. Please go back to the app and sign in again."
            }
            Self::Denied => "The sign-in was cancelled at the provider.",
            Self::Refused => "The provider refused the sign-in. Please try again.",
            Self::Down => "The provider does not answer at the moment. Please try again later.",
            Self::Unproven => "The answer of the provider could not be verified.",
            Self::NotConfigured => "This provider is not available any more.",
            Self::Unavailable => "The sign-in is not possible at the moment. Please try again later.",
            Self::Limited => {
                "Too many sign-ins that nobody began came from your network. Please try again in a few minutes."
            }
            Self::NoTarget => {
                "The page that this sign-in leads to is no longer allowed. Please go back to the app."
            }
            Self::Taken => "This identity is linked to another account.",
            Self::Identity(refusal) => refusal_message(refusal),
        }
    }
}

const fn refusal_message(refusal: IdentityRefusal) -> &'static str {
    match refusal {
        IdentityRefusal::Banned => "This account is banned.",
        IdentityRefusal::AccountUnverified => "Verify the email address of this account first.",
        IdentityRefusal::SignUpClosed => "Sign-up is disabled.",
        IdentityRefusal::NoEmail => {
            "The provider gives no email address. Sign up with one, then link this provider."
        }
        IdentityRefusal::EmailUnproven => {
            "The provider did not verify the email address. Verify it there, or sign in to link this provider."
        }
        // The API contract fixes this text.
        IdentityRefusal::SignInToLink => "sign in to link this provider",
    }
}

impl From<IdentityRefusal> for Error {
    fn from(refusal: IdentityRefusal) -> Self {
        Self::Refused(match refusal {
            IdentityRefusal::Banned => &USER_BANNED,
            IdentityRefusal::AccountUnverified => &EMAIL_NOT_VERIFIED,
            IdentityRefusal::SignUpClosed => &SIGNUP_DISABLED,
            IdentityRefusal::NoEmail => &PROVIDER_WITHOUT_EMAIL,
            IdentityRefusal::EmailUnproven => &PROVIDER_EMAIL_NOT_VERIFIED,
            IdentityRefusal::SignInToLink => &SIGN_IN_TO_LINK,
        })
    }
}

impl OAuth {
    /// Consumes the `state`, has the provider verify the identity, and redirects the browser to the app with a code or
    /// an error. Signing in and linking happen only when the app exchanges the code.
    pub async fn callback(
        &self,
        back: OAuthReturn,
        kind: ProviderKind,
        client: &Client,
    ) -> Result<CallbackAnswer> {
        let now = self.kernel.now();
        let Some(state) = back.state.as_deref().and_then(LinkToken::parse) else {
            return Ok(CallbackAnswer::Page(CallbackProblem::Unknown));
        };
        if self.has_guessed_states(client, now) {
            return Ok(CallbackAnswer::Page(CallbackProblem::Limited));
        }
        let flow = match self.kernel.store.take_flow(state.hash(), now).await? {
            StateOutcome::Taken(flow) => *flow,
            StateOutcome::Replayed { redirect_to } => {
                return Ok(self.callback_error(&redirect_to, CallbackProblem::Replayed));
            }
            StateOutcome::Unknown => {
                self.note_unknown_state(client, now);
                return Ok(CallbackAnswer::Page(CallbackProblem::Unknown));
            }
        };
        match self.answer_flow(&back, kind, &state, &flow, now).await {
            Ok(code) => Ok(self.callback_success(&flow.redirect_to, &code)),
            Err(problem) => {
                self.note_failure(&flow, problem, client).await;
                Ok(self.callback_error(&flow.redirect_to, problem))
            }
        }
    }

    /// Validates the callback, verifies the identity at the provider, and returns a new code for the app.
    async fn answer_flow(
        &self,
        back: &OAuthReturn,
        kind: ProviderKind,
        state: &LinkToken,
        flow: &TakenFlow,
        now: Timestamp,
    ) -> Result<LinkToken, CallbackProblem> {
        if flow.expires_at <= now {
            return Err(CallbackProblem::Expired);
        }
        if flow.provider != back.provider {
            return Err(CallbackProblem::OtherProvider);
        }
        let provider =
            self.usable_provider(kind, &back.provider).await.map_err(|_| CallbackProblem::NotConfigured)?;
        if self.oauth_redirect(&flow.redirect_to).is_none() {
            return Err(CallbackProblem::NoTarget);
        }
        let code = match (&back.error, &back.code) {
            (Some(error), _) if error == "access_denied" || error.ends_with("cancelled") => {
                return Err(CallbackProblem::Denied);
            }
            (None, Some(code)) if !code.is_empty() => code,
            _ => return Err(CallbackProblem::Refused),
        };
        let identity = self.ask_provider(back, code, &provider, state, flow).await?;
        self.code_for(flow, &provider, identity).await
    }

    async fn ask_provider(
        &self,
        back: &OAuthReturn,
        code: &str,
        provider: &KnownProvider,
        state: &LinkToken,
        flow: &TakenFlow,
    ) -> Result<VerifiedIdentity, CallbackProblem> {
        let fault = |error: Error| {
            tracing::error!(%error, "a flow cannot be read");
            CallbackProblem::Unavailable
        };
        let secrets = self.open_flow(state, flow).map_err(fault)?;
        if !back.browser.may_have_begun(&secrets) {
            return Err(CallbackProblem::OtherBrowser);
        }
        let pkce = PkceVerifier::parse(&secrets.verifier).ok_or(CallbackProblem::Unavailable)?;
        let callback = self.callback_url(provider);
        let grant = Grant {
            code,
            issuer: back.issuer.as_deref(),
            user: back.user.as_deref(),
            redirect_uri: &callback,
            nonce: &secrets.nonce,
            pkce: &pkce,
        };
        let found = self.shared.providers.client.identify(&provider.client, &grant, self.kernel.now());
        let found = self.kernel.metrics.provider(provider.key.as_str(), found).await;
        let found = found.map_err(|error| {
            tracing::warn!(provider = provider.key.as_str(), %error, "a provider's answer was refused");
            match error {
                ProviderError::Down { .. } => CallbackProblem::Down,
                ProviderError::Refused { .. } => CallbackProblem::Refused,
                _ => CallbackProblem::Unproven,
            }
        })?;
        proven(provider, &found).ok_or(CallbackProblem::Unproven)
    }

    async fn code_for(
        &self,
        flow: &TakenFlow,
        provider: &KnownProvider,
        identity: VerifiedIdentity,
    ) -> Result<LinkToken, CallbackProblem> {
        // Clock read again, because the requests to the provider took time.
        let now = self.kernel.now();
        let code = LinkToken::new(self.kernel.entropy.bytes());
        let new = NewOAuthCode {
            code: code.hash(),
            code_challenge: flow.code_challenge,
            identity,
            linker: flow.linker,
            rules: self.identity_rules(provider),
            created_at: now,
            expires_at: now.plus(self.lifetimes.code),
        };
        match self.kernel.store.save_oauth_code(new).await {
            Ok(NewCodeOutcome::Saved) => Ok(code),
            Ok(NewCodeOutcome::Refused(refusal)) => Err(CallbackProblem::Identity(refusal)),
            Ok(NewCodeOutcome::Taken) => Err(CallbackProblem::Taken),
            Err(error) => {
                tracing::error!(%error, "a sign-in code could not be stored");
                Err(CallbackProblem::Unavailable)
            }
        }
    }

    fn open_flow(&self, state: &LinkToken, flow: &TakenFlow) -> Result<FlowSecrets> {
        let plain = self.flow_key.open(state.hash().as_bytes(), &flow.sealed).map_err(Error::internal)?;
        serde_json::from_slice(&Zeroizing::new(plain)).map_err(Error::internal)
    }

    /// Writes the failure to the audit log. An error of the database is only logged, so that the browser is still
    /// redirected.
    async fn note_failure(&self, flow: &TakenFlow, problem: CallbackProblem, client: &Client) {
        let mut event =
            self.kernel.event(AuditKind::SignInFailed, Actor::User, Some(client), self.kernel.now());
        event.user_id = flow.linker.map(|linker| linker.user_id);
        event.session_id = flow.linker.map(|linker| linker.session_id);
        event.details.insert("provider".to_owned(), Value::from(flow.provider.as_str()));
        event.details.insert("reason".to_owned(), Value::from(problem.message()));
        if let Err(error) = self.kernel.store.record_event(event).await {
            tracing::error!(%error, "an audit event could not be stored");
        }
    }

    fn callback_success(&self, target: &str, code: &LinkToken) -> CallbackAnswer {
        let name = self.kernel.site.parameter("code");
        self.callback_redirect(target, &[(&name, code.expose())], CallbackProblem::NoTarget)
    }

    fn callback_error(&self, target: &str, problem: CallbackProblem) -> CallbackAnswer {
        let name = self.kernel.site.parameter("error");
        let parameters = [("error", problem.message()), (name.as_str(), problem.message())];
        self.callback_redirect(target, &parameters, problem)
    }

    fn callback_redirect(
        &self,
        target: &str,
        parameters: &[(&str, &str)],
        otherwise: CallbackProblem,
    ) -> CallbackAnswer {
        let Some(target) = self.oauth_redirect(target) else { return CallbackAnswer::Page(otherwise) };
        let [status, kind, error, code] =
            ["status", "type", "error", "code"].map(|name| self.kernel.site.parameter(name));
        let own = ["error", status.as_str(), &kind, &error, &code];
        CallbackAnswer::Redirect(target.with_query(parameters, &own))
    }

    /// Returns the stored redirect target, if it is still allowed.
    fn oauth_redirect(&self, stored: &str) -> Option<latchkey_domain::redirect::RedirectUrl> {
        self.kernel.settings.load().redirects.check(stored).ok()
    }
}

/// Builds a [`VerifiedIdentity`] from the identity that a provider asserted; `None` if issuer or subject is
/// invalid.
pub(crate) fn proven(provider: &KnownProvider, found: &ProviderIdentity) -> Option<VerifiedIdentity> {
    let facts = ProviderClaims {
        issuer: &found.issuer,
        subject: &found.subject,
        email: found.email.as_ref().map(latchkey_domain::email::Email::as_typed),
        email_verified: found.email_verified,
        name: found.name.as_deref(),
        avatar_url: found.avatar_url.as_deref(),
    };
    VerifiedIdentity::of(provider.key.clone(), facts)
}
