//! The start of a sign-in or of linking: the URL of the provider to which the app sends the browser.

use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::reason::Reason;
use latchkey_domain::tokens::LinkToken;
use latchkey_oauth::{AuthorizationRequest, PkceVerifier, ProviderError};
use latchkey_store::{Linker, NewFlow};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::OAuth;
use crate::error::{Error, Result};
use crate::kernel::read_challenge;
use crate::providers::KnownProvider;
use crate::refusal::{PROVIDER_NOT_CONFIGURED, PROVIDER_UNAVAILABLE};
use crate::sessions::FreshCaller;

/// The request to start a sign-in or linking.
pub struct StartOAuth {
    /// The kind of provider, which the request's path determines.
    pub kind: ProviderKind,
    /// The provider's key, unvalidated.
    pub provider: String,
    /// The final redirect target, unvalidated; `auth.default_redirect_url` if absent.
    pub redirect_uri: Option<String>,
    /// The app's PKCE challenge, unvalidated: method S256, 43 characters of base64url.
    pub code_challenge: Option<String>,
    /// Additional query parameters of the authorization request. Those that the service sets itself, such as
    /// `state` and `scope`, are ignored.
    pub hints: Vec<(String, String)>,
    pub client: Client,
    /// The browser that starts the flow, and whether it must be the one that completes it.
    pub browser: StartingBrowser,
}

/// Tells whether only the starting browser may complete a flow.
#[derive(Default)]
pub enum StartingBrowser {
    /// Any browser may complete the flow.
    #[default]
    Unbound,
    /// Only this browser may complete the flow; a cookie identifies it. The value is the cookie that the browser has
    /// from an earlier flow; with `None` a new cookie is made.
    Bound(Option<LinkToken>),
}

pub struct StartedOAuth {
    /// The URL of the provider to which the app sends the browser.
    pub url: String,
    /// The value of the browser's cookie, if the flow is bound to the browser.
    pub browser: Option<LinkToken>,
}

/// The secrets of a flow that the callback needs. They are sealed in the database.
#[derive(Serialize, Deserialize)]
pub(crate) struct FlowSecrets {
    pub(crate) nonce: String,
    pub(crate) verifier: String,
    /// SHA-256 of the cookie of the browser to which the flow is bound; `None` for an unbound flow.
    #[serde(default)]
    pub(crate) browser: Option<[u8; 32]>,
}

impl OAuth {
    /// Starts a sign-in; returns the URL of the provider.
    pub async fn start(&self, start: StartOAuth) -> Result<StartedOAuth> {
        self.start_flow(start, None).await
    }

    /// Starts linking an identity to the caller's account; returns the URL of the provider. The identity is linked when
    /// the app exchanges the code with an access token of the same session.
    pub async fn start_link(&self, caller: &FreshCaller, start: StartOAuth) -> Result<String> {
        let caller = caller.caller();
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
        let url = self.shared.providers.client.authorization_url(&provider.client, &request, now);
        let url = self.kernel.metrics.provider(provider.key.as_str(), url).await;
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

    /// Returns the provider with this key, if it is enabled. If the key is unknown, the shared state is reloaded first,
    /// because another instance may have just configured the provider.
    pub(crate) async fn usable_provider(&self, kind: ProviderKind, key: &str) -> Result<KnownProvider> {
        let found = self.shared.providers.load().usable(kind, key).cloned();
        if found.is_ok() || !self.shared.sync().await? {
            return found;
        }
        self.shared.providers.load().usable(kind, key).cloned()
    }

    /// Returns the callback URL of this service for a provider.
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
