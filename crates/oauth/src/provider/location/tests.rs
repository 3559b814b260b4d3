use super::*;
use crate::provider::tests::{custom, microsoft, provider};

#[test]
fn a_document_is_found_by_its_address_or_by_its_issuer() {
    for given in [
        "https://idp.example/realms/a",
        "https://idp.example/realms/a/",
        "https://idp.example/realms/a/.well-known/openid-configuration",
    ] {
        let provider = custom(given);
        let document = provider.document().unwrap();
        assert_eq!(document.as_str(), "https://idp.example/realms/a/.well-known/openid-configuration");
        assert!(provider.is_issuer_of_document("https://idp.example/realms/a"));
        assert!(!provider.is_issuer_of_document("https://idp.example/realms/b"));
        assert!(!provider.is_issuer_of_document("https://idp.example"));
    }
}

#[test]
fn a_stand_in_has_every_host_as_a_folder() {
    let base: Url = "http://127.0.0.1:4000/stand-in/".parse().unwrap();
    let provider = provider("github").under(base);
    let user = provider.endpoint("https://api.github.com/user").unwrap();
    assert_eq!(user.as_str(), "http://127.0.0.1:4000/stand-in/api.github.com/user");
}

#[test]
fn microsofts_document_is_that_of_the_tenant() {
    for (tenant, segment) in [(None, "common"), (Some("organizations"), "organizations")] {
        let document = microsoft(tenant).document().unwrap();
        let expected =
            format!("https://login.microsoftonline.com/{segment}/v2.0/.well-known/openid-configuration");
        assert_eq!(document.as_str(), expected);
    }
}

#[test]
fn personal_accounts_are_not_of_an_organisation() {
    assert!(is_organization("72f988bf-86f1-41af-91ab-2d7cd011db47"));
    assert!(!is_organization(CONSUMERS));
    assert!(!is_organization("common"));
}

#[test]
fn identities_have_the_issuer_that_discovery_names_without_a_slash_at_its_end() {
    for given in [
        "https://idp.example/realms/a",
        "https://idp.example/realms/a/",
        "https://idp.example/realms/a/.well-known/openid-configuration",
    ] {
        assert_eq!(custom(given).issuer().as_deref(), Some("https://idp.example/realms/a"));
    }
    assert_eq!(provider("google").issuer().as_deref(), Some("https://accounts.google.com"));
    assert_eq!(provider("github").issuer().as_deref(), Some(""));
}

#[test]
fn issuer_of_a_tenant_is_told_by_tokens_alone() {
    for tenant in [None, Some("organizations"), Some("72f988bf-86f1-41af-91ab-2d7cd011db47")] {
        assert_eq!(microsoft(tenant).issuer(), None);
    }
}
