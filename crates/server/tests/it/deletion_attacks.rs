//! Tests of attacks on the deletion of accounts, and of its races: with restorals, with upkeep, with sign-ins.

use latchkey_testkit::{PASSWORD, Session, both_stores, days, hours, json, minutes};

use crate::deletion_calls::{asked, delete, deleted, face, restore, restored, seen_by_admin};
use crate::races::{one_wins, race};
use crate::two_step_calls::{account, keys};

both_stores! {
    with(|b| b.verification_by_code())
    async fn stale_token_deletes_nothing(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(11));
        let session = Session::of(&ada.refreshed().await);
        let stale = app.with_session(&session);

        delete(&stale).send().await.refused(403, "REAUTHENTICATION_REQUIRED");

        assert!(!keys(&seen_by_admin(&app, &ada.id).await).contains(&"deletesAt"));
        account(&stale).await;
        delete(&app.anon()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        delete(&app.admin()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.run_jobs().await;
        assert!(app.mail().all(&ada.email).iter().all(|mail| !mail.subject.contains("deleted")));
    }

    with(|b| b.verification_by_code())
    async fn password_alone_deletes_no_account_with_two_step_sign_in(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(minutes(11));
        let session = Session::of(&ada.refreshed().await);

        delete(&app.with_session(&session)).send().await.refused(403, "REAUTHENTICATION_REQUIRED");

        assert!(!keys(&seen_by_admin(&app, &ada.id).await).contains(&"deletesAt"));
    }

    with(|b| b.verification_by_code())
    async fn token_from_before_the_deletion_is_nothing_after_the_restoral(app) {
        let ada = deleted(&app, "ada").await;

        restored(&app, &ada).await;

        for client in [&*ada] {
            client.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
            delete(client).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code())
    async fn wrong_password_is_answered_in_deletion_as_ever(app) {
        let ada = deleted(&app, "ada").await;

        let in_deletion = app.anon().sign_in(&ada.email, "a wrong password").send().await;

        let unknown = app.anon().sign_in("nobody@example.org", "a wrong password").send().await;
        assert_eq!(crate::enumeration::shown(&in_deletion), crate::enumeration::shown(&unknown));
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_deletions_one_wins(app) {
        let ada = app.user("ada").await;

        let answers = race(|_| delete(&ada)).await;

        one_wins(&answers, 401, "AUTH_UNAUTHORIZED");
        app.run_jobs().await;
        let told = app.mail().all(&ada.email);
        assert_eq!(told.iter().filter(|mail| mail.subject.contains("is being deleted")).count(), 1);
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_restorals_one_signs_in(app) {
        let ada = deleted(&app, "ada").await;
        let challenge = asked(&app, &ada).await;

        let answers = race(|_| restore(&app.anon(), &challenge)).await;

        one_wins(&answers, 401, "INVALID_CHALLENGE");
    }

    parallel with(|b| b.verification_by_code())
    async fn restoral_races_with_upkeep_and_one_wins(app) {
        let other = app.beside().await;
        for round in 0..5 {
            let ada = deleted(&app, &format!("ada{round}")).await;
            app.clock.advance(days(14));
            let challenge = asked(&app, &ada).await;

            let (answer, ..) = tokio::join!(
                restore(&app.anon(), &challenge).send(),
                app.service().upkeep.purge(),
                other.service().upkeep.purge(),
            );

            let answer_is_session = answer.status == 200;
            let found = app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await;
            if answer_is_session {
                let client = app.with_session(&Session::of(&answer));
                assert_eq!(account(&client).await["user"]["id"], ada.id.as_str());
                assert!(!keys(&found.expect(200)).contains(&"deletesAt"));
                client.get(&face(&ada)).send().await.expect(200);
            } else {
                answer.refused(401, "INVALID_CHALLENGE");
                found.refused(404, "USER_NOT_FOUND");
            }
        }
    }

    // Two questions were open. The answer to one ends the other, however fast the owner deletes the account anew.
    parallel with(|b| b.verification_by_code())
    async fn deletion_anew_races_with_another_restoral_and_stands(app) {
        for round in 0..5 {
            let ada = deleted(&app, &format!("ada{round}")).await;
            let other = asked(&app, &ada).await;
            let session = restored(&app, &ada).await;
            let client = app.with_session(&session);

            let (deleting, restoring) = tokio::join!(
                delete(&client).send(),
                restore(&app.anon(), &other).send(),
            );

            deleting.expect(200);
            restoring.refused(401, "INVALID_CHALLENGE");
            assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());
            app.anon().get(&face(&ada)).send().await.refused(404, "USER_NOT_FOUND");
        }
    }

    parallel with(|b| b.verification_by_code())
    async fn sign_in_beside_the_deletion_leaves_no_session(app) {
        let ada = app.user("ada").await;

        let answers = race(|number| {
            if number == 9 { delete(&ada) } else { app.anon().sign_in(&ada.email, PASSWORD) }
        })
        .await;

        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        for answer in answers.iter().filter(|answer| answer.json()["accessToken"].is_string()) {
            let client = app.with_session(&Session::of(answer));
            client.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());
    }

    parallel with(|b| b.verification_by_code())
    async fn deletion_races_with_its_undo_and_nothing_is_half(app) {
        let ada = app.user("ada").await;
        let token = crate::email_change_calls::moved(&app, &ada, "eva@example.com").await;

        let (deleting, undoing) = tokio::join!(
            delete(&ada).send(),
            crate::email_change_calls::undo(&app.anon(), &token, &ada.email).send(),
        );

        assert!([200, 401].contains(&deleting.status), "{deleting:?}");
        undoing.expect(200);
        let user = seen_by_admin(&app, &ada.id).await;
        assert!(!keys(&user).contains(&"deletesAt"));
        assert_eq!(user["email"], ada.email.as_str());
        app.anon().get(&face(&ada)).send().await.expect(200);
    }

    // Whoever took a session over cannot keep the account in the grace by restoring it.
    with(|b| b.verification_by_code())
    async fn undo_of_the_deletion_throws_out_who_restored_it(app) {
        let ada = deleted(&app, "ada").await;
        let token = app.mail().last(&ada.email).token();
        app.clock.advance(hours(1));
        let thief = restored(&app, &ada).await;

        crate::email_change_calls::undo(&app.anon(), &token, &ada.email).send().await.expect(200);

        app.with_session(&thief).get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(&ada.email, &ada.password).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().get(&face(&ada)).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn body_and_queries_of_the_deletion_name_nobody_else(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);

        let body = json!({"userId": bob.id, "id": bob.id});
        delete(&ada).query("userId", &bob.id).json(&body).send().await.expect(200);

        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());
        assert!(!keys(&seen_by_admin(&app, &bob.id).await).contains(&"deletesAt"));
    }
}
