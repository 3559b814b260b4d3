//! Where a provider is: its endpoints, its discovery document, and the issuer that must be in it.

use url::Url;

use super::Provider;
use super::check::is_guid;
use crate::error::ProviderError;
use crate::id_token::Issuer;
use crate::outbound::Networks;
use crate::providers::Protocol;

/// What a discovery address ends with (OpenID Connect Discovery 1.0 section 4).
const WELL_KNOWN: &str = "/.well-known/openid-configuration";
/// The tenant of Microsoft's personal accounts.
const CONSUMERS: &str = "9188040d-6c67-4c5b-b112-36a304b66dad";
/// Longest address of a discovery document.
const LONGEST_ADDRESS: usize = 2048;

/// Where a provider is.
#[derive(Clone)]
pub(crate) enum Place {
    /// Where its entry says.
    AsInEntry,
    /// Where its entry says, but every host is a folder of this address: a stand-in for tests.
    Under(Url),
    /// Where a discovery document says, which must name this issuer (with or without a slash at its end).
    Discovered {
        /// Address of the document.
        document: Url,
        /// The issuer without a slash at its end.
        issuer: String,
    },
}

impl Place {
    /// Reads the address of a discovery document or of an issuer. Whether it may be talked to is decided when it is.
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
    /// Checks what can be checked of a discovery address of the operator's before anybody asks it; the reason is given
    /// where it will never be talked to.
    pub fn check_place(&self, networks: Networks) -> Result<(), &'static str> {
        match &self.place {
            Place::Discovered { document, .. } => networks.check(document),
            Place::AsInEntry | Place::Under(_) => Ok(()),
        }
    }

    /// True where both have the same discovery address, in whatever writing.
    #[must_use]
    pub fn is_where(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::Discovered { document: own, .. }, Place::Discovered { document: others, .. }) => {
                own == others
            }
            (Place::Discovered { .. }, _) | (_, Place::Discovered { .. }) => false,
            _ => true,
        }
    }

    /// An endpoint of the entry.
    pub(crate) fn endpoint(&self, url: &str) -> Result<Url, ProviderError> {
        Url::parse(&self.moved(url))
            .map_err(|_| ProviderError::Misconfigured("an endpoint of the provider is no URL"))
    }

    /// An endpoint of the entry with the configured tenant in the place of `{tenant}`.
    pub(crate) fn tenant_endpoint(&self, url: &str) -> Result<Url, ProviderError> {
        self.endpoint(&url.replace("{tenant}", self.tenant()))
    }

    /// The address of the discovery document.
    pub(crate) fn document(&self) -> Result<Url, ProviderError> {
        match &self.place {
            Place::Discovered { document, .. } => Ok(document.clone()),
            Place::AsInEntry | Place::Under(_) => {
                self.endpoint(&format!("{}{WELL_KNOWN}", self.issuer_for(self.tenant())))
            }
        }
    }

    /// True where a discovery document of this provider may name this issuer.
    pub(crate) fn is_issuer_of_document(&self, named: &str) -> bool {
        self.issuers_of_document().iter().any(|issuer| issuer == named)
    }

    /// The issuers that a discovery document of this provider may name.
    pub(crate) fn issuers_of_document(&self) -> Vec<String> {
        if let Place::Discovered { issuer, .. } = &self.place {
            return vec![issuer.clone(), format!("{issuer}/")];
        }
        let tenant = match self.tenant() {
            "common" | "organizations" if self.has_tenants() => "{tenantid}",
            "consumers" if self.has_tenants() => CONSUMERS,
            tenant => tenant,
        };
        vec![self.moved(&self.issuer_for(tenant))]
    }

    /// The issuer that identities of this provider have: the one that discovery names, without a slash at its end, which a
    /// document may name or not; empty where the provider has none, `None` where only a token names it.
    #[must_use]
    pub fn issuer(&self) -> Option<String> {
        match &self.place {
            Place::Discovered { issuer, .. } => Some(issuer.clone()),
            Place::AsInEntry | Place::Under(_) => self.entry.issuer().map(|issuer| self.moved(issuer)),
        }
    }

    /// Who must have issued an `id_token` where the discovery document names, or may name, these issuers.
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

    /// The address itself, or where its stand-in is.
    fn moved(&self, address: &str) -> String {
        match (&self.place, address.strip_prefix("https://")) {
            (Place::Under(base), Some(rest)) => {
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
