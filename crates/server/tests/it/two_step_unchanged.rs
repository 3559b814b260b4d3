//! Tests that accounts without second factors are answered as before there were any: every call of that time, with
//! success, without credentials, and with an empty body. Pages and console are on: they change no response of the
//! API.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::provider::{Document, PROVIDER_CLIENT_ID};
use latchkey_testkit::{PASSWORD, Session, TestApp, User, Value, both_stores, json, seconds};
use url::Url;

use crate::email_calls::{
    NEW_PASSWORD, TARGET, exchange, resend, resend_to, reset, send_reset, send_reset_to, sign_up_to,
    verify_token,
};
use crate::oauth_calls::{self, VERIFIER, acme, auth_url, code_of, link, person, start};
use crate::two_step_tape::{Tape, has_success, name_of, recorded_routes};

const ADA: &str = "ada@example.org";
const FORM: &str = "application/x-www-form-urlencoded";
const NOBODY: &str = crate::routes::NOBODY;

async fn sessions(app: &TestApp, tape: &mut Tape<'_>) {
    let anon = app.anon();
    let sign_up = "POST /api/auth/users";
    tape.take(sign_up, anon.sign_up("eve@example.org", PASSWORD)).await;
    tape.take(sign_up, anon.sign_up("bob@example.org", PASSWORD).client_type("server")).await;
    tape.take(sign_up, anon.sign_up("eve@example.org", PASSWORD)).await;
    tape.take(sign_up, anon.sign_up("zoe@example.org", "short")).await;
    let sign_in = "POST /api/auth/sessions";
    let web = tape.take(sign_in, anon.sign_in("eve@example.org", PASSWORD)).await;
    let mobile = tape.take(sign_in, anon.sign_in("eve@example.org", PASSWORD).client_type("mobile")).await;
    tape.take(sign_in, anon.sign_in("eve@example.org", "a wrong password")).await;
    let (web, mobile) = (Session::of(&web), Session::of(&mobile));
    for session in [&web, &mobile, &mobile] {
        tape.take("POST /api/auth/refresh", anon.refresh(session)).await;
    }
    tape.take("POST /api/auth/refresh", anon.refresh(&web).header("x-csrf-token", "wrong")).await;
    let ada = app.user("ada").await;
    let cookie = ada.session.cookie.as_deref().unwrap();
    tape.take("GET /api/auth/csrf", anon.get("/api/auth/csrf").cookie(cookie)).await;
    tape.take("GET /api/auth/sessions/current", ada.get("/api/auth/sessions/current")).await;
    let other = ada.sign_in_again().await;
    let listed = tape.take("GET /api/auth/sessions", ada.get("/api/auth/sessions")).await.json();
    let listed = listed["sessions"].as_array().unwrap();
    let id = listed.iter().find(|session| session["current"] == false).unwrap()["id"].as_str().unwrap();
    tape.take("DELETE /api/auth/sessions/{id}", ada.delete(&format!("/api/auth/sessions/{id}"))).await;
    tape.take("POST /api/auth/refresh", anon.refresh(&other)).await;
    let change = |current: &str| {
        ada.post("/api/auth/password", json!({"currentPassword": current, "newPassword": NEW_PASSWORD}))
    };
    tape.take("POST /api/auth/password", change("a wrong password")).await;
    tape.take("POST /api/auth/password", change(PASSWORD)).await;
    tape.take("DELETE /api/auth/sessions", ada.delete("/api/auth/sessions?others=true")).await;
    tape.take("POST /api/auth/logout", anon.sign_out(&ada.session)).await;
    tape.take("GET /api/auth/sessions/current", ada.get("/api/auth/sessions/current")).await;
}

async fn profiles(ada: &User, tape: &mut Tape<'_>) {
    let me = "/api/profiles/me";
    tape.take("GET /api/profiles/me", ada.get(me)).await;
    tape.take("PATCH /api/profiles/me", ada.patch(me, json!({"username": "countess", "bio": "Numbers"})))
        .await;
    tape.take("GET /api/profiles/search", ada.search("countess")).await;
    tape.take("GET /api/profiles/{userId}", ada.get(&format!("/api/profiles/{}", ada.id))).await;
    tape.take("GET /api/auth/profiles/{userId}", ada.get(&format!("/api/auth/profiles/{}", ada.id))).await;
    let set =
        ada.patch("/api/auth/profiles/current", json!({"profile": {"name": "Ada L.", "colour": "red"}}));
    tape.take("PATCH /api/auth/profiles/current", set).await;
}

