//! Tests of the mails of the whole service, as an admin lists them, and of another try for dead ones.

use latchkey_testkit::{Answer, PASSWORD, TestApp, Value, both_stores, json, minutes};

use crate::audit::last;
use crate::described::assert_successes_are_described;
use crate::email_calls::{TARGET, exchange, send_reset_to};

const ADA: &str = "ada@example.org";
const MAILS: &str = "/api/auth/mails";
const UNKNOWN: &str = "01a1fe6b-42e2-7c34-802d-fc79a6fb6b61";

async fn send_reset(app: &TestApp, email: &str) {
    app.anon().post("/api/auth/email/send-reset-password", json!({"email": email})).send().await.expect(202);
}

/// Mails that match a query string, newest first.
async fn listed(app: &TestApp, query: &str) -> Value {
    app.admin().get(&format!("{MAILS}?{query}")).send().await.expect(200)
}

async fn retry(app: &TestApp, id: &str) -> Answer {
    app.admin().post(&format!("{MAILS}/{id}/retry"), json!({})).send().await
}

/// Has a reset mail to the address die; returns its id.
async fn dead_mail(app: &TestApp, email: &str) -> String {
    send_reset(app, email).await;
    app.mail().refuse_next(1);
    app.run_jobs().await;
    let mails = listed(app, "state=dead").await;
    mails["data"][0]["id"].as_str().unwrap().to_owned()
}

