//! Settings of outbound requests to identity providers, and the configured providers.

use latchkey_oauth::{Networks, OutboundSettings, Proxy};
use latchkey_service::Error;
use latchkey_service::oauth::providers::OAuthParts;

use super::WiringError;
use crate::settings::{Scope, Settings};

pub(crate) fn parts(settings: &Settings) -> Result<OAuthParts, WiringError> {
    if settings.scope == Scope::Database {
        return Ok(OAuthParts {
            outbound: OutboundSettings::default(),
            configured: Vec::new(),
            stand_in: None,
        });
    }
    let oauth = &settings.oauth;
    let proxy = oauth.proxy.as_ref().map(|proxy| {
        Proxy::parse(proxy.reveal()).ok_or_else(|| refused("oauth.proxy", "is no address of a proxy"))
    });
    let outbound = OutboundSettings {
        networks: Networks {
            loopback: settings.server.is_development(),
            private: oauth.allow_private_networks,
        },
        proxy: proxy.transpose()?,
        ca_file: oauth.ca_file.clone(),
        timeout: oauth.timeout,
        lookup: None,
    };
    let configured = settings.providers.iter().map(|(key, provider)| {
        let refuse = |error: Error| refused(&format!("oauth.providers.{key}"), &error.to_string());
        provider.configured(key).map_err(refuse)
    });
    Ok(OAuthParts { outbound, configured: configured.collect::<Result<_, _>>()?, stand_in: None })
}

fn refused(key: &str, reason: &str) -> WiringError {
    WiringError::OAuth { key: key.to_owned(), reason: reason.to_owned() }
}