async fn users_for_an_admin(app: &TestApp, tape: &mut Tape<'_>, id: &str) {
    let admin = app.admin();
    let user = |rest: &str| format!("/api/auth/users/{id}{rest}");
    tape.take("GET /api/auth/users", admin.get("/api/auth/users")).await;
    tape.take(
        "POST /api/auth/users",
        admin.post("/api/auth/users", json!({"email": "zoe@example.org", "password": PASSWORD})),
    )
    .await;
    tape.take("GET /api/auth/users/{id}", admin.get(&user(""))).await;
    tape.take("GET /api/auth/users/{id}", admin.get(&format!("/api/auth/users/{NOBODY}"))).await;
    for change in [
        json!({"metadata": {"plan": 1}}),
        json!({"emailVerified": true}),
        json!({"banned": true}),
        json!({"banned": false}),
        json!({"email": "lovelace@example.org"}),
    ] {
        tape.take("PATCH /api/auth/users/{id}", admin.patch(&user(""), change)).await;
    }
    tape.take("DELETE /api/auth/users/{id}/sessions", admin.delete(&user("/sessions"))).await;
    tape.take("DELETE /api/auth/users/{id}/profile", admin.delete(&user("/profile"))).await;
    tape.take("GET /api/auth/config", admin.get("/api/auth/config")).await;
    tape.take("PUT /api/auth/config", admin.put("/api/auth/config", json!({"passwordMinLength": 10}))).await;
    tape.take("DELETE /api/auth/users", admin.delete("/api/auth/users").json(&json!({"userIds": [id]})))
        .await;
    tape.take("GET /api/auth/audit", admin.get("/api/auth/audit")).await;
}

/// A sign-in through a built-in provider, up to the return of somebody who declined there.
async fn declined_at_google(app: &TestApp, tape: &mut Tape<'_>) {
    let (anon, callback) = (app.anon(), "/api/auth/oauth/google/callback");
    for method in ["GET", "POST"] {
        let start = anon.get("/api/auth/oauth/google").query("redirect_uri", oauth_calls::APP);
        let start = start.query("code_challenge", oauth_calls::CHALLENGE);
        let url = oauth_calls::auth_url_of(&tape.take("GET /api/auth/oauth/{provider}", start).await);
        let state = parameter(&Url::parse(&url).unwrap(), "state").unwrap();
        let query = format!("state={state}&error=access_denied");
        let back = match method {
            "GET" => anon.get(&format!("{callback}?{query}")),
            _ => anon.request(method, callback).raw(FORM, query),
        };
        tape.take(&format!("{method} /api/auth/oauth/{{provider}}/callback"), back).await;
    }
}

async fn configurations(app: &TestApp, tape: &mut Tape<'_>) {
    let admin = app.admin();
    let built_in = json!({"provider": "google", "clientId": "c", "clientSecret": "s"});
    let endpoint = "https://id.acme.example/.well-known/openid-configuration";
    let custom = json!({"key": "acme", "name": "Acme", "discoveryEndpoint": endpoint, "clientId": "c", "clientSecret": "s"});
    for (all, one, path, body) in [
        (
            "/api/auth/oauth/configs",
            "/api/auth/oauth/{provider}/config",
            "/api/auth/oauth/google/config",
            built_in,
        ),
        (
            "/api/auth/oauth/custom/configs",
            "/api/auth/oauth/custom/{key}/config",
            "/api/auth/oauth/custom/acme/config",
            custom,
        ),
    ] {
        tape.take(&format!("POST {all}"), admin.post(all, body)).await;
        tape.take(&format!("GET {all}"), admin.get(all)).await;
        tape.take(&format!("GET {one}"), admin.get(path)).await;
        tape.take(&format!("PUT {one}"), admin.put(path, json!({"scopes": ["openid", "email"]}))).await;
        if path.contains("google") {
            declined_at_google(app, tape).await;
        }
        tape.take(&format!("DELETE {one}"), admin.delete(path)).await;
    }
}

