//! Endpoints, discovery document and expected issuer of a provider.

use url::Url;

use super::Provider;
use super::validation::is_guid;
use crate::error::ProviderError;
use crate::id_token::Issuer;
use crate::outbound::Networks;
use crate::providers::Protocol;

/// Path of discovery documents (OpenID Connect Discovery 1.0 section 4).
const WELL_KNOWN: &str = "/.well-known/openid-configuration";
/// Tenant id of Microsoft's personal accounts.
const CONSUMERS: &str = "9188040d-6c67-4c5b-b112-36a304b66dad";
/// Maximum length of a discovery URL in bytes.
const LONGEST_ADDRESS: usize = 2048;

/// The source of a provider's endpoints.
#[derive(Clone)]
pub(crate) enum Location {
    /// The endpoints are those in the provider table.
    AsInEntry,
    /// The endpoints are those in the provider table, with every host mapped to a folder of this URL, for tests.
    Under(Url),
    /// The endpoints are in a discovery document, which must name `issuer`, with or without a trailing slash.
    Discovered {
        /// URL of the document.
        document: Url,
        /// Issuer without a trailing slash.
        issuer: String,
    },
}

impl Location {
    /// Parses the URL of a discovery document or of an issuer. The network policy is not checked here.
    pub(super) fn discovered(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.has_host()
            && matches!(url.scheme(), "https" | "http");
        if !is_plain || text.len() > LONGEST_ADDRESS {
            return None;
        }
        let given = url.as_str().trim_end_matches('/');
        let issuer = given.strip_suffix(WELL_KNOWN).unwrap_or(given).trim_end_matches('/').to_owned();
        let document = Url::parse(&format!("{issuer}{WELL_KNOWN}")).ok()?;
        Some(Self::Discovered { document, issuer })
    }
}

impl Provider {
    /// Checks the discovery URL of a custom provider against the network policy: its scheme, user info and host,
    /// without a DNS lookup.
    pub fn check_place(&self, networks: Networks) -> Result<(), &'static str> {
        match &self.location {
            Location::Discovered { document, .. } => networks.check(document),
            Location::AsInEntry | Location::Under(_) => Ok(()),
        }
    }

    /// Returns `true` if both providers have the same discovery URL after normalisation, or neither has one.
    #[must_use]
    pub fn has_same_location(&self, other: &Self) -> bool {
        match (&self.location, &other.location) {
            (Location::Discovered { document: own, .. }, Location::Discovered { document: others, .. }) => {
                own == others
            }
            (Location::Discovered { .. }, _) | (_, Location::Discovered { .. }) => false,
            _ => true,
        }
    }

    /// Parses an endpoint of the provider table.
    pub(crate) fn endpoint(&self, url: &str) -> Result<Url, ProviderError> {
        Url::parse(&self.relocated(url))
            .map_err(|_| ProviderError::Misconfigured("an endpoint of the provider is no URL"))
    }

    /// Parses an endpoint of the provider table, with the configured tenant in place of `{tenant}`.
    pub(crate) fn tenant_endpoint(&self, url: &str) -> Result<Url, ProviderError> {
        self.endpoint(&url.replace("{tenant}", self.tenant()))
    }

    /// Returns the URL of the discovery document.
    pub(crate) fn document(&self) -> Result<Url, ProviderError> {
        match &self.location {
            Location::Discovered { document, .. } => Ok(document.clone()),
            Location::AsInEntry | Location::Under(_) => {
                self.endpoint(&format!("{}{WELL_KNOWN}", self.issuer_for(self.tenant())))
            }
        }
    }

    /// Returns `true` if the provider's discovery document may have this `issuer`.
    pub(crate) fn is_issuer_of_document(&self, named: &str) -> bool {
        self.issuers_of_document().iter().any(|issuer| issuer == named)
    }

    /// Returns the issuers that the provider's discovery document may have.
    pub(crate) fn issuers_of_document(&self) -> Vec<String> {
        if let Location::Discovered { issuer, .. } = &self.location {
            return vec![issuer.clone(), format!("{issuer}/")];
        }
        let tenant = match self.tenant() {
            "common" | "organizations" if self.has_tenants() => "{tenantid}",
            "consumers" if self.has_tenants() => CONSUMERS,
            tenant => tenant,
        };
        vec![self.relocated(&self.issuer_for(tenant))]
    }

    /// Returns the issuer of this provider's identities, without a trailing slash. Empty for a provider without an
    /// issuer; `None` if each tenant has its own.
    #[must_use]
    pub fn issuer(&self) -> Option<String> {
        match &self.location {
            Location::Discovered { issuer, .. } => Some(issuer.clone()),
            Location::AsInEntry | Location::Under(_) => {
                self.entry.issuer().map(|issuer| self.relocated(issuer))
            }
        }
    }

    /// Returns the issuers that an `id_token` may have; `documented` are those in the discovery document.
    pub(crate) fn issuer_of_tokens<'a>(&self, documented: &[&'a str]) -> Issuer<'a> {
        let pattern = documented.iter().find(|issuer| self.has_tenants() && issuer.contains("{tenantid}"));
        if let Some(pattern) = pattern {
            let tenants =
                if self.tenant() == "organizations" { is_organization } else { is_guid as fn(&str) -> bool };
            return Issuer::OfTenant { pattern, tenants };
        }
        let mut names = documented.to_vec();
        if let Protocol::OpenId { aliases, .. } = self.entry.protocol {
            names.extend(aliases);
        }
        Issuer::OneOf(names)
    }

    fn has_tenants(&self) -> bool {
        self.entry.issuer().is_none()
    }

    fn tenant(&self) -> &str {
        self.client.tenant.as_deref().unwrap_or("common")
    }

    fn issuer_for(&self, tenant: &str) -> String {
        match self.entry.protocol {
            Protocol::OpenId { issuer, .. } => issuer.replace("{tenant}", tenant),
            Protocol::OAuth { .. } => String::new(),
        }
    }

    /// Maps a URL to the mock provider of tests, if there is one.
    fn relocated(&self, address: &str) -> String {
        match (&self.location, address.strip_prefix("https://")) {
            (Location::Under(base), Some(rest)) => {
                format!("{}/{rest}", base.as_str().trim_end_matches('/'))
            }
            _ => address.to_owned(),
        }
    }
}

fn is_organization(tenant: &str) -> bool {
    is_guid(tenant) && tenant != CONSUMERS
}

#[cfg(test)]
mod tests;
