//! Tests of the number of database round trips per operation of the contract, with limits on: at most two, whatever the
//! latency, except for the calls listed below. `cargo test -p latchkey --test it round_trips -- --nocapture` prints a
//! table.

use latchkey_testkit::{Answer, LyingProvider, PASSWORD, Request, Session, TestApp, json};

use crate::email_calls::{
    NEW_PASSWORD, TARGET, exchange, resend, resend_to, reset, send_reset, verify_token,
};
use crate::oauth_calls::{self, VERIFIER, auth_url_of, code_of, link, person, start};
use crate::routes::plain_reads;

/// Maximum number of round trips of a store operation, and of most calls.
const MOST: usize = 2;

/// Calls that need several store operations, with their exact number of round trips. Limits are committed before a
/// password is hashed, so that no transaction is open meanwhile.
const DEARER: &[(&str, usize)] = &[
    // One round trip comes before the hash, and two decide on locked rows. A correct password and a new account at a
    // free address need no decision, so those calls need two.
    ("signUp, verification", 3),
    ("signUp, pending", 3),
    ("signUp, verification by link", 3),
    ("signInWithPassword, wrong", 3),
    ("signInWithPassword, unknown", 3),
    // One of them reads whether the account has two-step sign-in, which wants a fresh token.
    ("changePassword", 4),
    ("changePassword, wrong", 4),
    ("resetPassword", 3),
    ("resetPassword, link", 3),
    // Settings, keys and providers are loaded before and after the change, and the reload looks for a replaced secret.
    // The first change after the first start also loads the key that the start has made.
    ("admin: change config", 11),
    ("admin: create provider", 11),
    ("admin: change provider", 7),
    ("admin: delete provider", 7),
    // Flow and code are consumed and committed before the provider is called or the account is read.
    ("callback of a provider", 4),
    ("callback of a provider, link", 4),
    ("exchange of a code, new account", 4),
    ("exchange of a code, known identity", 4),
    ("exchange of a code, link", 5),
    // Every part of the account is read by an operation of its own.
    ("/api/auth/account/export", 10),
    // Nothing was counted yet, so the first reader counts: accounts, and the passwords by their kind.
    ("/api/auth/stats", 16),
    // The session is read first, in a round trip of its own.
    ("unlink an identity", 3),
];

/// Service with a database behind a counting proxy, and the rows of the table so far.
struct Measured {
    app: TestApp,
    table: Vec<(&'static str, usize)>,
}

impl Measured {
    async fn with(
        change: impl FnOnce(latchkey_testkit::TestAppBuilder) -> latchkey_testkit::TestAppBuilder,
    ) -> Self {
        let builder = TestApp::builder().limits().redirects(&[TARGET]).counting_round_trips();
        Self { app: change(builder).start().await, table: Vec::new() }
    }

    /// Sends a request and records its number of round trips.
    async fn op(&mut self, name: &'static str, request: Request) -> Answer {
        let _ = self.app.round_trips();
        let answer = request.send().await;
        self.table.push((name, self.app.round_trips()));
        assert!(answer.status < 400, "{name}: {answer:?}");
        answer
    }

    /// Sends a request that is refused, and records its number of round trips.
    async fn refused(&mut self, name: &'static str, request: Request, status: u16) {
        let _ = self.app.round_trips();
        let answer = request.send().await;
        self.table.push((name, self.app.round_trips()));
        assert_eq!(answer.status, status, "{name}: {answer:?}");
    }

    #[track_caller]
    fn assert_cheap(&self) {
        for (name, trips) in &self.table {
            println!("{trips}  {name}");
        }
        let allowed = |name: &str| DEARER.iter().find(|(dear, _)| *dear == name).map(|(_, trips)| *trips);
        let is_wrong = |(name, trips): &&(&str, usize)| match allowed(name) {
            Some(known) => *trips != known,
            None => *trips > MOST,
        };
        let wrong: Vec<_> = self.table.iter().filter(is_wrong).collect();
        assert!(wrong.is_empty(), "not what is known of them: {wrong:#?}");
    }
}

async fn sessions(m: &mut Measured) -> Session {
    let anon = m.app.anon();
    m.op("signUp, first", anon.sign_up("taken@example.org", PASSWORD)).await;
    m.refused("signUp, address taken", anon.sign_up("taken@example.org", PASSWORD), 409).await;
    let ada = Session::of(&m.op("signUp", anon.sign_up("ada@example.org", PASSWORD)).await);
    m.refused("signInWithPassword, wrong", anon.sign_in("ada@example.org", "wrong meadow 78"), 401).await;
    m.refused("signInWithPassword, unknown", anon.sign_in("eve@example.org", PASSWORD), 401).await;
    let other = Session::of(&m.op("signInWithPassword", anon.sign_in("ada@example.org", PASSWORD)).await);
    let server = anon.sign_in("ada@example.org", PASSWORD).client_type("server");
    let third = Session::of(&m.op("signInWithPassword, server", server).await);
    let me = m.app.with_session(&ada);
    m.refused("getCurrentUser, bad bearer", m.app.bearing("bad").get("/api/auth/sessions/current"), 401)
        .await;
    let ada = Session::of(&m.op("refreshSession", anon.refresh(&ada)).await);
    let cookie = ada.cookie.as_deref().unwrap();
    m.op("CSRF token of the cookie", anon.get("/api/auth/csrf").cookie(cookie)).await;
    let third = Session::of(&m.op("refreshSession, server", anon.refresh(&third)).await);
    let list = m.op("list own sessions", me.get("/api/auth/sessions")).await.json();
    let one = list["sessions"].as_array().unwrap().iter().find(|one| one["current"] == false).unwrap();
    let path = format!("/api/auth/sessions/{}", one["id"].as_str().unwrap());
    m.op("end one session", me.delete(&path)).await;
    m.op("end the other sessions", me.delete("/api/auth/sessions?others=true")).await;
    m.op("signOut, an ended session", anon.sign_out(&other)).await;
    m.op("signOut, in the body", anon.sign_out(&third)).await;
    let body = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD});
    m.op("changePassword", me.post("/api/auth/password", body)).await;
    let body = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD});
    m.refused("changePassword, wrong", me.post("/api/auth/password", body), 401).await;
    let bob = Session::of(&anon.sign_up("bob@example.org", PASSWORD).send().await);
    m.op("signOut, by cookie", anon.sign_out(&bob)).await;
    let eve = Session::of(&anon.sign_up("eve@example.org", PASSWORD).send().await);
    m.op(
        "signOut, by bearer",
        m.app.with_session(&eve).request("POST", "/api/auth/logout").client_type("server"),
    )
    .await;
    ada
}

