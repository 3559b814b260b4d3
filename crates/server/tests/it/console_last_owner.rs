//! The last owner stays in the console: the own account does not put the grant to sleep, nor can anything else but the
//! command line.

use latchkey_domain::operator::Role;
use latchkey_testkit::{PASSWORD, both_stores, json};

use crate::console_calls::{operator, without_factor};
use crate::operators::{activate, grant, is_active, make_operator};
use crate::pages_calls::enter;

const TWO_STEP: &str = "/api/auth/factors/two-step";

both_stores! {
    with(|b| b.verification_by_code())
    async fn last_owner_cannot_turn_two_step_sign_in_off(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let bob = operator(&app, "bob", Role::Admin).await;
        let eve = app.two_step_user("eve").await;
        let _asleep = grant(&app, &eve, Role::Owner).await;

        ada.post(TWO_STEP, json!({"enabled": false})).send().await.refused(409, "LAST_OWNER");
        assert!(is_active(&app, &ada).await);
        bob.post(TWO_STEP, json!({"enabled": false})).send().await.expect(200);
        eve.post(TWO_STEP, json!({"enabled": false})).send().await.expect(200);

        let other = operator(&app, "other", Role::Owner).await;
        ada.post(TWO_STEP, json!({"enabled": false})).send().await.expect(200);
        assert!(!is_active(&app, &ada).await && is_active(&app, &other).await);
        other.post(TWO_STEP, json!({"enabled": false})).send().await.refused(409, "LAST_OWNER");
    }

    with(|b| b.verification_by_code())
    async fn grant_that_sleeps_is_no_reason(app) {
        let ada = app.two_step_user("ada").await;
        let _asleep = grant(&app, &ada, Role::Owner).await;

        ada.post(TWO_STEP, json!({"enabled": false})).send().await.expect(200);
    }

    with(|b| b.verification_by_code().pages())
    async fn page_says_what_to_do(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();
        let page = enter(&browser, "/auth/sign-in", &ada.email, PASSWORD).await;
        browser.submit(&page, "/auth/challenge", &[("code", &ada.authenticator.code())]).await;
        let page = browser.get("/auth/account/two-step").await;

        let refused = browser.submit(&page, "act=off", &[]).await;

        let text = refused.hosted(409);
        assert!(text.contains("You are the last owner of the console. Name another owner first."), "{text}");
        assert!(is_active(&app, &ada).await);
    }

    with(|b| b.verification_by_code())
    async fn undo_link_drives_a_thief_out_even_of_the_last_owner(app) {
        let ada = app.two_step_user("ada").await;
        let token = app.mail_to(&ada.email).await.token();
        make_operator(&app, &ada, Role::Owner).await;

        let body = json!({"token": token, "email": ada.email});
        app.anon().post("/api/auth/undo", body).send().await.expect(200);

        assert!(!is_active(&app, &ada).await);
    }

    with(without_factor)
    async fn last_owner_cannot_remove_the_only_passkey(app) {
        let ada = app.user("ada").await;
        let (_, passkey) = ada.add_passkey(&app.phone()).await;
        let token = grant(&app, &ada, Role::Owner).await;
        activate(&app, &ada.session.access_token, &token).await.unwrap();
        let path = format!("/api/auth/passkeys/{passkey}");

        ada.delete(&path).send().await.refused(409, "LAST_OWNER");
        assert!(is_active(&app, &ada).await);
        let bob = app.two_step_user("bob").await;
        make_operator(&app, &bob, Role::Owner).await;
        ada.delete(&path).send().await.expect(200);

        assert!(!is_active(&app, &ada).await);
    }
}
