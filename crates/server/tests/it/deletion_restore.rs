//! Tests of the restoral of an account in deletion: by the answer to a challenge of kind `restore`, or by an undo link.

use latchkey_testkit::{Session, both_stores, challenge_id, days, json, minutes, seconds};

use crate::audit::last;
use crate::deletion_calls::{asked, delete, deleted, face, restore, restore_id, restored, seen_by_admin};
use crate::email_calls::{NEW_PASSWORD, resend, reset_token};
use crate::email_change_calls::{moved, undo};
use crate::oauth_calls::{VERIFIER, acme, exchange, identities, link_code, person, sign_in};
use crate::passkey_calls::required;
use crate::two_step_calls::{account, claims, keys};

both_stores! {
    with(|b| b.verification_by_code())
    async fn signing_in_asks_and_the_answer_restores_and_signs_in(app) {
        let ada = deleted(&app, "ada").await;
        let answer = app.anon().sign_in(&ada.email, &ada.password).cookie("latchkey_refresh=x").send().await;
        let challenge = restore_id(&answer);
        assert_eq!(keys(&answer.json()["challenge"]), ["expiresAt", "id", "kinds"]);
        app.anon().get(&face(&ada)).send().await.refused(404, "USER_NOT_FOUND");
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string(), "the question restores nothing");

        let answer = restore(&app.anon(), &challenge).send().await;

        let session = Session::of(&answer);
        assert!(session.cookie.is_some() && session.csrf_token.is_some());
        assert_eq!((&session.user_id, &answer.json()["user"]["email"]), (&ada.id, &json!(ada.email)));
        assert!(claims(&session.access_token)["aal"].is_null());
        let account = account(&app.with_session(&session)).await;
        assert_eq!((&account["hasPassword"], &account["level"]), (&json!(true), &json!(1)));
        app.anon().get(&face(&ada)).send().await.expect(200);
        assert_eq!(last(&app, "deletion_cancelled").await["userId"], ada.id.as_str());
        assert!(app.mail_to(&ada.email).await.subject.contains("was restored"));
        app.clock.advance(days(15));
        app.run_jobs().await;
        assert!(!keys(&seen_by_admin(&app, &ada.id).await).contains(&"deletesAt"));
    }

    with(|b| b.verification_by_code())
    async fn challenge_of_kind_restore_is_answered_once_and_by_its_kind_alone(app) {
        let ada = deleted(&app, "ada").await;
        let (one, other) = (asked(&app, &ada).await, asked(&app, &ada).await);
        for kind in ["totp", "recovery_code", "email_code"] {
            app.anon().answer(&one, kind, "123456").send().await.refused(400, "VALIDATION_ERROR");
        }
        app.anon().answer(&one, "password", &ada.password).send().await.refused(400, "VALIDATION_ERROR");

        restore(&app.anon(), &one).send().await.expect(200);

        for challenge in [&one, &other] {
            restore(&app.anon(), challenge).send().await.refused(401, "INVALID_CHALLENGE");
        }
        let body = json!({"challengeId": "A".repeat(43), "kind": "restore"});
        let unknown = app.anon().post("/api/auth/challenges/answer", body).send().await;
        unknown.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn challenge_of_kind_restore_expires_with_its_ten_minutes_and_with_a_change(app) {
        let ada = deleted(&app, "ada").await;
        let old = asked(&app, &ada).await;
        app.clock.advance(minutes(10));
        restore(&app.anon(), &old).send().await.refused(401, "INVALID_CHALLENGE");
        let open = asked(&app, &ada).await;
        let token = reset_token(&app, &ada.email).await;

        crate::email_calls::reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        restore(&app.anon(), &open).send().await.refused(401, "INVALID_CHALLENGE");
    }

    // The kind `restore` is no answer to a challenge of another account or purpose.
    with(|b| b.verification_by_code())
    async fn other_challenges_take_no_restoral(app) {
        let ada = app.two_step_user("ada").await;
        let sign_in = ada.challenged().await;
        let step_up = challenge_id(&ada.reauthenticate().send().await);

        for challenge in [&sign_in, &step_up] {
            restore(&ada, challenge).send().await.refused(400, "VALIDATION_ERROR");
        }
    }

    with(|b| b.verification_by_code())
    async fn second_factor_is_given_before_the_question(app) {
        let ada = app.two_step_user("ada").await;
        delete(&ada).send().await.expect(200);
        app.clock.advance(seconds(30));
        let first = ada.challenged().await;
        restore(&app.anon(), &first).send().await.refused(400, "VALIDATION_ERROR");
        app.anon().answer(&first, "totp", &ada.authenticator.wrong_code(1)).send().await
            .refused(401, "INVALID_SECOND_FACTOR");

        let answer = app.anon().answer(&first, "totp", &ada.authenticator.code()).send().await;

        let next = restore_id(&answer);
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());
        let session = Session::of(&restore(&app.anon(), &next).send().await);
        assert_eq!(claims(&session.access_token)["aal"], 2);
        assert_eq!(account(&app.with_session(&session)).await["twoStep"], true);
        assert_eq!(last(&app, "sign_in").await["details"]["amr"], json!(["pwd", "otp", "mfa"]));
    }

    with(|b| b.verification_by_code())
    async fn passkey_leads_to_the_question_and_its_session_ends_with_it(app) {
        let mut ada = app.passkey_user("ada").await;
        delete(&ada).send().await.expect(200);

        let challenge = restore_id(&crate::passkey_calls::sign_in(&app.anon(), &mut ada.passkey).await);

        let session = Session::of(&restore(&app.anon(), &challenge).send().await);
        assert_eq!(claims(&session.access_token)["aal"], 2);
        let other = app.with_session(&crate::passkey_calls::session(&app.anon(), &mut ada.passkey).await);
        let client = app.with_session(&session);
        let id = crate::passkey_calls::passkeys(&client).await["passkeys"][0]["id"].as_str().unwrap().to_owned();
        crate::passkey_calls::remove(&other, &id).send().await.expect(200);
        client.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code())
    async fn identity_leads_to_the_question_and_is_linked_by_the_answer(app) {
        let acme = acme(&app).await;
        let ada = deleted(&app, "ada").await;
        acme.person(person("ada at home", &ada.email));

        let challenge = restore_id(&sign_in(&app, &acme, "acme").await);

        let session = Session::of(&restore(&app.anon(), &challenge).send().await);
        assert_eq!(session.user_id, ada.id);
        assert_eq!(identities(&app.with_session(&session)).await, ["acme"]);
    }

    with(|b| b.verification_by_code())
    async fn identity_of_the_account_leads_to_the_question(app) {
        let acme = acme(&app).await;
        let ada = app.user("ada").await;
        acme.person(person("ada at home", "other@example.org"));
        let code = link_code(&ada, &acme, "acme").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        delete(&ada).send().await.expect(200);

        let challenge = restore_id(&sign_in(&app, &acme, "acme").await);

        assert_eq!(Session::of(&restore(&app.anon(), &challenge).send().await).user_id, ada.id);
    }

    // Verification is not required here, so that there is an unverified account with a session.
    async fn verification_of_the_address_leads_to_the_question(app) {
        let ada = app.user("ada").await;
        delete(&ada).send().await.expect(200);
        resend(&app.anon(), &ada.email).send().await.expect(202);
        let code = app.mail_to(&ada.email).await.code();

        let challenge = restore_id(&app.anon().verify(&ada.email, &code).send().await);

        assert_eq!(Session::of(&restore(&app.anon(), &challenge).send().await).user_id, ada.id);
    }

    with(required)
    async fn enrolment_is_asked_for_after_the_restoral(app) {
        app.anon().sign_up("ada@example.org", latchkey_testkit::PASSWORD).send().await.expect(200);
        crate::two_step_calls::set_policy(&app, "optional").await;
        let code = app.mail_to("ada@example.org").await.code();
        let session = Session::of(&app.anon().verify("ada@example.org", &code).send().await);
        delete(&app.with_session(&session)).send().await.expect(200);
        crate::two_step_calls::set_policy(&app, "required").await;

        let answer = app.anon().sign_in("ada@example.org", latchkey_testkit::PASSWORD).send().await;
        let answer = restore(&app.anon(), &restore_id(&answer)).send().await;

        let enrolling = challenge_id(&answer);
        assert_eq!(answer.json()["challenge"]["kinds"], json!(["enroll"]));
        assert!(!keys(&seen_by_admin(&app, &session.user_id).await).contains(&"deletesAt"));
        let body = json!({"challengeId": enrolling});
        app.anon().post("/api/auth/factors/totp", body).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn client_type_of_the_beginning_decides_between_cookie_and_body(app) {
        let ada = deleted(&app, "ada").await;
        let answer = app.anon().sign_in(&ada.email, &ada.password).client_type("mobile").send().await;

        let session = Session::of(&restore(&app.anon(), &restore_id(&answer)).send().await);

        assert!(session.cookie.is_none() && session.refresh_token.is_some());
    }

    with(|b| b.verification_by_code())
    async fn banned_account_in_deletion_is_not_restored(app) {
        let ada = deleted(&app, "ada").await;
        let challenge = asked(&app, &ada).await;
        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);

        restore(&app.anon(), &challenge).send().await.refused(401, "INVALID_CHALLENGE");
        app.anon().sign_in(&ada.email, &ada.password).send().await.refused(403, "USER_BANNED");
        app.admin().patch(&path, json!({"banned": false})).send().await.expect(200);
        app.anon().get(&face(&ada)).send().await.refused(404, "USER_NOT_FOUND");
        restored(&app, &ada).await;
    }

    with(|b| b.verification_by_code())
    async fn undo_link_of_the_deletion_restores_until_its_end(app) {
        let ada = deleted(&app, "ada").await;
        let token = app.mail().last(&ada.email).token();
        app.clock.advance(days(14) - seconds(1));
        let answer = app.anon().get(&format!("/api/auth/undo?token={token}")).send().await;
        let page = answer.page(200);
        assert!(page.contains("Your account was deleted") && page.contains("2026-03-02 10:00 UTC"), "{page}");
        undo(&app.anon(), &token, "bob@example.org").send().await.refused(400, "INVALID_CODE");

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        undo(&app.anon(), &token, &ada.email).send().await.refused(400, "INVALID_CODE");
        app.anon().get(&face(&ada)).send().await.expect(200);
        app.anon().sign_in(&ada.email, &ada.password).send().await.refused(401, "INVALID_CREDENTIALS");
        app.clock.advance(days(1));
        app.run_jobs().await;
        assert!(!keys(&seen_by_admin(&app, &ada.id).await).contains(&"deletesAt"));
    }

    with(|b| b.verification_by_code())
    async fn undo_link_of_the_deletion_dies_with_the_grace(app) {
        let ada = deleted(&app, "ada").await;
        let token = app.mail().last(&ada.email).token();

        app.clock.advance(days(14)); // the account is still there: upkeep comes later

        undo(&app.anon(), &token, &ada.email).send().await.refused(400, "INVALID_CODE");
        app.anon().get(&format!("/api/auth/undo?token={token}")).send().await.page(400);
    }

    with(|b| b.verification_by_code())
    async fn undo_of_the_deletion_asks_for_a_second_factor_from_before(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(days(2));
        let session = crate::two_step_calls::signed_in(&app, &ada).await;
        delete(&app.with_session(&session)).send().await.expect(200);
        let token = app.mail_to(&ada.email).await.token();

        let answer = undo(&app.anon(), &token, &ada.email).send().await;

        let challenge = answer.refused(403, "SECOND_FACTOR_REQUIRED")["challenge"]["id"].as_str().unwrap().to_owned();
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());
        app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);
        assert!(!keys(&seen_by_admin(&app, &ada.id).await).contains(&"deletesAt"));
    }

    with(|b| b.verification_by_code())
    async fn undo_of_an_earlier_event_ends_a_deletion_begun_since(app) {
        let ada = app.user("ada").await;
        let token = moved(&app, &ada, "thief@example.com").await;
        app.clock.advance(minutes(1));
        delete(&ada).send().await.expect(200);
        let later = app.mail_to("thief@example.com").await.token();

        undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        let user = seen_by_admin(&app, &ada.id).await;
        assert_eq!(user["email"], ada.email.as_str());
        assert!(!keys(&user).contains(&"deletesAt"));
        undo(&app.anon(), &later, "thief@example.com").send().await.refused(400, "INVALID_CODE");
        app.clock.advance(days(15));
        app.run_jobs().await;
        assert_eq!(seen_by_admin(&app, &ada.id).await["email"], ada.email.as_str());
    }
}
