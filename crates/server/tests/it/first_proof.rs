//! Tests of the first verification of a mailbox: it removes everyone but its owner from the account.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{Answer, Client, PASSWORD, Request, Session, TestApp, both_stores, json};

use crate::email_calls::{TARGET, resend, resend_to, verify_token};
use crate::oauth_calls::{
    VERIFIER, acme, exchange, identities, link_code, person, provider, session, user_count,
};

const ADA: &str = "ada@example.org";
const CLICK: &str = "/api/auth/email/verify-link";

both_stores! {
    async fn squatter_is_removed_after_the_owner_verifies_by_code(app) {
        let squatter = settle(&app).await;
        let code = code_of_owner(&app).await;

        let owner = Session::of(&app.anon().verify(ADA, &code).send().await);

        assert_gone(&app, &squatter, &owner).await;
    }

    async fn squatter_is_removed_after_the_owner_confirms_the_link(app) {
        let squatter = settle(&app).await;
        let link = link_of_owner(&app).await;
        assert_asked(&app, &app.anon().get(&link).send().await).await;

        let landed = click(&app.anon(), &link).send().await.redirected();

        assert_eq!(parameter(&landed, "service_status").as_deref(), Some("success"));
        assert!(landed.as_str().starts_with(TARGET), "{landed}");
        let owner = owner_by_provider(&app).await;
        assert_gone(&app, &squatter, &owner).await;
    }

    async fn squatter_is_removed_after_the_owner_uses_the_links_token(app) {
        let squatter = settle(&app).await;
        let link = link_of_owner(&app).await;
        let token = link.split_once("token=").unwrap().1;

        let owner = Session::of(&verify_token(&app.anon(), token).send().await);

        assert_gone(&app, &squatter, &owner).await;
    }

    // The squatter signed up while verification was off.
    async fn squatter_from_before_is_removed_after_the_owner_verifies(app) {
        let squatter = settle(&app).await;
        app.admin().put("/api/auth/config", json!({"requireEmailVerification": true})).send().await.expect(200);
        let code = code_of_owner(&app).await;

        let owner = Session::of(&app.anon().verify(ADA, &code).send().await);

        assert_gone(&app, &squatter, &owner).await;
    }

    async fn owners_provider_sign_in_does_not_join_the_squatter(app) {
        let squatter = settle(&app).await;
        let code = code_of_owner(&app).await;
        app.anon().verify(ADA, &code).send().await.expect(200);

        let owner = owner_by_provider(&app).await;

        assert_eq!(identities(&app.with_session(&owner)).await, ["acme"]);
        assert_gone(&app, &squatter, &owner).await;
    }

    async fn scanner_that_opens_the_link_removes_nothing(app) {
        let ada = settle(&app).await;
        let link = link_of_owner(&app).await;

        for _ in 0..3 {
            assert_asked(&app, &app.anon().get(&link).send().await).await;
        }

        assert_everything_there(&ada).await;
    }

    async fn signed_in_user_who_types_the_code_keeps_everything(app) {
        let ada = settle(&app).await;
        let code = code_of_owner(&app).await;

        let verified = ada.verify(ADA, &code).send().await.expect(200);

        assert_eq!(verified["user"]["providers"], json!(["email", "mallorys"]));
        assert_everything_there(&ada).await;
    }

    async fn signed_in_browser_that_opens_the_link_keeps_everything(app) {
        let ada = settle(&app).await;
        let link = link_of_owner(&app).await;

        let landed = app.anon().get(&link).cookie(ada.session.cookie.as_ref().unwrap()).send().await.redirected();

        assert_eq!(parameter(&landed, "service_status").as_deref(), Some("success"));
        assert_everything_there(&ada).await;
        let me = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(me["user"]["emailVerified"], true);
    }

    async fn cookie_and_bearer_of_another_user_are_outside(app) {
        let squatter = settle(&app).await;
        let bob = app.user("bob").await;
        let link = link_of_owner(&app).await;
        let asked = app.anon().get(&link).cookie(bob.session.cookie.as_ref().unwrap()).send().await;
        assert_asked(&app, &asked).await;
        let token = link.split_once("token=").unwrap().1;

        let owner = Session::of(&verify_token(&bob, token).send().await);

        assert_gone(&app, &squatter, &owner).await;
        bob.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn stale_and_foreign_bearers_are_no_error_at_verification(app) {
        let squatter = settle(&app).await;
        squatter.sign_out(&squatter.session).send().await.expect(200);
        for (caller, is_good) in [(app.bearing("stale"), false), (app.with_session(&squatter.session), true)] {
            let code = if is_good { code_of_owner(&app).await } else { "000000".to_owned() };
            let answer = caller.verify(ADA, &code).send().await;
            assert_eq!(answer.status, if is_good { 200 } else { 400 }, "{answer:?}");
        }
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    async fn owner_whose_password_went_sets_one_by_reset(app) {
        settle(&app).await;
        let code = code_of_owner(&app).await;
        app.anon().verify(ADA, &code).send().await.expect(200);
        let token = crate::email_calls::reset_token(&app, ADA).await;

        crate::email_calls::reset(&app.anon(), &token, "a wholly new lantern").send().await.expect(200);

        app.anon().sign_in(ADA, "a wholly new lantern").send().await.expect(200);
    }

    async fn mail_says_beforehand_what_verifying_does(app) {
        app.user("ada").await;
        for is_link in [false, true] {
            app.clock.advance(latchkey_testkit::minutes(2));
            if is_link { link_of_owner(&app).await } else { code_of_owner(&app).await };

            let mail = app.mail_to(ADA).await;

            for body in [&mail.text, &mail.html] {
                let words = body.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(words.contains("was in use before its address was verified"), "{words}");
                assert!(words.contains("set a password of your own"), "{words}");
            }
        }
    }

    with(|b| b.verification_by_code())
    async fn mail_to_a_pending_account_speaks_of_no_loss(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        let mail = app.mail_to(ADA).await;

        assert!(!mail.text.contains("Please note"), "{}", mail.text);
    }

    async fn page_that_asks_is_self_contained_and_says_what_goes(app) {
        settle(&app).await;
        let link = link_of_owner(&app).await;

        let asked = app.anon().get(&link).send().await;

        let page = asked.page(200);
        for word in ["password", "signed in", "public profile", "Forgot password", "Nothing was changed"] {
            assert!(page.contains(word), "{word}: {page}");
        }
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("http"), "{page}");
        let policy = asked.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(asked.header("cache-control"), Some("no-store"));
        assert!(asked.set_cookies().is_empty());
    }

    async fn link_without_a_token_shows_the_page_for_dead_links(app) {
        let form = "application/x-www-form-urlencoded";
        let bodies = [(form, ""), (form, "token=abc"), (form, "token=a&token=b"), ("application/json", "{}")];
        for (content_type, body) in bodies {
            let answer = app.anon().request("POST", CLICK).raw(content_type, body).send().await;

            assert!(answer.page(400).contains("ask for a new"), "{body}");
        }
        let unknown = format!("{CLICK}?token={}", "0".repeat(64));
        assert!(click(&app.anon(), &unknown).send().await.page(400).contains("ask for a new"));
    }

    async fn click_again_is_a_success_again(app) {
        settle(&app).await;
        let link = link_of_owner(&app).await;
        click(&app.anon(), &link).send().await.redirected();

        for again in [click(&app.anon(), &link), app.anon().get(&link)] {
            let landed = again.send().await.redirected();
            assert_eq!(parameter(&landed, "service_status").as_deref(), Some("success"));
        }
    }

    async fn verification_by_an_admin_removes_nothing(app) {
        let ada = settle(&app).await;

        crate::email_calls::change_user(&app, ADA, json!({"emailVerified": true})).await;

        assert_everything_there(&ada).await;
    }
}

/// Signs up a squatter with Ada's address while verification is off, and links the squatter's identity.
pub(crate) async fn settle(app: &TestApp) -> latchkey_testkit::User {
    let mallorys = provider(app, "mallorys").await;
    mallorys.person(person("mallory", "mallory@example.org"));
    let squatter = app.user("ada").await;
    let code = link_code(&squatter, &mallorys, "mallorys").await;
    exchange(&squatter, &code, VERIFIER).send().await.expect(200);
    squatter.patch("/api/profiles/me", json!({"bio": "send money to …"})).send().await.expect(200);
    let redirects = json!({"allowedRedirectUrls": ["https://app.example/**", "http://localhost:3000/**"]});
    app.admin().put("/api/auth/config", redirects).send().await.expect(200);
    squatter
}

/// Requests a code as the owner.
pub(crate) async fn code_of_owner(app: &TestApp) -> String {
    resend(&app.anon(), ADA).send().await.expect(202);
    app.mail_to(ADA).await.code()
}

/// Requests a link as the owner.
pub(crate) async fn link_of_owner(app: &TestApp) -> String {
    app.admin().put("/api/auth/config", json!({"verifyEmailMethod": "link"})).send().await.expect(200);
    let target = if app.service().settings().values.allowed_redirect_urls.is_empty() {
        "http://localhost:3000/done"
    } else {
        TARGET
    };
    resend_to(&app.anon(), ADA, target).send().await.expect(202);
    app.mail_to(ADA).await.link()
}

/// Submits the form on the page of a link.
pub(crate) fn click(client: &Client, link: &str) -> Request {
    let token = link.split_once("token=").unwrap().1;
    client.request("POST", CLICK).raw("application/x-www-form-urlencoded", format!("token={token}"))
}

pub(crate) async fn owner_by_provider(app: &TestApp) -> Session {
    let acme = acme(app).await;
    acme.person(person("ada at home", ADA));
    session(app, &acme, "acme").await
}

/// Asserts that the page asks for consent and that the address stays unverified.
async fn assert_asked(app: &TestApp, asked: &Answer) {
    assert!(asked.page(200).contains("<form method=\"post\""), "{asked:?}");
    assert_eq!(asked.header("location"), None);
    let users = app.admin().get("/api/auth/users").query("search", ADA).send().await.expect(200);
    assert_eq!(users["data"][0]["emailVerified"], false);
}

/// Asserts that the squatter's session, password, identity and public text are removed.
pub(crate) async fn assert_gone(app: &TestApp, squatter: &latchkey_testkit::User, owner: &Session) {
    assert_eq!(owner.user_id, squatter.id);
    squatter.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    squatter.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
    app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    let owner = app.with_session(owner);
    let of_squatter = identities(&owner).await.into_iter().find(|key| key == "mallorys");
    assert_eq!(of_squatter, None);
    let profile = owner.get("/api/profiles/me").send().await.expect(200);
    assert_eq!(profile["bio"], json!(null), "{profile}");
    assert_ne!(profile["name"], "Ada");
    assert!(user_count(app).await >= 1);
}

async fn assert_everything_there(ada: &latchkey_testkit::User) {
    assert_eq!(identities(ada).await, ["mallorys"]);
    assert_eq!(ada.refreshed().await.status, 200);
    ada.sign_in_again().await;
    let profile = ada.get("/api/profiles/me").send().await.expect(200);
    assert_eq!((&profile["name"], &profile["bio"]), (&json!("Ada"), &json!("send money to …")));
}
