//! signInWithOAuth and linking: the address that a browser is sent to.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::reason::Reason;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_oauth::{AuthorizationRequest, PkceVerifier, ProviderError};
use latchkey_store::{Linker, NewFlow};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::OAuth;
use crate::error::{Error, Result};
use crate::providers::KnownProvider;
use crate::refusal::{PROVIDER_NOT_CONFIGURED, PROVIDER_UNAVAILABLE};
use crate::sessions::authenticate::Caller;

/// Base64url of 32 bytes has two bits too many; what they are is not our business.
const CHALLENGE: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// A request to begin a flow.
pub struct StartOAuth {
    /// Of which path the provider is.
    pub kind: ProviderKind,
    /// Its key, as sent.
    pub provider: String,
    /// The final redirect target, as sent; `auth.default_redirect_url` if left out.
    pub redirect_uri: Option<String>,
    /// The app's PKCE challenge, as sent: S256, 43 characters of base64url.
    pub code_challenge: Option<String>,
    /// Further parameters of the authorization request; reserved names are dropped.
    pub hints: Vec<(String, String)>,
    /// The client.
    pub client: Client,
    /// The browser that begins, where the flow is bound to it.
    pub browser: StartingBrowser,
}

/// Binding of a flow to the browser that began it. A bound flow cannot be completed by another browser.
#[derive(Default)]
pub enum StartingBrowser {
    /// Not at all.
    #[default]
    Unbound,
    /// By a cookie: the one that the browser has from another flow, else a new one.
    Bound(Option<LinkToken>),
}

/// A flow that was begun.
pub struct StartedOAuth {
    /// The address to send the browser to.
    pub url: String,
    /// The value of the browser's cookie, where the flow is bound to it.
    pub browser: Option<LinkToken>,
}

/// The secrets that the callback needs, sealed in the database.
#[derive(Serialize, Deserialize)]
pub(crate) struct FlowSecrets {
    pub(crate) nonce: String,
    pub(crate) verifier: String,
    /// SHA-256 of the cookie of the browser that the flow is bound to.
    #[serde(default)]
    pub(crate) browser: Option<[u8; 32]>,
}

impl OAuth {
    /// Begins a sign-in.
    pub async fn start(&self, start: StartOAuth) -> Result<StartedOAuth> {
        self.start_flow(start, None).await
    }

    /// Begins linking an identity to the caller's account; answers the address to send the browser to. The link is made
    /// at the exchange, with the bearer of this very session.
    pub async fn start_link(&self, caller: Caller, start: StartOAuth) -> Result<String> {
        let linker = Linker { user_id: caller.user_id, session_id: caller.session_id };
        Ok(self.start_flow(start, Some(linker)).await?.url)
    }

    async fn start_flow(&self, start: StartOAuth, linker: Option<Linker>) -> Result<StartedOAuth> {
        let now = self.kernel.now();
        self.take(&start.client, now)?;
        let provider = self.usable_provider(start.kind, &start.provider).await?;
        if let Err(reason) = provider.client.check_place(self.shared.providers.parts.outbound.networks) {
            tracing::error!(provider = provider.key.as_str(), reason, "a provider may not be called");
            return Err(Error::Refused(&PROVIDER_NOT_CONFIGURED));
        }
        let redirect_to = self.oauth_target(start.redirect_uri.as_deref())?;
        let code_challenge = read_challenge(start.code_challenge.as_deref())?;

        let state = LinkToken::new(self.kernel.entropy.bytes());
        let pkce = PkceVerifier::new(self.kernel.entropy.bytes());
        let nonce = LinkToken::new(self.kernel.entropy.bytes());
        let callback = self.callback_url(&provider);
        let request = AuthorizationRequest {
            redirect_uri: &callback,
            state: state.expose(),
            nonce: nonce.expose(),
            pkce: &pkce,
            hints: &start.hints,
        };
        let url = self.shared.providers.client.authorization_url(&provider.client, &request, now).await;
        let url = url.map_err(|error| {
            tracing::warn!(provider = provider.key.as_str(), %error, "a sign-in could not be begun");
            match error {
                ProviderError::Misconfigured(_) => Error::Refused(&PROVIDER_NOT_CONFIGURED),
                _ => Error::Refused(&PROVIDER_UNAVAILABLE),
            }
        })?;

        let browser = match start.browser {
            StartingBrowser::Unbound => None,
            StartingBrowser::Bound(known) => {
                Some(known.unwrap_or_else(|| LinkToken::new(self.kernel.entropy.bytes())))
            }
        };
        let secrets = FlowSecrets {
            nonce: nonce.expose().to_owned(),
            verifier: pkce.expose().to_owned(),
            browser: browser.as_ref().map(|token| *token.hash().as_bytes()),
        };
        let plain = Zeroizing::new(serde_json::to_vec(&secrets).map_err(Error::internal)?);
        let sealed = self
            .flow_key
            .seal(&*self.kernel.entropy, state.hash().as_bytes(), &plain)
            .map_err(Error::internal)?;
        let flow = NewFlow {
            state: state.hash(),
            provider: provider.key.clone(),
            code_challenge,
            redirect_to,
            sealed,
            linker,
            created_at: now,
            expires_at: now.plus(self.lifetimes.state),
        };
        self.kernel.store.begin_flow(flow).await?;
        Ok(StartedOAuth { url: url.into(), browser })
    }

    /// A provider with which one can sign in. One that was configured elsewhere a moment ago is found too.
    pub(crate) async fn usable_provider(&self, kind: ProviderKind, key: &str) -> Result<KnownProvider> {
        let found = self.shared.providers.load().usable(kind, key).cloned();
        if found.is_ok() || !self.shared.sync().await? {
            return found;
        }
        self.shared.providers.load().usable(kind, key).cloned()
    }

    /// The address that a provider sends browsers back to.
    #[must_use]
    pub fn callback_url(&self, provider: &KnownProvider) -> String {
        let folder = match provider.kind {
            ProviderKind::BuiltIn => "",
            ProviderKind::Custom => "custom/",
        };
        format!("{}/api/auth/oauth/{folder}{}/callback", self.kernel.site.origin(), provider.key.as_str())
    }

    fn oauth_target(&self, redirect_uri: Option<&str>) -> Result<String> {
        let settings = self.kernel.settings.load();
        let target = match redirect_uri {
            Some(text) => {
                let checked = settings.redirects.check(text);
                let field = "redirect_uri";
                Some(checked.map_err(|refusal| Error::redirect_not_allowed(field, &refusal))?)
            }
            None => settings.default_redirect.clone(),
        };
        let target = target.ok_or_else(|| {
            let problem = "is required: where should the browser go after the provider?";
            Error::validation("redirect_uri", Reason::Required, problem)
        })?;
        Ok(target.as_str().to_owned())
    }
}

/// A challenge is a SHA-256, so it is kept and compared like one.
fn read_challenge(text: Option<&str>) -> Result<TokenHash> {
    let refuse = |reason, problem| Error::validation("code_challenge", reason, problem);
    let text =
        text.ok_or_else(|| refuse(Reason::Required, "is required: PKCE with the method S256 (RFC 7636)"))?;
    let bytes = CHALLENGE.decode(text).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    bytes.map(TokenHash::from_bytes).ok_or_else(|| {
        refuse(Reason::InvalidFormat, "must be 43 characters of base64url: the method is S256")
    })
}
