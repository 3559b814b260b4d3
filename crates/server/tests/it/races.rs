//! Tests of twenty concurrent requests: exactly one succeeds, and none gets a 5xx.

use latchkey_testkit::{Answer, PASSWORD, Request, Session, TestApp, TestAppBuilder, both_stores, json};

const RACERS: usize = 20;

both_stores! {
    parallel async fn of_twenty_sign_ups_for_one_address_one_wins(app) {
        let answers = race(|_| app.anon().sign_up("ada@example.org", PASSWORD)).await;

        one_wins(&answers, 409, "EMAIL_EXISTS");
        assert_eq!(users(&app).await, 1);
    }

    parallel async fn of_twenty_spellings_of_one_address_one_wins(app) {
        let email = |number: usize| if number.is_multiple_of(2) { "ada@example.org" } else { "ADA@Example.ORG" };

        let answers = race(|number| app.anon().sign_up(email(number), PASSWORD)).await;

        one_wins(&answers, 409, "EMAIL_EXISTS");
        assert_eq!(users(&app).await, 1);
    }

    parallel with(|b| patient(b.verification_by_code()))
    async fn twenty_sign_ups_that_need_verification_make_one_account_with_one_live_code(app) {
        let answers = race(|_| app.anon().sign_up("ada@example.org", PASSWORD)).await;

        for answer in &answers {
            assert_eq!((answer.status, answer.text()), (200, answers[0].text()));
        }
        assert_eq!(users(&app).await, 1);
        assert_eq!(good_codes(&app).await, 1);
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    }

    parallel with(|b| patient(b.verification_by_code()))
    async fn twenty_sign_ups_with_different_passwords_contest_the_address(app) {
        let password = |number: usize| format!("violet anchor number {number}");

        let answers = race(|number| app.anon().sign_up("ada@example.org", &password(number))).await;

        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        assert_eq!((users(&app).await, good_codes(&app).await), (1, 1));
        for number in 0..RACERS {
            let answer = app.anon().sign_in("ada@example.org", &password(number)).send().await;
            answer.refused(401, "INVALID_CREDENTIALS");
        }
    }

    parallel with(|b| b.verification_by_code())
    async fn one_code_verifies_once(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let code = app.mail_to("ada@example.org").await.code();

        let answers = race(|_| app.anon().verify("ada@example.org", &code)).await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    parallel with(|b| b.verification_by_code())
    async fn right_code_wins_at_most_once_among_wrong_ones(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let code = app.mail_to("ada@example.org").await.code();
        let wrong = if code == "000000" { "000001" } else { "000000" };

        let guess = |number: usize| if number.is_multiple_of(4) { code.as_str() } else { wrong };
        let answers = race(|number| app.anon().verify("ada@example.org", guess(number))).await;

        assert!(count(&answers, 200) <= 1, "{answers:?}");
        assert_eq!(count(&answers, 200) + count(&answers, 400), RACERS);
    }

    parallel with(|b| b.verification_by_link())
    async fn one_link_token_opens_one_session(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "redirectTo": "http://localhost:3000/"});
        app.anon().post("/api/auth/users", body).send().await.expect(200);
        let token = app.mail_to("ada@example.org").await.token();

        let answers = race(|_| app.anon().post("/api/auth/email/verify", json!({"otp": token}))).await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    parallel async fn one_reset_code_is_exchanged_once(app) {
        let code = reset_code(&app).await;

        let answers = race(|_| exchange(&app, &code)).await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    parallel async fn one_reset_token_sets_one_password(app) {
        let code = reset_code(&app).await;
        let token = exchange(&app, &code).send().await.expect(200)["token"].clone();
        let password = |number: usize| format!("lantern number {number}");
        let reset = |number| {
            let body = json!({"newPassword": password(number), "otp": token});
            app.anon().post("/api/auth/email/reset-password", body)
        };

        let answers = race(reset).await;

        one_wins(&answers, 400, "INVALID_CODE");
        let winner = answers.iter().position(|answer| answer.status == 200).unwrap();
        app.anon().sign_in("ada@example.org", &password(winner)).send().await.expect(200);
    }

    parallel async fn one_refresh_token_has_one_lineage(app) {
        let ada = app.user_on("ada", "server").await;

        let answers = race(|_| app.anon().refresh(&ada.session)).await;

        let successors: Vec<_> = answers.iter().map(|answer| Session::of(answer).refresh_token).collect();
        assert!(successors.iter().all(|token| *token == successors[0] && *token != ada.session.refresh_token));
        let next = Session::of(&answers[0]);
        app.anon().refresh(&next).send().await.expect(200);
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    parallel async fn one_refresh_token_has_one_lineage_over_two_instances(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;

        let instance = |number: usize| if number.is_multiple_of(2) { app.anon() } else { other.anon() };
        let answers = race(|number| instance(number).refresh(&ada.session)).await;

        let cookies: Vec<_> = answers.iter().map(|answer| Session::of(answer).cookie).collect();
        assert!(cookies.iter().all(|cookie| *cookie == cookies[0] && *cookie != ada.session.cookie));
    }

    parallel async fn replays_after_the_grace_end_the_session_without_any_error_of_ours(app) {
        let ada = app.user_on("ada", "server").await;
        let next = Session::of(&ada.refreshed().await);
        app.clock.advance(latchkey_testkit::seconds(31));

        let tokens = [&ada.session, &next];
        let answers = race(|number| app.anon().refresh(tokens[number % 2])).await;

        assert_eq!(count(&answers, 200) + count(&answers, 401), RACERS);
        app.with_session(&next).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    parallel async fn of_twenty_users_one_gets_the_username(app) {
        let mut users = Vec::new();
        for number in 0..RACERS {
            users.push(app.user(&format!("user-{number}")).await);
        }
        let name = |number: usize| if number.is_multiple_of(2) { "ada" } else { "ADA" };

        let answers = race(|n| users[n].patch("/api/profiles/me", json!({"username": name(n)}))).await;

        one_wins(&answers, 409, "USERNAME_TAKEN");
    }

    parallel async fn one_current_password_is_changed_once(app) {
        let ada = app.user("ada").await;
        let change = |number: usize| {
            let new = format!("lantern number {number}");
            ada.post("/api/auth/password", json!({"currentPassword": PASSWORD, "newPassword": new}))
        };

        let answers = race(change).await;

        one_wins(&answers, 401, "INVALID_CREDENTIALS");
    }

    parallel async fn twenty_sign_outs_are_no_error(app) {
        let ada = app.user("ada").await;

        let answers = race(|_| app.anon().sign_out(&ada.session)).await;

        assert_eq!(count(&answers, 200), RACERS);
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }
}

/// Allows as many attempts at a code as a race has requests.
pub(crate) fn patient(builder: TestAppBuilder) -> TestAppBuilder {
    builder.config(|config| {
        let limits = &mut config.limits.mailbox;
        (limits.code_attempts, limits.code_attempts_per_hour, limits.code_attempts_per_day) = (100, 100, 100);
    })
}

/// Sends twenty requests at once.
pub(crate) async fn race(request: impl Fn(usize) -> Request) -> Vec<Answer> {
    let running: Vec<_> = (0..RACERS).map(|number| tokio::spawn(request(number).send())).collect();
    let mut answers = Vec::new();
    for answer in running {
        answers.push(answer.await.unwrap());
    }
    answers
}

pub(crate) fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

/// Asserts one 200, and identical errors for all other requests.
#[track_caller]
pub(crate) fn one_wins(answers: &[Answer], status: u16, code: &str) {
    assert_eq!(count(answers, 200), 1, "{answers:?}");
    for loser in answers.iter().filter(|answer| answer.status != 200) {
        loser.refused(status, code);
    }
}

async fn users(app: &TestApp) -> usize {
    let listed = app.admin().get("/api/auth/users").send().await.expect(200);
    assert_eq!(listed["pagination"]["total"], listed["data"].as_array().unwrap().len());
    listed["data"].as_array().unwrap().len()
}

/// Number of mailed codes that verify the address. Each is tried once, within the attempt budget.
async fn good_codes(app: &TestApp) -> usize {
    app.run_jobs().await;
    let mails = app.mail().all("ada@example.org");
    let mut good = 0;
    for mail in &mails {
        let answer = app.anon().verify("ada@example.org", &mail.code()).send().await;
        good += usize::from(answer.status == 200);
    }
    good
}

async fn reset_code(app: &TestApp) -> String {
    app.user("ada").await;
    let path = "/api/auth/email/send-reset-password";
    app.anon().post(path, json!({"email": "ada@example.org"})).send().await.expect(202);
    app.mail_to("ada@example.org").await.code()
}

fn exchange(app: &TestApp, code: &str) -> Request {
    let body = json!({"email": "ada@example.org", "code": code});
    app.anon().post("/api/auth/email/exchange-reset-password-token", body)
}
