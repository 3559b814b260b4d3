//! Every entry of the provider table, from the authorization URL to the identity, against a mock with
//! documented responses.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::Algorithm;
use latchkey_domain::email::Email;
use latchkey_oauth::{
    AuthorizationRequest, ClientSettings, Grant, Provider, ProviderError, ProviderIdentity, providers,
};
use serde_json::{Value, json};

use crate::entries::{self, Case, Proof};
use crate::fixtures::{NONCE, NOW, SECOND, apple_credentials, client, credentials, grant, start, verifier};
use crate::idp::Signer;
use crate::mock::{Asked, Mock};

/// Issuer of an OpenID Connect entry in its tokens.
fn issuer(key: &str) -> &'static str {
    match key {
        "google" => "https://accounts.google.com",
        "gitlab" => "https://gitlab.com",
        "apple" => "https://appleid.apple.com",
        "microsoft" => "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",
        "slack" => "https://slack.com",
        "twitch" => "https://id.twitch.tv/oauth2",
        other => panic!("{other}"),
    }
}

/// Issuer in the discovery document, and the URL below which the document is.
fn document_issuer(key: &str) -> (&'static str, &'static str) {
    match key {
        "microsoft" => (
            "https://login.microsoftonline.com/{tenantid}/v2.0",
            "https://login.microsoftonline.com/common/v2.0",
        ),
        other => (issuer(other), issuer(other)),
    }
}

struct Play {
    case: Case,
    mock: Mock,
    provider: Provider,
    signer: Signer,
}

impl Play {
    async fn new(case: Case) -> Self {
        let mock = Mock::start().await;
        let entry = providers::built_in(case.key).unwrap();
        let client = if entry.needs_apple_key() { apple_credentials() } else { credentials() };
        let provider = Provider::built_in(entry, client).unwrap().under(mock.address.clone());
        let play = Self { case, mock, provider, signer: Signer::new(Algorithm::ES256, "key-1") };
        play.rehearse();
        play
    }

    /// Scripts the responses of the mock.
    fn rehearse(&self) {
        let Case { key, token, authorize, .. } = &self.case;
        let mut token_answer = self.case.token_answer.clone();
        if let Some(claims) = &self.case.claims {
            let (issuer, folder) = document_issuer(key);
            let at = |url: &str| self.mock.at(url);
            self.mock.on(
                &format!("{folder}/.well-known/openid-configuration"),
                json!({
                    "issuer": at(issuer),
                    "authorization_endpoint": at(authorize),
                    "token_endpoint": at(token),
                    "jwks_uri": at(&format!("{folder}/keys")),
                    "id_token_signing_alg_values_supported": ["ES256"],
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                }),
            );
            self.mock.on(&format!("{folder}/keys"), json!({ "keys": [self.signer.public()] }));
            token_answer["id_token"] = json!(self.signer.sign(&self.claims(claims)));
        }
        self.mock.on(token, token_answer);
        for (url, response) in &self.case.asked {
            self.mock.on(url, response.clone());
        }
    }

    fn claims(&self, special: &Value) -> Value {
        let mut claims = special.clone();
        claims["iss"] = json!(self.mock.at(issuer(self.case.key)));
        claims["aud"] = json!("the-client");
        claims["iat"] = json!(SECOND);
        claims["exp"] = json!(SECOND + 300);
        claims["nonce"] = json!(NONCE);
        claims
    }

    async fn authorization(&self) -> (String, HashMap<String, String>) {
        let hints = [("login_hint".to_owned(), ADA.to_owned()), ("client_id".to_owned(), "evil".to_owned())];
        let request = AuthorizationRequest { hints: &hints, ..start() };
        let url = client().authorization_url(&self.provider, &request, NOW).await.unwrap();
        let query = url.query_pairs().into_owned().collect();
        (url.as_str().split('?').next().unwrap().to_owned(), query)
    }

    async fn identify(&self) -> ProviderIdentity {
        let user = r#"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"eve@example.org"}"#;
        let grant = Grant { user: Some(user), ..grant() };
        client().identify(&self.provider, &grant, NOW).await.unwrap()
    }
}

const ADA: &str = "ada@example.org";

#[test]
fn all_eighteen_providers_are_there_and_played() {
    let mut entries: Vec<_> = providers::BUILT_IN.iter().map(|entry| entry.key).collect();
    let mut played: Vec<_> = entries::all().iter().map(|case| case.key).collect();
    assert!(entries.is_sorted());
    played.sort_unstable();
    assert_eq!(entries, played);
    entries.dedup();
    assert_eq!(entries.len(), 18);
}