async fn profiles(m: &mut Measured, ada: &Session) {
    let (anon, me) = (m.app.anon(), m.app.with_session(ada));
    let profile = format!("/api/auth/profiles/{}", ada.user_id);
    m.op("getProfile", anon.get(&profile)).await;
    let flat = json!({"name": "Ada", "team": "engines"});
    m.op("setProfile", me.patch("/api/auth/profiles/current", flat)).await;
    let change = json!({"username": "countess", "bio": "of engines", "metadata": {"a": 1}});
    m.op("PATCH /api/profiles/me", me.patch("/api/profiles/me", change)).await;
    m.op("PATCH /api/profiles/me, nothing", me.patch("/api/profiles/me", json!({}))).await;
    m.op("GET /api/profiles/{userId}", anon.get(&format!("/api/profiles/{}", ada.user_id))).await;
    m.op("search", anon.search("engines countess")).await;
    m.op("search, nobody", anon.search("nobody at all")).await;
}

async fn admin(m: &mut Measured) {
    let admin = m.app.admin();
    let body = json!({"email": "new@example.org", "password": PASSWORD, "autoConfirm": true});
    let made = m.op("admin: create user", admin.post("/api/auth/users", body)).await.json();
    let path = format!("/api/auth/users/{}", made["user"]["id"].as_str().unwrap());
    m.op("admin: search users", admin.get("/api/auth/users?search=new")).await;
    m.op("admin: one user", admin.get(&path)).await;
    let change = json!({"email": "newer@example.org", "banned": true, "metadata": {"plan": "gold"}});
    m.op("admin: change user", admin.patch(&path, change)).await;
    m.op("admin: end sessions", admin.delete(&format!("{path}/sessions"))).await;
    m.op("admin: delete profile", admin.delete(&format!("{path}/profile"))).await;
    let body = json!({"userIds": [made["user"]["id"]]});
    m.op("admin: delete users", admin.request("DELETE", "/api/auth/users").json(&body)).await;
    m.op("admin: change config", admin.put("/api/auth/config", json!({"passwordMinLength": 9}))).await;
    m.refused("admin: wrong key", m.app.bearing("wrong").get("/api/auth/users"), 401).await;
}

/// Verification and reset by code.
async fn codes(m: &mut Measured) {
    let (anon, email) = (m.app.anon(), "code@example.org");
    m.op("signUp, verification", anon.sign_up(email, PASSWORD)).await;
    m.app.clock.advance(latchkey_testkit::minutes(2));
    m.op("resendVerificationEmail", resend(&anon, email)).await;
    m.op("resendVerificationEmail, unknown", resend(&anon, "nobody@example.org")).await;
    m.app.clock.advance(latchkey_testkit::minutes(2));
    m.op("signUp, pending", anon.sign_up(email, PASSWORD)).await;
    m.refused("verifyEmail, wrong code", anon.verify(email, "000000"), 400).await;
    let code = m.app.mail_to(email).await.code();
    m.op("verifyEmail, code", anon.verify(email, &code)).await;
    m.op("sendResetPasswordEmail", send_reset(&anon, email)).await;
    m.op("sendResetPasswordEmail, unknown", send_reset(&anon, "nobody@example.org")).await;
    m.refused("exchangeResetPasswordToken, wrong", exchange(&anon, email, "000000"), 400).await;
    let code = m.app.mail_to(email).await.code();
    let token =
        m.op("exchangeResetPasswordToken", exchange(&anon, email, &code)).await.json()["token"].clone();
    m.op("resetPassword", reset(&anon, token.as_str().unwrap(), NEW_PASSWORD)).await;
    m.refused("resetPassword, used", reset(&anon, token.as_str().unwrap(), NEW_PASSWORD), 400).await;
}

