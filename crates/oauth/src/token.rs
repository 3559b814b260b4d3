//! The response of the token endpoint (RFC 6749 section 5).

use serde_json::Value;

use crate::error::{ProviderError, Stage};
use crate::outbound::refusal;
use crate::secret::SecretText;

/// A token response. The tokens are moved out of `body` and zeroised on drop.
pub(crate) struct TokenResponse {
    pub(crate) access_token: Option<SecretText>,
    pub(crate) id_token: Option<SecretText>,
    /// The response without the tokens.
    pub(crate) body: Value,
}

impl TokenResponse {
    /// Parses a token response. Some providers send errors with status 200 (GitHub, Slack) or wrap the response in
    /// `data` (Instagram).
    pub(crate) fn read(mut body: Value) -> Result<Self, ProviderError> {
        if let Some(refused) = refusal(Stage::Token, &body) {
            return Err(refused);
        }
        if let Some(wrapped) = body.pointer_mut("/data/0") {
            body = wrapped.take();
        }
        if !body.is_object() {
            return Err(bad("it is no object"));
        }
        let is_bearer = body["token_type"].as_str().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        if !is_bearer {
            return Err(bad("token_type is not Bearer"));
        }
        let mut take = |name: &str| match body.get_mut(name).map(Value::take) {
            Some(Value::String(text)) if !text.is_empty() => Some(SecretText::new(text)),
            _ => None,
        };
        let (access_token, id_token) = (take("access_token"), take("id_token"));
        Ok(Self { access_token, id_token, body })
    }

    /// Returns the access token; an error if the response has none.
    pub(crate) fn access_token(&self) -> Result<&SecretText, ProviderError> {
        self.access_token.as_ref().ok_or_else(|| bad("there is no access_token"))
    }
}

fn bad(reason: &str) -> ProviderError {
    ProviderError::BadAnswer { stage: Stage::Token, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests;