async fn providers(app: &TestApp, tape: &mut Tape<'_>) {
    let (ada, acme, anon) = (app.user("ada").await, acme(app).await, app.anon());
    acme.person(person("eve", "eve@example.org"));
    tape.take("GET /api/auth/oauth/custom/{key}", start(&anon, "acme")).await;
    let callback = acme.consent(&auth_url(&anon, "acme").await);
    let back = tape.take("GET /api/auth/oauth/custom/{key}/callback", anon.get(callback.as_str())).await;
    let code = code_of(&back.redirected());
    for _ in 0..2 {
        tape.take("POST /api/auth/oauth/exchange", oauth_calls::exchange(&anon, &code, VERIFIER)).await;
    }
    let callback = acme.consent(&auth_url(&anon, "acme").await);
    let form = anon.request("POST", callback.path()).raw(FORM, callback.query().unwrap());
    tape.take("POST /api/auth/oauth/custom/{key}/callback", form).await;
    tape.take("POST /api/auth/identities/{provider}/link", link(&ada, "acme")).await;
    acme.person(person("ada at home", "home@example.org"));
    let code = oauth_calls::link_code(&ada, &acme, "acme").await;
    tape.take("POST /api/auth/oauth/exchange", oauth_calls::exchange(&ada, &code, VERIFIER)).await;
    tape.take("GET /api/auth/identities", ada.get("/api/auth/identities")).await;
    for _ in 0..2 {
        tape.take("DELETE /api/auth/identities/{provider}", ada.delete("/api/auth/identities/acme")).await;
    }
    let native = json!({"nativeClientIds": [PROVIDER_CLIENT_ID]});
    app.admin().put("/api/auth/oauth/custom/acme/config", native).send().await.expect(200);
    acme.says(Document::IdToken, json!({"aud": PROVIDER_CLIENT_ID}));
    let token = acme.id_token(None);
    for _ in 0..2 {
        let body = json!({"provider": "acme", "token": token});
        tape.take("POST /api/auth/id-token", anon.post("/api/auth/id-token", body)).await;
    }
}

async fn mailed_codes(app: &TestApp, tape: &mut Tape<'_>) {
    let (anon, verify) = (app.anon(), "POST /api/auth/email/verify");
    tape.take("POST /api/auth/users", anon.sign_up(ADA, PASSWORD)).await;
    tape.take("POST /api/auth/sessions", anon.sign_in(ADA, PASSWORD)).await;
    tape.take("POST /api/auth/email/send-verification", resend(&anon, ADA)).await;
    let code = app.mail_to(ADA).await.code();
    for code in [crate::email_calls::other_than(&code), &code, &code] {
        tape.take(verify, anon.verify(ADA, code)).await;
    }
    tape.take("POST /api/auth/email/send-reset-password", send_reset(&anon, ADA)).await;
    let code = app.mail_to(ADA).await.code();
    let call = "POST /api/auth/email/exchange-reset-password-token";
    tape.take(call, exchange(&anon, ADA, crate::email_calls::other_than(&code))).await;
    let exchanged = tape.take(call, exchange(&anon, ADA, &code)).await.json();
    let token = exchanged["token"].as_str().unwrap();
    for password in ["short", NEW_PASSWORD, NEW_PASSWORD] {
        tape.take("POST /api/auth/email/reset-password", reset(&anon, token, password)).await;
    }
}