#[tokio::test]
async fn every_provider_gets_people_with_all_that_binds_their_answer() {
    for case in entries::all() {
        let play = Play::new(case).await;
        let Case { key, authorize, has_pkce, .. } = &play.case;

        let (endpoint, query) = play.authorization().await;

        assert_eq!(endpoint, play.mock.at(authorize), "{key}");
        assert!(play.mock.all_asked().is_empty(), "{key}: nobody waits for a provider at the start");
        let client_id = if *key == "tiktok" { "client_key" } else { "client_id" };
        for (name, value) in [
            ("response_type", "code"),
            (client_id, "the-client"),
            ("state", "the-state"),
            ("login_hint", ADA),
        ] {
            assert_eq!(query.get(name).map(String::as_str), Some(value), "{key} {name}");
        }
        let challenge = has_pkce.then(|| verifier().challenge());
        assert_eq!(query.get("code_challenge"), challenge.as_ref(), "{key}");
        let nonce = play.case.claims.is_some().then_some(NONCE);
        assert_eq!(query.get("nonce").map(String::as_str), nonce, "{key}");
    }
}

#[tokio::test]
async fn every_provider_yields_an_identity() {
    for case in entries::all() {
        let play = Play::new(case).await;
        let Case { key, subject, email, is_verified, name, avatar, .. } = &play.case;

        let identity = play.identify().await;

        assert_eq!(identity.provider, *key);
        assert_eq!(identity.subject, *subject, "{key}");
        assert_eq!(identity.email.as_ref().map(Email::as_typed), *email, "{key}");
        assert_eq!(identity.email_verified, *is_verified, "{key}");
        assert_eq!(identity.name.as_deref(), *name, "{key}");
        assert_eq!(identity.avatar_url.as_deref(), *avatar, "{key}");
    }
}

#[tokio::test]
async fn every_provider_is_asked_in_its_own_way() {
    for case in entries::all() {
        let play = Play::new(case).await;
        play.identify().await;

        let exchanges = play.mock.asked(play.case.token);
        assert_eq!(exchanges.len(), 1, "{}", play.case.key);
        check_exchange(&play.case, &exchanges[0]);
        for (url, _) in &play.case.asked {
            let asked = play.mock.asked(url);
            assert_eq!(asked.len(), 1, "{url}");
            assert_eq!(asked[0].header("authorization"), Some("Bearer the-access-token"), "{url}");
            assert!(asked[0].header("user-agent").is_some(), "{url}");
        }
    }
}

fn check_exchange(case: &Case, asked: &Asked) {
    let key = case.key;
    let fields: HashMap<String, String> = match case.proof {
        Proof::BasicWithJson => serde_json::from_value(asked.json()).unwrap(),
        _ => asked.form(),
    };
    let field = |name: &str| fields.get(name).map(String::as_str);
    assert_eq!(field("grant_type"), Some("authorization_code"), "{key}");
    assert_eq!(field("code"), Some("the-code"), "{key}");
    assert_eq!(field("redirect_uri"), Some("https://id.example/callback"), "{key}");
    assert_eq!(field("code_verifier"), case.has_pkce.then(|| verifier().expose()), "{key}");
    assert_eq!(asked.header("accept"), Some("application/json"), "{key}");
    let basic = format!("Basic {}", STANDARD.encode("the-client:the-secret"));
    let client_id = if key == "tiktok" { "client_key" } else { "client_id" };
    match case.proof {
        Proof::Basic | Proof::BasicWithJson => {
            assert_eq!(asked.header("authorization"), Some(basic.as_str()), "{key}");
            assert_eq!(field("client_secret"), None, "{key}");
        }
        Proof::Post => {
            assert_eq!(asked.header("authorization"), None, "{key}");
            assert_eq!(field(client_id), Some("the-client"), "{key}");
            let secret = field("client_secret").unwrap();
            assert_eq!(secret == "the-secret", key != "apple", "{key}");
        }
    }
}

#[tokio::test]
async fn apple_is_asked_to_post_its_answer() {
    let case = entries::all().into_iter().find(|case| case.key == "apple").unwrap();
    let (_, query) = Play::new(case).await.authorization().await;
    assert_eq!(query["response_mode"], "form_post");
    assert_eq!(query["scope"], "name email");
}

