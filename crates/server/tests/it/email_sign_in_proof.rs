//! Tests of sign-in by mail as a proof of the mailbox: whoever was in the account before its owner is out.

use latchkey_testkit::{PASSWORD, Session, both_stores, challenge_id, json};

use crate::audit::last;
use crate::email_calls::{change_user, exchange, reset_code, sign_in_by_code, sign_in_code};
use crate::email_sign_in::session_by_code;
use crate::first_proof::{assert_gone, settle};
use crate::oauth_calls::identities;
use crate::proven_passwords::{REDIRECTS, assert_out, squat};
use crate::two_step_calls::account;

const ADA: &str = "ada@example.org";

both_stores! {
    async fn squatter_of_an_unverified_address_is_removed(app) {
        let squatter = settle(&app).await;

        let owner = session_by_code(&app, ADA).await;

        assert_gone(&app, &squatter, &owner).await;
        let me = app.with_session(&owner).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!((&me["user"]["emailVerified"], &me["user"]["providers"]), (&json!(true), &json!([])));
        last(&app, "email_verified").await;
    }

    // The attacker signs up with the victim's address, and the victim's mail scanner opens the link.
    with(|b| b.verification_by_link().redirects(REDIRECTS))
    async fn squatter_with_a_scanned_link_is_removed(app) {
        let squatter = squat(&app).await;

        let owner = session_by_code(&app, ADA).await;

        assert_eq!(owner.user_id, squatter.user_id);
        assert_eq!(identities(&app.with_session(&owner)).await, Vec::<String>::new());
        assert_out(&app, &squatter).await;
    }

    with(|b| b.verification_by_code())
    async fn pending_account_is_entered_and_loses_its_password(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let verification = app.mail_to(ADA).await.code();

        let owner = session_by_code(&app, ADA).await;

        let me = app.with_session(&owner).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!((&me["user"]["emailVerified"], &me["user"]["providers"]), (&json!(true), &json!([])));
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().verify(ADA, &verification).send().await.refused(400, "INVALID_CODE");
        let public = format!("/api/profiles/{}", owner.user_id);
        app.anon().get(&public).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn proven_account_keeps_all_it_has(app) {
        let ada = app.user("ada").await;
        let code = reset_code(&app, ADA).await;
        let before = ada.get("/api/auth/sessions/current").send().await.expect(200);

        let owner = session_by_code(&app, ADA).await;

        let after = app.with_session(&owner).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(after["user"], before["user"]);
        assert_eq!(ada.refreshed().await.status, 200);
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
        exchange(&app.anon(), ADA, &code).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn address_that_an_admin_unverified_is_verified_and_keeps_its_factors(app) {
        let ada = app.two_step_user("ada").await;
        change_user(&app, ADA, json!({"emailVerified": false})).await;
        let code = sign_in_code(&app, ADA).await;

        let challenge = challenge_id(&sign_in_by_code(&app.anon(), ADA, &code).send().await);

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;
        let own = account(&app.with_session(&Session::of(&answer))).await;
        assert_eq!((&own["twoStep"], &own["hasPassword"], &own["user"]["emailVerified"]), (&json!(true), &json!(true), &json!(true)));
    }

    async fn mail_says_beforehand_what_goes(app) {
        settle(&app).await;

        sign_in_code(&app, ADA).await;

        let mail = app.mail().last(ADA);
        for body in [&mail.text, &mail.html] {
            let words = body.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("Signing in removes them, and ends all other sessions"), "{words}");
        }
    }
}
