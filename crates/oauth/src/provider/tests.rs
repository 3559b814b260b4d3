use proptest::prelude::*;

use super::*;
use crate::providers::built_in;

pub(crate) fn client() -> ClientSettings {
    ClientSettings {
        client_id: "client".to_owned(),
        secret: ClientSecret::Text(SecretText::new("secret".to_owned())),
        scopes: None,
        native_client_ids: Vec::new(),
        tenant: None,
    }
}

pub(crate) fn custom(discovery: &str) -> Provider {
    Provider::custom("acme", discovery, client()).unwrap()
}

pub(crate) fn provider(key: &str) -> Provider {
    Provider::built_in(built_in(key).unwrap(), client()).unwrap()
}

pub(crate) fn microsoft(tenant: Option<&str>) -> Provider {
    let client = ClientSettings { tenant: tenant.map(str::to_owned), ..client() };
    Provider::built_in(built_in("microsoft").unwrap(), client).unwrap()
}

fn refusal(key: &str, change: impl FnOnce(&mut ClientSettings)) -> Option<InvalidProvider> {
    let mut client = client();
    change(&mut client);
    Provider::built_in(built_in(key).unwrap(), client).err()
}

#[test]
fn credentials_are_visible_texts() {
    for bad in ["", "with space", "line\nbreak", "ünicode", &"x".repeat(513)] {
        assert_eq!(refusal("google", |c| c.client_id = bad.to_owned()), Some(InvalidProvider::ClientId));
        let ids = vec![bad.to_owned()];
        assert_eq!(refusal("google", |c| c.native_client_ids = ids), Some(InvalidProvider::NativeClientIds));
    }
    let secret = |text: &str| ClientSecret::Text(SecretText::new(text.to_owned()));
    assert_eq!(refusal("google", |c| c.secret = secret("")), Some(InvalidProvider::ClientSecret));
    let scopes = Some(vec!["two words".to_owned()]);
    assert_eq!(refusal("google", |c| c.scopes = scopes), Some(InvalidProvider::Scopes));
}

#[test]
fn apple_alone_takes_a_key() {
    let key = || ClientSecret::AppleKey {
        team_id: "TEAM".to_owned(),
        key_id: "KEY".to_owned(),
        private_key: SecretText::new("no key".to_owned()),
    };
    // A secret signed by the operator is accepted, too.
    assert_eq!(refusal("apple", |_| ()), None);
    assert_eq!(refusal("apple", |c| c.secret = key()), Some(InvalidProvider::AppleKey));
    assert_eq!(refusal("google", |c| c.secret = key()), Some(InvalidProvider::SecretKind));
}

#[test]
fn apples_key_is_on_the_curve_that_it_signs_with() {
    let refusal_of = |curve| {
        let pair = rcgen::KeyPair::generate_for(curve).unwrap();
        let private_key = SecretText::new(pair.serialize_pem());
        let (team_id, key_id) = ("TEAM".to_owned(), "KEY".to_owned());
        refusal("apple", |c| c.secret = ClientSecret::AppleKey { team_id, key_id, private_key })
    };
    assert_eq!(refusal_of(&rcgen::PKCS_ECDSA_P256_SHA256), None);
    assert_eq!(refusal_of(&rcgen::PKCS_ECDSA_P384_SHA384), Some(InvalidProvider::AppleKey));
}

#[test]
fn tenants_are_microsofts() {
    let tenant = |text: &str| Some(text.to_owned());
    assert_eq!(refusal("google", |c| c.tenant = tenant("common")), Some(InvalidProvider::Tenant));
    for good in ["common", "organizations", "consumers", "72f988bf-86f1-41af-91ab-2d7cd011db47"] {
        assert_eq!(refusal("microsoft", |c| c.tenant = tenant(good)), None);
    }
    for bad in ["", "../evil", "contoso.onmicrosoft.com", "72F988BF-86F1-41AF-91AB-2D7CD011DB47"] {
        assert_eq!(refusal("microsoft", |c| c.tenant = tenant(bad)), Some(InvalidProvider::Tenant));
    }
}

#[test]
fn the_operators_scopes_replace_all_but_the_needed_ones() {
    let scopes = |scopes: &[&str]| {
        let scopes = Some(scopes.iter().map(|scope| (*scope).to_owned()).collect());
        Provider::custom("acme", "https://idp.example", ClientSettings { scopes, ..client() })
            .unwrap()
            .scopes()
    };
    assert_eq!(custom("https://idp.example").scopes(), "openid email profile");
    assert_eq!(scopes(&["email", "groups"]), "openid email groups");
    assert_eq!(scopes(&["email", "openid"]), "email openid");
    assert_eq!(provider("facebook").scopes(), "email,public_profile");
    let client = ClientSettings { scopes: Some(vec!["read:user".to_owned()]), ..client() };
    let github = Provider::built_in(built_in("github").unwrap(), client).unwrap();
    assert_eq!(github.scopes(), "user:email read:user");
}

#[test]
fn a_discovery_address_is_a_plain_url() {
    for bad in [
        "",
        "idp.example",
        "ftp://idp.example",
        "https://user@idp.example",
        "https://idp.example/?tenant=1",
        "https://idp.example/#x",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ] {
        let refused = Provider::custom("acme", bad, client()).err();
        assert_eq!(refused, Some(InvalidProvider::Discovery), "{bad}");
    }
}

/// Without the required scopes the provider would not return the identity.
#[test]
fn required_scopes_are_always_requested() {
    for (key, needed) in [
        ("bitbucket", "account email other"),
        ("discord", "identify other"),
        ("figma", "current_user:read other"),
        ("github", "user:email other"),
        ("instagram", "instagram_business_basic,other"),
        ("spotify", "user-read-email other"),
        ("tiktok", "user.info.basic,other"),
        ("x", "users.read tweet.read other"),
    ] {
        let client = ClientSettings { scopes: Some(vec!["other".to_owned()]), ..client() };
        assert_eq!(Provider::built_in(built_in(key).unwrap(), client).unwrap().scopes(), needed);
    }
}

proptest! {
    #[test]
    fn no_discovery_address_breaks_the_reader(text in ".{0,100}") {
        let _ = Provider::custom("acme", &text, client());
    }
}
