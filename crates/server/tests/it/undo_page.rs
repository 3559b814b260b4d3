//! Tests of the undo link of the mail about two-step sign-in: its page, its form, and the JSON call.

use latchkey_testkit::{Answer, Client, PASSWORD, Request, TestApp, TwoStepUser, both_stores, hours, json};

use crate::described::assert_successes_are_described;

const UNDO: &str = "/api/auth/undo";

fn by_form(client: &Client, token: &str, email: &str) -> Request {
    let email = email.replace('@', "%40");
    let body = format!("token={token}&email={email}");
    client.request("POST", UNDO).raw("application/x-www-form-urlencoded", body)
}

fn by_json(client: &Client, token: &str, email: &str) -> Request {
    client.post(UNDO, json!({"token": token, "email": email}))
}

async fn two_step_user(app: &TestApp) -> (TwoStepUser, String) {
    let ada = app.two_step_user("ada").await;
    let token = app.mail_to(&ada.email).await.token();
    (ada, token)
}

/// Asserts that a right password is still answered with a challenge.
async fn is_unchanged(app: &TestApp, email: &str) {
    let answer = app.anon().sign_in(email, PASSWORD).send().await.expect(200);
    assert!(answer.get("challenge").is_some(), "{answer}");
}

#[track_caller]
fn has_form(answer: &Answer, status: u16) {
    let page = answer.page(status);
    assert_eq!(page.matches("<form method=\"post\" action=\"/api/auth/undo\">").count(), 1, "{page}");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'") && policy.contains("default-src 'none'"), "{policy}");
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn opened_link_says_what_happened_and_changes_nothing(app) {
        let (ada, token) = two_step_user(&app).await;
        let link = format!("{UNDO}?token={token}");

        for _ in 0..3 {
            assert_eq!(app.anon().request("HEAD", &link).send().await.status, 200);
            let answer = app.anon().get(&link).send().await;

            has_form(&answer, 200);
            let page = answer.page(200);
            assert!(page.contains("Two-step sign-in was turned on") && page.contains("2026-03-02 10:00 UTC"));
            assert!(!page.contains("name=\"code\"") && !page.contains(&ada.email), "{page}");
        }

        is_unchanged(&app, &ada.email).await;
    }

    with(|b| b.verification_by_code())
    async fn form_takes_two_step_sign_in_back(app) {
        let (ada, token) = two_step_user(&app).await;
        app.mail().clear();

        let answer = by_form(&app.anon(), &token, &ada.email).send().await;

        assert!(answer.page(200).contains("It was undone"));
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.run_jobs().await;
        let subjects: Vec<_> = app.mail().all(&ada.email).into_iter().map(|mail| mail.subject).collect();
        assert_eq!(subjects.len(), 2, "{subjects:?}");
        assert!(subjects.iter().any(|subject| subject.contains("undone")), "{subjects:?}");
        by_form(&app.anon(), &token, &ada.email).send().await.page(400);
    }

    with(|b| b.verification_by_code())
    async fn program_takes_two_step_sign_in_back_and_a_new_password_signs_in(app) {
        let (ada, token) = two_step_user(&app).await;
        app.mail().clear();

        let request = by_json(&app.anon(), &token, &ada.email);
        assert_successes_are_described(&app, [("POST /api/auth/undo", request)]).await;

        app.run_jobs().await;
        let mails = app.mail().all(&ada.email);
        let code = mails.iter().find(|mail| mail.subject.contains("password")).unwrap().code();
        let exchange = json!({"email": ada.email, "code": code});
        let reset = app.anon().post("/api/auth/email/exchange-reset-password-token", exchange).send().await;
        let otp = reset.expect(200)["token"].clone();
        let set = json!({"otp": otp, "newPassword": "staple of the battery"});
        app.anon().post("/api/auth/email/reset-password", set).send().await.expect(200);
        let session = app.anon().sign_in(&ada.email, "staple of the battery").send().await.expect(200);
        assert!(session.get("accessToken").is_some(), "{session}");
    }

    with(|b| b.verification_by_code())
    async fn another_address_changes_nothing(app) {
        let (ada, token) = two_step_user(&app).await;
        app.user("eve").await;

        let by_page = by_form(&app.anon(), &token, "eve@example.org").send().await;

        has_form(&by_page, 400);
        assert!(by_page.text().contains("value=\"eve@example.org\"") && by_page.text().contains("role=\"alert\""));
        by_json(&app.anon(), &token, "eve@example.org").send().await.refused(400, "INVALID_CODE");
        by_json(&app.anon(), &token, "eve").send().await.refused(400, "VALIDATION_ERROR");
        has_form(&by_form(&app.anon(), &token, "eve").send().await, 400);
        is_unchanged(&app, &ada.email).await;
        by_json(&app.anon(), &token, &ada.email).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn bad_link_shows_a_page_and_is_refused_as_json(app) {
        let (ada, token) = two_step_user(&app).await;
        let unknown = "0".repeat(64);
        for bad in ["", "x", &unknown, &token[1..]] {
            app.anon().get(&format!("{UNDO}?token={bad}")).send().await.page(400);
            by_json(&app.anon(), bad, &ada.email).send().await.refused(400, "INVALID_CODE");
            by_form(&app.anon(), bad, &ada.email).send().await.page(400);
        }

        app.clock.advance(hours(73));

        app.anon().get(&format!("{UNDO}?token={token}")).send().await.page(400);
        by_json(&app.anon(), &token, &ada.email).send().await.refused(400, "INVALID_CODE");
        is_unchanged(&app, &ada.email).await;
    }

    with(|b| b.verification_by_code())
    async fn form_of_another_site_is_refused(app) {
        let (ada, token) = two_step_user(&app).await;
        let form = || by_form(&app.anon(), &token, &ada.email);

        for (name, value) in
            [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "https://evil.example")]
        {
            form().header(name, value).send().await.refused(403, "FORBIDDEN");
        }

        is_unchanged(&app, &ada.email).await;
        let own = form().header("origin", "null").header("sec-fetch-site", "same-origin");
        assert!(own.send().await.page(200).contains("It was undone"));
    }

    with(|b| b.verification_by_code())
    async fn odd_fields_get_a_page_too(app) {
        let (ada, token) = two_step_user(&app).await;
        let form = |body: String| app.anon().request("POST", UNDO).raw("application/x-www-form-urlencoded", body);
        for query in [format!("token={token}&token={token}"), "token=%00".to_owned(), "token=%ff".to_owned()] {
            app.anon().get(&format!("{UNDO}?{query}")).send().await.page(400);
            form(format!("{query}&email=ada%40example.org")).send().await.page(400);
        }
        for email in ["email=ada%00%40example.org", "email=ada%40example.org&email=eve%40example.org", "email=%ff"] {
            has_form(&form(format!("token={token}&{email}")).send().await, 400);
        }
        for code in ["code=%00", "code=123456&code=123456"] {
            form(format!("token={token}&email=ada%40example.org&{code}")).send().await.page(400);
        }

        is_unchanged(&app, &ada.email).await;
        by_form(&app.anon(), &token, &ada.email).send().await.page(200);
    }
}
