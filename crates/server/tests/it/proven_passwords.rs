//! Tests of proven passwords, which are known to come from the mailbox's owner, and of the sign-up cookie that proves
//! it.

use latchkey_testkit::{Answer, PASSWORD, Session, TestApp, both_stores, hours, json, seconds};

use crate::email_calls::{NEW_PASSWORD, TARGET, change_user, reset, reset_token, sign_up_to};
use crate::oauth_calls::{VERIFIER, acme, exchange, identities, link_code, person, provider, session};

const ADA: &str = "ada@example.org";

both_stores! {
    // The attacker signs up with the victim's address, and the victim's mail scanner opens the link.
    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn squatter_with_a_scanned_link_is_removed_when_the_owner_signs_in_through_a_provider(app) {
        let squatter = squat(&app).await;

        let acme = acme(&app).await;
        acme.person(person("ada at home", ADA));
        let owner = session(&app, &acme, "acme").await;

        assert_eq!(owner.user_id, squatter.user_id);
        assert_eq!(identities(&app.with_session(&owner)).await, ["acme"]);
        assert_out(&app, &squatter).await;
    }

    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn squatter_with_a_scanned_link_is_removed_when_the_owner_resets(app) {
        let squatter = squat(&app).await;
        let token = reset_token(&app, ADA).await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        let owner = Session::of(&app.anon().sign_in(ADA, NEW_PASSWORD).send().await);
        assert_eq!(identities(&app.with_session(&owner)).await, Vec::<String>::new());
        assert_out(&app, &squatter).await;
    }

    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn squatter_who_changes_the_password_is_removed_too(app) {
        let squatter = squat(&app).await;
        let body = json!({"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD});
        app.with_session(&squatter).post("/api/auth/password", body).send().await.expect(200);

        assert!(!is_proven(&app).await);

        app.anon().sign_in(ADA, NEW_PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn password_of_the_browser_that_signed_up_is_proven(app) {
        let cookie = cookie_of(&sign_up_to(&app.anon(), ADA, TARGET).send().await);
        let link = app.mail_to(ADA).await.link();

        app.anon().get(&link).cookie(&cookie).send().await.redirected();

        assert!(is_proven(&app).await);
    }

    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn sign_up_cookie_is_worth_nothing_after_a_further_sign_up(app) {
        let cookie = cookie_of(&sign_up_to(&app.anon(), ADA, TARGET).send().await);
        sign_up_to(&app.anon(), ADA, TARGET).client_type("mobile").send().await.expect(200);
        let link = app.mail_to(ADA).await.link();

        app.anon().get(&link).cookie(&cookie).send().await.redirected();

        assert!(!is_proven(&app).await);
    }

    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn sign_up_cookie_is_worth_nothing_after_a_day(app) {
        let cookie = cookie_of(&sign_up_to(&app.anon(), ADA, TARGET).send().await);
        app.clock.advance(hours(24) - seconds(1));
        crate::email_calls::resend_to(&app.anon(), ADA, TARGET).send().await.expect(202);
        app.clock.advance(seconds(1));
        let link = app.mail_to(ADA).await.link();

        app.anon().get(&link).cookie(&cookie).send().await.redirected();

        assert!(!is_proven(&app).await);
    }

    with(|b| b.verification_by_code())
    async fn password_of_an_account_verified_by_code_is_proven(app) {
        app.user("ada").await;

        assert!(is_proven(&app).await);
    }

    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn password_is_proven_by_an_admin_who_verifies_the_address(app) {
        squat(&app).await;
        change_user(&app, ADA, json!({"emailVerified": false})).await;

        change_user(&app, ADA, json!({"emailVerified": true})).await;

        assert!(is_proven(&app).await);
    }

    async fn password_that_an_admin_gave_with_a_confirmed_address_is_proven(app) {
        let body = json!({"email": ADA, "password": PASSWORD, "autoConfirm": true});
        app.admin().post("/api/auth/users", body).send().await.expect(200);

        assert!(is_proven(&app).await);
    }

    with(|b| b.verification_by_code())
    async fn sign_up_cookie_is_set_alike_for_free_and_taken_addresses(app) {
        app.user("ada").await;
        app.anon().sign_up("pending@example.org", PASSWORD).send().await.expect(200);
        app.clock.advance(hours(1));
        let mut values = Vec::new();
        for name in ["ada", "pending", "free"] {
            let answer = app.anon().sign_up(&format!("{name}@example.org"), PASSWORD).send().await;

            let cookies = answer.set_cookies();
            let [cookie] = cookies[..] else { panic!("{name}: {answer:?}") };
            let (pair, attributes) = cookie.split_once("; ").unwrap();
            let (cookie_name, value) = pair.split_once('=').unwrap();
            assert!(cookie_name.contains("_signup"), "{cookie_name}");
            assert_eq!(value.len(), 64, "{name}");
            let attributes: Vec<_> = attributes.split("; ").filter(|one| *one != "Secure").collect();
            assert_eq!(attributes, ["Path=/api/auth/email", "Max-Age=86400", "SameSite=Lax"]);
            values.push(value.to_owned());
        }
        values.sort();
        values.dedup();
        assert_eq!(values.len(), 3, "random each time");
    }

    with(|b| b.verification_by_code())
    async fn other_clients_than_browsers_get_no_sign_up_cookie(app) {
        for client_type in ["mobile", "desktop", "server"] {
            let email = format!("{client_type}@example.org");
            let answer = app.anon().sign_up(&email, PASSWORD).client_type(client_type).send().await;

            answer.expect(200);
            assert!(answer.set_cookies().is_empty(), "{client_type}");
        }
    }
}

pub(crate) const REDIRECTS: &[&str] = &["https://app.example/**", "http://localhost:3000/**"];

/// Signs up a squatter with Ada's address, opens the link as a mail scanner would, signs the squatter in, and links an
/// identity.
pub(crate) async fn squat(app: &TestApp) -> Session {
    sign_up_to(&app.anon(), ADA, TARGET).send().await.expect(200);
    let link = app.mail_to(ADA).await.link();
    app.anon().get(&link).send().await.redirected();
    let squatter = Session::of(&app.anon().sign_in(ADA, PASSWORD).send().await);
    let mallorys = provider(app, "mallorys").await;
    mallorys.person(person("mallory", "mallory@example.org"));
    let code = link_code(&app.with_session(&squatter), &mallorys, "mallorys").await;
    exchange(&app.with_session(&squatter), &code, VERIFIER).send().await.expect(200);
    squatter
}

pub(crate) async fn assert_out(app: &TestApp, squatter: &Session) {
    let caller = app.with_session(squatter);
    caller.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
}

/// True if the owner's identity is linked without removing the password.
async fn is_proven(app: &TestApp) -> bool {
    let acme = acme(app).await;
    acme.person(person("ada at home", ADA));
    let owner = session(app, &acme, "acme").await;
    let me = app.with_session(&owner).get("/api/auth/sessions/current").send().await.expect(200);
    me["user"]["providers"].as_array().unwrap().contains(&json!("email"))
}

fn cookie_of(answer: &Answer) -> String {
    answer.expect(200);
    answer.set_cookies()[0].split(';').next().unwrap().to_owned()
}
