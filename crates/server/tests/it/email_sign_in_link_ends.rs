//! Tests of what ends a link for sign-in: its time, its use or that of its code, a newer mail, a change of the account.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json, minutes, seconds};

use crate::email_calls::{
    TARGET, change_user, reset, reset_token, send_otp, send_sign_in_link, sign_in_by_code, sign_in_by_link,
};
use crate::email_sign_in_links::{link_token, linking};
use crate::oauth_calls::VERIFIER;

const ADA: &str = "ada@example.org";
const HOME: &str = "203.0.113.9";
const STRANGER: &str = "192.0.2.1";

async fn opened(app: &TestApp, token: &str) -> Answer {
    app.anon().get(&format!("/api/auth/email/sign-in-link?token={token}")).send().await
}

/// Asserts that the token opens nothing, and that its link leads to the target with an error that contains `why`.
async fn assert_dead(app: &TestApp, token: &str, why: &str) {
    sign_in_by_link(&app.anon(), token, VERIFIER).send().await.refused(400, "INVALID_CODE");
    let landed = opened(app, token).await.redirected();
    assert_eq!(parameter(&landed, "service_status").as_deref(), Some("error"), "{landed}");
    assert_eq!(parameter(&landed, "service_type").as_deref(), Some("sign_in"), "{landed}");
    assert_eq!(parameter(&landed, "token"), None, "{landed}");
    assert!(parameter(&landed, "service_error").unwrap().contains(why), "{landed}");
    assert!(landed.as_str().starts_with(TARGET), "{landed}");
}

both_stores! {
    with(linking)
    async fn link_is_good_for_fifteen_minutes_and_its_code_for_ten(app) {
        app.user("ada").await;
        let token = link_token(&app, ADA).await;
        app.clock.advance(minutes(15) - seconds(1));
        let code = app.mail().last(ADA).code();
        sign_in_by_code(&app.anon(), ADA, &code).send().await.refused(400, "INVALID_CODE");
        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.expect(200);

        let token = link_token(&app, ADA).await;
        app.clock.advance(minutes(15));

        assert_dead(&app, &token, "expired").await;
    }

    with(linking)
    async fn expired_code_leaves_the_link_of_a_newcomer(app) {
        let token = link_token(&app, ADA).await;
        app.clock.advance(minutes(14));
        app.run_jobs().await; // deletes the code

        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.expect(200);
    }

    with(linking)
    async fn success_by_link_ends_code_and_link(app) {
        for name in ["ada", "newcomer"] {
            if name == "ada" {
                app.user(name).await;
            }
            let email = format!("{name}@example.org");
            let token = link_token(&app, &email).await;
            let code = app.mail().last(&email).code();

            sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.expect(200);

            sign_in_by_code(&app.anon(), &email, &code).send().await.refused(400, "INVALID_CODE");
            assert_dead(&app, &token, "already used").await;
        }
    }

    with(linking)
    async fn success_by_code_ends_code_and_link(app) {
        for name in ["ada", "newcomer"] {
            if name == "ada" {
                app.user(name).await;
            }
            let email = format!("{name}@example.org");
            let token = link_token(&app, &email).await;
            let code = app.mail().last(&email).code();

            sign_in_by_code(&app.anon(), &email, &code).send().await.expect(200);

            sign_in_by_code(&app.anon(), &email, &code).send().await.refused(400, "INVALID_CODE");
            assert_dead(&app, &token, "already used").await;
        }
    }

    with(linking)
    async fn newer_mail_replaces_the_link_even_if_it_has_none(app) {
        app.user("ada").await;
        let first = link_token(&app, ADA).await;
        let second = link_token(&app, ADA).await;
        assert_dead(&app, &first, "replaced by a newer").await;

        send_otp(&app.anon(), ADA).send().await.expect(202);

        assert_dead(&app, &second, "replaced by a newer").await;
    }

    // The owner's link is of the lane of known addresses, the stranger's of the other.
    with(|b| linking(b).limits())
    async fn strangers_request_leaves_the_owners_link(app) {
        app.user("ada").await;
        app.anon().sign_in(ADA, PASSWORD).from_ip(HOME).send().await.expect(200);
        send_sign_in_link(&app.anon(), ADA).from_ip(HOME).send().await.expect(202);
        let owners = app.mail_to(ADA).await.token();
        app.clock.advance(minutes(2));
        for _ in 0..2 {
            send_sign_in_link(&app.anon(), ADA).from_ip(STRANGER).send().await.expect(202);
            app.clock.advance(minutes(2));
        }

        let strangers = app.mail_to(ADA).await.token();

        sign_in_by_link(&app.anon(), &owners, VERIFIER).send().await.expect(200);

        sign_in_by_link(&app.anon(), &strangers, VERIFIER).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| linking(b).verification_by_code())
    async fn changes_of_the_account_end_the_link(app) {
        let ada = app.user("ada").await;
        let token = link_token(&app, ADA).await;
        let body = json!({"currentPassword": PASSWORD, "newPassword": "a wholly new lantern"});
        ada.post("/api/auth/password", body).send().await.expect(200);
        assert_dead(&app, &token, "replaced").await;

        let token = link_token(&app, ADA).await;
        let other = reset_token(&app, ADA).await;
        reset(&app.anon(), &other, PASSWORD).send().await.expect(200);
        assert_dead(&app, &token, "replaced").await;

        let token = link_token(&app, ADA).await;
        change_user(&app, ADA, json!({"email": "elsewhere@example.org"})).await;
        assert_dead(&app, &token, "replaced").await;

        let token = link_token(&app, "elsewhere@example.org").await;
        change_user(&app, "elsewhere@example.org", json!({"banned": true})).await;
        assert_dead(&app, &token, "replaced").await;
        change_user(&app, "elsewhere@example.org", json!({"banned": false})).await;
        assert_dead(&app, &token, "replaced").await;
    }

    with(linking)
    async fn account_made_meanwhile_does_not_get_the_link_of_an_unknown_address(app) {
        let token = link_token(&app, ADA).await;
        app.user("ada").await;

        assert_dead(&app, &token, "replaced").await;
    }

    with(linking)
    async fn disabled_sign_up_ends_the_link_of_an_unknown_address(app) {
        let token = link_token(&app, ADA).await;
        app.admin().put("/api/auth/config", json!({"disableSignup": true})).send().await.expect(200);

        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.refused(400, "INVALID_CODE");
    }

    with(linking)
    async fn target_that_left_the_list_is_not_redirected_to(app) {
        let token = link_token(&app, ADA).await;
        let list = json!({"allowedRedirectUrls": ["https://other.example/**"]});
        app.admin().put("/api/auth/config", list).send().await.expect(200);

        let page = opened(&app, &token).await;

        assert!(page.page(400).contains("meant to sign in"), "{page:?}");
    }

    async fn unknown_and_missing_tokens_show_a_page(app) {
        for token in ["", "abc", &"0".repeat(64)] {
            assert!(opened(&app, token).await.page(400).contains("meant to sign in"), "{token}");
        }
    }
}