/// Verification and reset by link.
async fn links(m: &mut Measured) {
    let (anon, email) = (m.app.anon(), "link@example.org");
    let sign_up = json!({"email": email, "password": PASSWORD, "redirectTo": TARGET});
    m.op("signUp, verification by link", anon.post("/api/auth/users", sign_up)).await;
    m.app.clock.advance(latchkey_testkit::minutes(2));
    m.op("resendVerificationEmail, link", resend_to(&anon, email, TARGET)).await;
    let token = m.app.mail_to(email).await.token();
    let other = "other@example.org";
    let sign_up = json!({"email": other, "password": PASSWORD, "redirectTo": TARGET});
    anon.post("/api/auth/users", sign_up).send().await.expect(200);
    let by_token = m.app.mail_to(other).await.token();
    m.op("verification link", anon.get(&format!("/api/auth/email/verify-link?token={token}"))).await;
    m.op("verification link, again", anon.get(&format!("/api/auth/email/verify-link?token={token}"))).await;
    m.op("verifyEmail, link token", verify_token(&anon, &by_token)).await;
    let body = json!({"email": email, "redirectTo": TARGET});
    m.op("sendResetPasswordEmail, link", anon.post("/api/auth/email/send-reset-password", body)).await;
    let token = m.app.mail_to(email).await.token();
    m.op("reset link", anon.get(&format!("/api/auth/email/reset-password-link?token={token}"))).await;
    m.op("resetPassword, link", reset(&anon, &token, NEW_PASSWORD)).await;
}

#[tokio::test]
async fn sessions_profiles_and_admin_cost_two_round_trips_at_most() {
    let mut m = Measured::with(|builder| builder).await;
    let ada = sessions(&mut m).await;
    profiles(&mut m, &ada).await;
    admin(&mut m).await;
    m.assert_cheap();
}

#[tokio::test]
async fn plain_reads_cost_two_round_trips_at_most() {
    let mut m = Measured::with(|builder| builder).await;
    let ada = m.app.user("ada").await;
    let document = m.app.anon().get("/openapi.json").send().await.expect(200);
    for route in plain_reads(&document) {
        let request = route.request(&m.app, &ada);
        m.op(route.path, request).await;
    }
    m.assert_cheap();
}

/// Sign-in through a provider, identities, and provider configuration by an admin.
async fn oauth(m: &mut Measured) {
    let (anon, admin) = (m.app.anon(), m.app.admin());
    let provider = LyingProvider::start(&m.app.clock).await;
    let (configs, config) = ("/api/auth/oauth/custom/configs", "/api/auth/oauth/custom/acme/config");
    m.op("admin: create provider", admin.post(configs, provider.custom("acme"))).await;
    m.op("admin: list providers", admin.get(configs)).await;
    m.op("admin: one provider", admin.get(config)).await;
    m.op("admin: change provider", admin.put(config, json!({"name": "Acme Corporation"}))).await;

    for exchanged in ["exchange of a code, new account", "exchange of a code, known identity"] {
        let started = m.op("signInWithOAuth", start(&anon, "acme")).await;
        let callback = provider.consent(&auth_url_of(&started));
        let back = m.op("callback of a provider", anon.get(callback.as_str())).await.redirected();
        m.op(exchanged, oauth_calls::exchange(&anon, &code_of(&back), VERIFIER)).await;
    }

    provider.person(person("bob-at-the-provider", "bob@elsewhere.example"));
    let bob = Session::of(&anon.sign_up("bob@example.org", PASSWORD).send().await);
    let bob = m.app.with_session(&bob);
    let started = m.op("link an identity", link(&bob, "acme")).await;
    let callback = provider.consent(&auth_url_of(&started));
    let back = m.op("callback of a provider, link", anon.get(callback.as_str())).await.redirected();
    m.op("exchange of a code, link", oauth_calls::exchange(&bob, &code_of(&back), VERIFIER)).await;
    m.op("list identities", bob.get("/api/auth/identities")).await;
    m.op("unlink an identity", bob.delete("/api/auth/identities/acme")).await;
    m.op("admin: delete provider", admin.delete(config)).await;
}

#[tokio::test]
async fn sign_in_through_a_provider_costs_what_is_known_of_it() {
    let mut m = Measured::with(|builder| builder.redirects(&["http://localhost:3000/**"])).await;
    oauth(&mut m).await;
    m.assert_cheap();
}

#[tokio::test]
async fn flows_by_code_cost_two_round_trips_at_most() {
    let mut m = Measured::with(|builder| builder.verification_by_code()).await;
    codes(&mut m).await;
    m.assert_cheap();
}

#[tokio::test]
async fn flows_by_link_cost_two_round_trips_at_most() {
    let mut m = Measured::with(|builder| builder.verification_by_link().link_reset()).await;
    links(&mut m).await;
    m.assert_cheap();
}
