//! Tests of pending and contested accounts: the effects of a further sign-up and of the verification.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{PASSWORD, Session, TestApp, both_stores, json, minutes};

const OTHER: &str = "a wholly other lantern";
const THIRD: &str = "neither of those two";

both_stores! {
    with(|b| b.verification_by_code())
    async fn further_sign_up_mails_a_new_code_and_the_old_one_dies(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        let old = app.mail_to("ada@example.org").await.code();

        sign_up(&app, PASSWORD, "Ada").await;

        let new = app.mail_to("ada@example.org").await.code();
        app.anon().verify("ada@example.org", &old).send().await.refused(400, "INVALID_CODE");
        app.anon().verify("ada@example.org", &new).send().await.expect(200);
    }

    with(|b| b.verification_by_link())
    async fn further_sign_up_mails_a_new_link_and_the_old_one_dies(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        let old = app.mail_to("ada@example.org").await.link();

        sign_up(&app, PASSWORD, "Ada").await;

        let new = app.mail_to("ada@example.org").await.link();
        assert_eq!(status_of(&app, &old).await, "error");
        assert_eq!(status_of(&app, &new).await, "success");
    }

    with(|b| b.verification_by_code())
    async fn same_password_again_keeps_password_and_name(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, PASSWORD, "Ada").await;

        let verified = verify_by_code(&app).await.expect(200);

        assert_eq!(verified["user"]["profile"]["name"], "Ada");
        assert_eq!(verified["user"]["providers"], json!(["email"]));
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn same_password_in_another_spelling_of_its_letters_contests_nothing(app) {
        sign_up(&app, "caf\u{e9} au lait", "Ada").await;
        sign_up(&app, "cafe\u{301} au lait", "Ada").await;

        verify_by_code(&app).await.expect(200);

        app.anon().sign_in("ada@example.org", "caf\u{e9} au lait").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn code_of_a_contested_address_signs_in_and_leaves_neither_password_nor_name(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;

        let verified = verify_by_code(&app).await;

        let user = &verified.expect(200)["user"];
        assert_eq!((&user["emailVerified"], &user["providers"]), (&json!(true), &json!([])));
        assert_eq!(user["profile"]["name"], "");
        app.with_session(&Session::of(&verified)).get("/api/auth/sessions/current").send().await.expect(200);
        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_link())
    async fn link_of_a_contested_address_confirms_and_leaves_neither_password_nor_name(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;
        let link = app.mail_to("ada@example.org").await.link();

        let status = status_of(&app, &link).await;

        assert_eq!(status, "success");
        assert_no_password(&app).await;
        let listed = app.admin().get("/api/auth/users").send().await.expect(200);
        let user = &listed["data"][0];
        assert_eq!((&user["emailVerified"], &user["profile"]["name"]), (&json!(true), &json!("")));
    }

    with(|b| b.verification_by_link())
    async fn link_token_of_a_contested_address_signs_in_and_leaves_no_password(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;
        let token = app.mail_to("ada@example.org").await.token();

        let verified = app.anon().post("/api/auth/email/verify", json!({"otp": token})).send().await.expect(200);

        assert_eq!(verified["user"]["providers"], json!([]));
        assert_eq!(verified["user"]["profile"]["name"], "");
        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn owner_of_a_contested_address_sets_a_password_by_reset(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;
        verify_by_code(&app).await.expect(200);

        reset(&app, THIRD).await;

        let user = app.anon().sign_in("ada@example.org", THIRD).send().await.expect(200)["user"].clone();
        assert_eq!(user["providers"], json!(["email"]));
        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn reset_of_a_contested_address_verifies_it_and_removes_everything_given_before(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;

        reset(&app, THIRD).await;

        let user = app.anon().sign_in("ada@example.org", THIRD).send().await.expect(200)["user"].clone();
        assert_eq!((&user["emailVerified"], &user["profile"]["name"]), (&json!(true), &json!("")));
        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn contested_stays_contested_when_the_first_password_comes_again(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;
        sign_up(&app, PASSWORD, "Ada").await;

        verify_by_code(&app).await.expect(200);

        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn contested_address_opens_to_neither_password_when_verification_is_switched_off(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;

        require_verification(&app, false).await;

        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn pending_account_that_had_a_session_is_pending_no_more(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        require_verification(&app, false).await;
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
        require_verification(&app, true).await;

        sign_up(&app, OTHER, "Eve").await;

        assert_untouched(&app).await;
    }

    async fn account_made_while_verification_was_off_is_changed_by_no_sign_up(app) {
        let ada = app.user("ada").await;
        require_verification(&app, true).await;

        sign_up(&app, OTHER, "Eve").await;

        assert_untouched(&app).await;
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn account_made_by_an_admin_is_changed_by_no_sign_up(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "name": "Ada"});
        app.admin().post("/api/auth/users", body).send().await.expect(200);

        sign_up(&app, OTHER, "Eve").await;

        assert_untouched(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn pending_account_that_an_admin_verified_is_changed_by_no_sign_up(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        let id = app.admin().get("/api/auth/users").send().await.expect(200)["data"][0]["id"].clone();
        let path = format!("/api/auth/users/{}", id.as_str().unwrap());
        app.admin().patch(&path, json!({"emailVerified": true})).send().await.expect(200);

        sign_up(&app, OTHER, "Eve").await;

        assert_untouched(&app).await;
    }

    async fn verification_from_inside_ends_no_session(app) {
        let ada = app.user("ada").await;
        app.anon().post("/api/auth/email/send-verification", json!({"email": ada.email})).send().await.expect(202);

        let code = app.mail_to("ada@example.org").await.code();
        ada.verify("ada@example.org", &code).send().await.expect(200);

        let current = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(current["user"]["emailVerified"], true);
    }

    with(|b| b.verification_by_code())
    async fn code_that_is_sent_again_leaves_no_password_on_a_contested_address_either(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;
        app.clock.advance(minutes(11));
        let path = "/api/auth/email/send-verification";
        app.anon().post(path, json!({"email": "ada@example.org"})).send().await.expect(202);

        verify_by_code(&app).await.expect(200);

        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code().no_profile_on_sign_up())
    async fn contested_address_without_a_profile_is_verified_alike(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        sign_up(&app, OTHER, "Eve").await;

        let verified = verify_by_code(&app).await.expect(200);

        assert_eq!(verified["user"]["profile"], json!({"name": "", "avatar_url": null}));
        assert_no_password(&app).await;
    }

    with(|b| b.verification_by_code())
    async fn pending_address_is_taken_while_verification_is_off(app) {
        sign_up(&app, PASSWORD, "Ada").await;
        require_verification(&app, false).await;

        let answer = app.anon().sign_up("ada@example.org", OTHER).send().await;

        answer.refused(409, "EMAIL_EXISTS");
        assert_untouched(&app).await;
    }
}

async fn sign_up(app: &TestApp, password: &str, name: &str) {
    let target = "http://localhost:3000/done";
    let body = json!({"email": "ada@example.org", "password": password, "name": name, "redirectTo": target});
    app.anon().post("/api/auth/users", body).send().await.expect(200);
}

async fn verify_by_code(app: &TestApp) -> latchkey_testkit::Answer {
    let code = app.mail_to("ada@example.org").await.code();
    app.anon().verify("ada@example.org", &code).send().await
}

async fn status_of(app: &TestApp, link: &str) -> String {
    let landed = app.anon().get(link).send().await.redirected();
    parameter(&landed, "service_status").unwrap()
}

async fn reset(app: &TestApp, new_password: &str) {
    let path = "/api/auth/email/send-reset-password";
    app.anon().post(path, json!({"email": "ada@example.org"})).send().await.expect(202);
    let code = app.mail_to("ada@example.org").await.code();
    let path = "/api/auth/email/exchange-reset-password-token";
    let exchanged =
        app.anon().post(path, json!({"email": "ada@example.org", "code": code})).send().await.expect(200);
    let body = json!({"newPassword": new_password, "otp": exchanged["token"]});
    app.anon().post("/api/auth/email/reset-password", body).send().await.expect(200);
}

async fn require_verification(app: &TestApp, required: bool) {
    let body = json!({"requireEmailVerification": required});
    app.admin().put("/api/auth/config", body).send().await.expect(200);
}

/// Asserts that neither password signs in.
async fn assert_no_password(app: &TestApp) {
    for password in [PASSWORD, OTHER] {
        app.anon().sign_in("ada@example.org", password).send().await.refused(401, "INVALID_CREDENTIALS");
    }
}

/// Asserts that the account kept its name and password.
async fn assert_untouched(app: &TestApp) {
    require_verification(app, false).await;
    let user = app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200)["user"].clone();
    assert_eq!(user["profile"]["name"], "Ada");
    app.anon().sign_in("ada@example.org", OTHER).send().await.refused(401, "INVALID_CREDENTIALS");
}