both_stores! {
    async fn mails_of_the_service_are_listed_by_state_and_address(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let dead = dead_mail(&app, &ada.email).await;
        send_reset(&app, &eve.email).await;

        let all = listed(&app, "").await;
        let of_ada = listed(&app, "to=ADA%40example.org").await;

        assert_eq!(all["pagination"], json!({"limit": 20, "total": 2}));
        assert_eq!(of_ada["data"], json!([{
            "id": dead, "kind": "reset", "userId": ada.id, "email": ada.email, "state": "dead", "attempts": 1,
            "createdAt": "2026-03-02T10:00:00.000Z", "endedAt": "2026-03-02T10:00:00.000Z", "nextAttemptAt": null,
            "error": "told to refuse",
        }]));
        let queued = listed(&app, "state=queued").await;
        assert_eq!((&queued["data"][0]["email"], &queued["pagination"]["total"]), (&json!(eve.email), &json!(1)));
        assert_eq!(listed(&app, "state=sent").await["data"], json!([]));
    }

    async fn list_of_mails_has_pages(app) {
        let ada = app.user("ada").await;
        for _ in 0..3 {
            send_reset(&app, &ada.email).await;
            app.clock.advance(minutes(5));
        }
        let whole = listed(&app, "").await["data"].clone();

        let first = listed(&app, "limit=2").await;
        let cursor = first["pagination"]["nextCursor"].as_str().unwrap();
        let second = listed(&app, &format!("limit=2&cursor={cursor}")).await;

        assert_eq!((first["data"].as_array().unwrap().len(), &first["pagination"]["total"]), (2, &json!(3)));
        assert_eq!(second["data"], json!([whole[2]]));
        assert_eq!(second["pagination"], json!({"limit": 2, "total": 3}));
    }

    async fn wrong_filters_of_mails_are_refused_by_name(app) {
        for query in ["state=decoy", "to=nobody", "cursor=x", "limit=0"] {
            let answer = app.admin().get(&format!("{MAILS}?{query}")).send().await;
            let refused = answer.refused(400, "VALIDATION_ERROR");
            assert_eq!(refused["field"], query.split_once('=').unwrap().0, "{refused}");
        }
    }

    async fn dead_mail_is_sent_again_and_audited(app) {
        let ada = app.user("ada").await;
        let dead = dead_mail(&app, &ada.email).await;

        let retried = retry(&app, &dead).await.expect(200);

        assert_eq!((&retried["state"], &retried["attempts"]), (&json!("queued"), &json!(0)));
        let event = last(&app, "mail_retried").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("admin"), &json!(ada.id)));
        assert_eq!(event["details"], json!({"mail": dead, "kind": "reset"}));
        assert_eq!(app.mail_to(&ada.email).await.code().len(), 6);
        retry(&app, &dead).await.refused(409, "MAIL_NOT_RETRIED");
    }

    async fn waiting_mail_is_not_retried(app) {
        let ada = app.user("ada").await;
        send_reset(&app, &ada.email).await;
        let id = listed(&app, "").await["data"][0]["id"].clone();

        let refused = retry(&app, id.as_str().unwrap()).await.refused(409, "MAIL_NOT_RETRIED");

        assert_eq!(refused["message"], "This mail is not dead: it waits for its next attempt.");
    }

    async fn mail_with_an_expired_code_is_not_retried(app) {
        let ada = app.user("ada").await;
        let dead = dead_mail(&app, &ada.email).await;
        app.clock.advance(minutes(10));

        let refused = retry(&app, &dead).await.refused(409, "MAIL_NOT_RETRIED");

        assert_eq!(refused["message"], "The code or link in this mail has expired.");
        assert_eq!(refused["nextActions"], "Send a new mail instead: a verification or a reset to the user.");
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 0);
    }

    async fn mail_with_a_code_that_another_replaced_is_not_retried(app) {
        let ada = app.user("ada").await;
        let dead = dead_mail(&app, &ada.email).await;
        app.clock.advance(minutes(2));
        send_reset(&app, &ada.email).await;
        let code = app.mail_to(&ada.email).await.code();

        let refused = retry(&app, &dead).await.refused(409, "MAIL_NOT_RETRIED");

        assert_eq!(refused["message"], "The code or link in this mail was used, or a newer mail replaced it.");
        let exchanged = exchange(&app.anon(), &ada.email, &code).send().await;
        exchanged.expect(200);
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn mail_with_a_link_is_retried_until_another_replaces_it(app) {
        let ada = app.user("ada").await;
        let send = async || {
            let sent = send_reset_to(&app.anon(), &ada.email, TARGET).send().await;
            sent.expect(202);
        };
        app.mail().refuse_next(1);
        send().await;
        app.run_jobs().await;
        let first = listed(&app, "state=dead").await["data"][0]["id"].as_str().unwrap().to_owned();
        app.mail().refuse_next(1);
        retry(&app, &first).await.expect(200);
        app.run_jobs().await;
        app.clock.advance(minutes(2));
        send().await;

        retry(&app, &first).await.refused(409, "MAIL_NOT_RETRIED");
    }

    with(|b| b.verification_by_code().notifying())
    async fn notification_is_retried_however_old_it_is(app) {
        let ada = app.user("ada").await;
        let change = json!({"currentPassword": PASSWORD, "newPassword": "another-Horse-7"});
        app.with_session(&ada.session).post("/api/auth/password", change).send().await.expect(200);
        app.mail().refuse_next(1);
        app.run_jobs().await;
        app.clock.advance(minutes(600));
        let dead = listed(&app, "state=dead").await;

        retry(&app, dead["data"][0]["id"].as_str().unwrap()).await.expect(200);

        assert_eq!(app.mail_to(&ada.email).await.subject, "Your password for Latchkey was changed");
    }

    async fn retry_of_an_unknown_mail_is_refused(app) {
        retry(&app, UNKNOWN).await.refused(404, "NOT_FOUND");
        retry(&app, "x").await.refused(404, "NOT_FOUND");
    }

    async fn list_and_retry_of_mails_are_as_described(app) {
        let ada = app.user("ada").await;
        let dead = dead_mail(&app, ADA).await;
        assert_eq!(ada.email, ADA);
        let retry = app.admin().post(&format!("{MAILS}/{dead}/retry"), json!({}));
        let list = app.admin().get(MAILS);

        assert_successes_are_described(&app, [("GET /api/auth/mails", list), ("POST /api/auth/mails/{id}/retry", retry)])
            .await;
    }
}