async fn mailed_links(app: &TestApp, tape: &mut Tape<'_>) {
    let (anon, open) = (app.anon(), "GET /api/auth/email/verify-link");
    tape.take("POST /api/auth/users", sign_up_to(&anon, ADA, TARGET)).await;
    app.mail_to(ADA).await;
    tape.take("POST /api/auth/email/send-verification", resend_to(&anon, ADA, TARGET)).await;
    let mail = app.mail_to(ADA).await;
    tape.take(open, anon.get(&mail.link())).await;
    tape.take(open, anon.get("/api/auth/email/verify-link?token=x")).await;
    let agree =
        anon.request("POST", "/api/auth/email/verify-link").raw(FORM, format!("token={}", mail.token()));
    tape.take("POST /api/auth/email/verify-link", agree).await;
    tape.take("POST /api/auth/email/verify", verify_token(&anon, &mail.token())).await;
    sign_up_to(&anon, "eve@example.org", TARGET).send().await.expect(200);
    let token = app.mail_to("eve@example.org").await.token();
    tape.take("POST /api/auth/email/verify", verify_token(&anon, &token)).await;
    tape.take("POST /api/auth/email/send-reset-password", send_reset_to(&anon, ADA, TARGET)).await;
    let mail = app.mail_to(ADA).await;
    tape.take("GET /api/auth/email/reset-password-link", anon.get(&mail.link())).await;
    tape.take("POST /api/auth/email/reset-password", reset(&anon, &mail.token(), NEW_PASSWORD)).await;
}

both_stores! {
    with(|b| b.pages().console())
    async fn sessions_are_answered_as_before(app) {
        let mut tape = Tape::new(&app, "sessions");
        sessions(&app, &mut tape).await;
        tape.end();
    }

    with(|b| b.pages().console())
    async fn profiles_and_administration_are_answered_as_before(app) {
        let mut tape = Tape::new(&app, "profiles and administration");
        let ada = app.user("ada").await;
        profiles(&ada, &mut tape).await;
        configurations(&app, &mut tape).await;
        users_for_an_admin(&app, &mut tape, &ada.id).await;
        for path in ["/api/auth/public-config", "/.well-known/jwks.json", "/health/live", "/health/ready", "/openapi.json"] {
            tape.take(&format!("GET {path}"), app.anon().get(path)).await;
        }
        tape.end();
    }

    with(|b| b.pages().console().verification_by_code())
    async fn providers_are_answered_as_before(app) {
        let mut tape = Tape::new(&app, "providers");
        providers(&app, &mut tape).await;
        tape.end();
    }

    with(|b| b.pages().console().verification_by_code())
    async fn mailed_codes_are_answered_as_before(app) {
        let mut tape = Tape::new(&app, "mailed codes");
        mailed_codes(&app, &mut tape).await;
        tape.end();
    }

    with(|b| b.pages().console().verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn mailed_links_are_answered_as_before(app) {
        let mut tape = Tape::new(&app, "mailed links");
        mailed_links(&app, &mut tape).await;
        tape.end();
    }

    with(|b| b.pages().console())
    async fn refusals_are_as_before(app) {
        let mut tape = Tape::new(&app, "refusals");
        let ada = app.user("ada").await;
        for route in recorded_routes() {
            let anybody = app.anon().request(route.method, &route.path_of_an_unknown_id());
            tape.take(&name_of(route), anybody).await;
            if route.takes_body() {
                tape.take(&name_of(route), route.request(&app, &ada).json(&json!({}))).await;
            }
        }
        tape.end();
    }

    // Without a second factor nothing is written that was not written before.
    with(|b| b.verification_by_code())
    async fn audit_trail_and_mails_are_as_before(app) {
        let ada = app.user("ada").await;
        app.clock.advance(seconds(1));
        let _ = ada.sign_in_again().await;
        app.run_jobs().await;

        let events = crate::audit::events(&app).await;

        let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(names[0], "sign_in");
        let new = ["challenged", "factor", "totp", "two_step", "recovery"];
        assert!(!names.iter().any(|name| new.iter().any(|word| name.contains(word))), "{names:?}");
        assert_eq!((app.mail().total(), events[0]["details"]["amr"] == Value::from(vec!["pwd"])), (1, true));
    }
}

// The list of calls is that of the router.
#[test]
fn every_call_of_before_is_recorded_with_success() {
    let missing: Vec<_> = recorded_routes().map(name_of).filter(|call| !has_success(call)).collect();
    assert_eq!(missing, Vec::<String>::new());
}