#[tokio::test]
async fn a_github_person_without_a_verified_primary_address_has_none_that_counts() {
    let case = entries::all().into_iter().find(|case| case.key == "github").unwrap();
    let play = Play::new(case).await;
    let emails = "https://api.github.com/user/emails";
    play.mock.on(emails, json!([{"email": ADA, "verified": false, "primary": true}]));
    assert!(!play.identify().await.email_verified);
    play.mock.on(emails, json!([{"email": ADA, "verified": true, "primary": false}]));
    assert_eq!(play.identify().await.email, None);
}

#[tokio::test]
async fn a_list_of_addresses_that_may_not_be_read_leaves_a_person_without_one() {
    for (key, emails) in [
        ("github", "https://api.github.com/user/emails"),
        ("bitbucket", "https://api.bitbucket.org/2.0/user/emails"),
    ] {
        let case = entries::all().into_iter().find(|case| case.key == key).unwrap();
        let play = Play::new(case).await;
        for status in [403, 404] {
            play.mock.on_status(emails, status, json!({"message": "Not Found"}));
            let identity = play.identify().await;
            assert_eq!((identity.subject.as_str(), identity.email), (play.case.subject, None), "{key}");
        }
    }
}

#[tokio::test]
async fn an_answer_for_microsofts_tenants_names_one_of_them() {
    let case = entries::all().into_iter().find(|case| case.key == "microsoft").unwrap();
    let play = Play::new(case).await;
    let identify = async |issuer: &str| {
        let issuer = play.mock.at(issuer);
        let grant = Grant { issuer: Some(&issuer), ..grant() };
        client().identify(&play.provider, &grant, NOW).await.map(|_| ())
    };
    let of = |tenant: &str| format!("https://login.microsoftonline.com/{tenant}/v2.0");
    assert_eq!(identify(&of("72f988bf-86f1-41af-91ab-2d7cd011db47")).await, Ok(()));
    for other in [of("evil"), of("../x"), "https://evil.example".to_owned(), of("")] {
        assert_eq!(identify(&other).await, Err(ProviderError::IssuerMixUp), "{other}");
    }
}

#[tokio::test]
async fn googles_other_spelling_of_its_issuer_is_taken() {
    let case = entries::all().into_iter().find(|case| case.key == "google").unwrap();
    let play = Play::new(case).await;
    let mut claims = play.claims(play.case.claims.as_ref().unwrap());
    claims["iss"] = json!("accounts.google.com");
    let response = json!({"access_token": "at", "id_token": play.signer.sign(&claims)});
    play.mock.on(play.case.token, response);
    assert_eq!(play.identify().await.subject, play.case.subject);
}

#[tokio::test]
async fn a_microsoft_token_of_a_tenant_that_is_not_its_issuers_is_refused() {
    let case = entries::all().into_iter().find(|case| case.key == "microsoft").unwrap();
    let play = Play::new(case).await;
    let identify = async |claims: &Value| {
        let response = json!({"access_token": "at", "id_token": play.signer.sign(claims)});
        play.mock.on(play.case.token, response);
        client().identify(&play.provider, &grant(), NOW).await.is_ok()
    };
    let good = play.claims(play.case.claims.as_ref().unwrap());
    assert!(identify(&good).await);
    for tid in [json!("11111111-2222-3333-4444-555555555555"), json!(null), json!("common"), json!("../x")] {
        let mut claims = good.clone();
        claims["tid"] = tid;
        assert!(!identify(&claims).await);
    }
}

#[tokio::test]
async fn one_tenant_of_microsofts_lets_no_other_in() {
    let case = entries::all().into_iter().find(|case| case.key == "microsoft").unwrap();
    let mut play = Play::new(case).await;
    let tenant = "11111111-2222-3333-4444-555555555555";
    let settings = ClientSettings { tenant: Some(tenant.to_owned()), ..credentials() };
    let entry = providers::built_in("microsoft").unwrap();
    play.provider = Provider::built_in(entry, settings).unwrap().under(play.mock.address.clone());
    let folder = format!("https://login.microsoftonline.com/{tenant}/v2.0");
    let at = |url: &str| play.mock.at(url);
    play.mock.on(
        &format!("{folder}/.well-known/openid-configuration"),
        json!({
            "issuer": at(&folder),
            "authorization_endpoint": at(play.case.authorize),
            "token_endpoint": at(play.case.token),
            "jwks_uri": at("https://login.microsoftonline.com/common/v2.0/keys"),
            "id_token_signing_alg_values_supported": ["ES256"],
        }),
    );
    // The mock's token is valid, but of another tenant.
    let refused = client().identify(&play.provider, &grant(), NOW).await;
    assert!(refused.is_err());
}
