//! Tests of sign-in by a mailed code or link to an account in deletion.

use latchkey_testkit::{Session, User, both_stores, json};

use crate::audit::last;
use crate::deletion_calls::{delete, deleted, face, restore, restore_id, seen_by_admin};
use crate::email_calls::{send_otp, sign_in_by_code, sign_in_by_link, sign_in_code};
use crate::email_sign_in_links::{link_token, linking};
use crate::enumeration::shown;
use crate::oauth_calls::VERIFIER;
use crate::proven_passwords::squat;
use crate::two_step_calls::{claims, keys};

const NOT_OF_THE_ACCOUNT: [&str; 2] = ["totp", "password"];

both_stores! {
    with(|b| b.verification_by_code())
    async fn mailed_code_leads_to_the_question_and_its_answer_signs_in(app) {
        let ada = deleted(&app, "ada").await;
        let code = sign_in_code(&app, &ada.email).await;

        let answer = sign_in_by_code(&app.anon(), &ada.email, &code).cookie("latchkey_refresh=x").send().await;

        let challenge = restore_id(&answer);
        assert!(answer.set_cookies().is_empty());
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string(), "the question restores nothing");
        sign_in_by_code(&app.anon(), &ada.email, &code).send().await.refused(400, "INVALID_CODE");
        for kind in NOT_OF_THE_ACCOUNT {
            let body = json!({"challengeId": challenge, "kind": kind, "code": "123456", "password": ada.password});
            let other = app.anon().post("/api/auth/challenges/answer", body).send().await;
            other.refused(400, "VALIDATION_ERROR");
        }
        let session = Session::of(&restore(&app.anon(), &challenge).send().await);
        assert_eq!((&session.user_id, &claims(&session.access_token)["amr"]), (&ada.id, &json!(["otp"])));
        assert!(!keys(&seen_by_admin(&app, &ada.id).await).contains(&"deletesAt"));
        app.anon().get(&face(&ada)).send().await.expect(200);
        assert_eq!(last(&app, "deletion_cancelled").await["userId"], ada.id.as_str());
        app.anon().sign_in(&ada.email, &ada.password).send().await.expect(200);
    }

    with(|b| linking(b).verification_by_code())
    async fn mailed_link_leads_to_the_question_and_its_answer_signs_in(app) {
        let ada = deleted(&app, "ada").await;
        let token = link_token(&app, &ada.email).await;
        sign_in_by_link(&app.anon(), &token, "x").send().await.refused(400, "INVALID_CODE");

        let challenge = restore_id(&sign_in_by_link(&app.anon(), &token, VERIFIER).send().await);

        sign_in_by_link(&app.anon(), &token, VERIFIER).send().await.refused(400, "INVALID_CODE");
        let session = Session::of(&restore(&app.anon(), &challenge).send().await);
        assert_eq!(session.user_id, ada.id);
        app.anon().get(&face(&ada)).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn second_factor_is_asked_for_between_code_and_question(app) {
        let ada = app.two_step_user("ada").await;
        delete(&ada).send().await.expect(200);
        app.run_jobs().await;
        app.clock.advance(latchkey_testkit::seconds(30));
        let code = sign_in_code(&app, &ada.email).await;

        let first = sign_in_by_code(&app.anon(), &ada.email, &code).send().await;
        let first = latchkey_testkit::challenge_id(&first);
        restore(&app.anon(), &first).send().await.refused(400, "VALIDATION_ERROR");
        let answer = app.anon().answer(&first, "totp", &ada.authenticator.code()).send().await;

        let session = Session::of(&restore(&app.anon(), &restore_id(&answer)).send().await);
        assert_eq!(claims(&session.access_token)["aal"], 2);
    }

    with(|b| b.verification_by_code())
    async fn request_for_a_code_is_answered_as_ever_and_mails_it_alone(app) {
        let ada = deleted(&app, "ada").await;
        app.mail().clear();

        let in_deletion = send_otp(&app.anon(), &ada.email).send().await;

        let unknown = send_otp(&app.anon(), "nobody@example.org").send().await;
        assert_eq!(shown(&in_deletion), shown(&unknown));
        app.run_jobs().await;
        let mails = app.mail().all(&ada.email);
        assert_eq!((mails.len(), mails[0].code().len()), (1, 6), "{mails:#?}");
        assert!(!mails[0].text.contains("delet"), "{}", mails[0].text);
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());
    }

    // What the code proved stays: the password of whoever was there before goes at once, not with the restoral.
    with(|b| linking(b).verification_by_link())
    async fn squatter_who_deletes_the_account_is_out_when_the_owner_enters_by_mail(app) {
        let squatter = squat(&app).await;
        let email = "ada@example.org";
        delete(&app.with_session(&squatter)).send().await.expect(200);
        let password = latchkey_testkit::PASSWORD;
        let of_squatter = restore_id(&app.anon().sign_in(email, password).send().await);
        let code = sign_in_code(&app, email).await;

        let challenge = restore_id(&sign_in_by_code(&app.anon(), email, &code).send().await);

        restore(&app.anon(), &of_squatter).send().await.refused(401, "INVALID_CHALLENGE");
        app.anon().sign_in(email, password).send().await.refused(401, "INVALID_CREDENTIALS");
        let owner = Session::of(&restore(&app.anon(), &challenge).send().await);
        assert_eq!(owner.user_id, squatter.user_id);
        app.anon().refresh(&squatter).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_entries_of_one_code_one_is_asked(app) {
        let ada: User = deleted(&app, "ada").await;
        let code = sign_in_code(&app, &ada.email).await;

        let answers = crate::races::race(|_| sign_in_by_code(&app.anon(), &ada.email, &code)).await;

        crate::races::one_wins(&answers, 400, "INVALID_CODE");
    }
}
