//! Tests against account enumeration with the attacker's own password: a sign-up followed by a sign-in with the same
//! password reveals nothing about the account.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, days, json, minutes};

use crate::email_calls::{change_user, id_of, reset, reset_token};
use crate::enumeration::shown;
use crate::limits::limited;

const OTHER: &str = "a wholly other lantern";
const THIRD: &str = "neither of those two";
const EVERY: [&str; 8] =
    ["free", "verified", "unverified", "pending", "contested", "banned", "banned-pending", "passwordless"];

both_stores! {
    with(|b| b.verification_by_code())
    async fn password_of_the_last_sign_up_is_answered_alike_at_every_address(app) {
        every_kind_of_address(&app).await;
        sign_up_everywhere(&app, OTHER).await;

        alike(&app, OTHER, 403, "EMAIL_NOT_VERIFIED").await;
        alike(&app, THIRD, 401, "INVALID_CREDENTIALS").await;
    }

    with(|b| b.verification_by_code())
    async fn password_of_an_earlier_sign_up_is_wrong_at_every_address(app) {
        every_kind_of_address(&app).await;
        sign_up_everywhere(&app, OTHER).await;
        sign_up_everywhere(&app, THIRD).await;

        alike(&app, OTHER, 401, "INVALID_CREDENTIALS").await;
        alike(&app, THIRD, 403, "EMAIL_NOT_VERIFIED").await;
    }

    with(|b| b.verification_by_code())
    async fn own_password_opens_as_before(app) {
        every_kind_of_address(&app).await;
        sign_up_everywhere(&app, OTHER).await;

        sign_in(&app, "verified", PASSWORD).await.expect(200);
        sign_in(&app, "unverified", PASSWORD).await.refused(403, "EMAIL_NOT_VERIFIED");
        sign_in(&app, "banned", PASSWORD).await.refused(403, "USER_BANNED");
    }

    with(|b| b.verification_by_code())
    async fn owner_who_signs_up_again_with_his_password_signs_in(app) {
        app.user("ada").await;

        sign_up(&app, "ada", PASSWORD).await;

        sign_in(&app, "ada", PASSWORD).await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn change_of_the_password_does_not_reveal_the_owner(app) {
        let ada = app.user("ada").await;
        sign_up(&app, "ada", OTHER).await;

        let body = json!({"currentPassword": PASSWORD, "newPassword": THIRD});
        ada.post("/api/auth/password", body).send().await.expect(200);

        sign_in(&app, "ada", OTHER).await.refused(403, "EMAIL_NOT_VERIFIED");
        sign_in(&app, "ada", PASSWORD).await.refused(401, "INVALID_CREDENTIALS");
        sign_in(&app, "ada", THIRD).await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn reset_of_the_password_does_not_reveal_the_owner(app) {
        every_kind_of_address(&app).await;
        for name in ["verified", "passwordless"] {
            sign_up(&app, name, OTHER).await;
            let token = reset_token(&app, &address(name)).await;

            reset(&app.anon(), &token, THIRD).send().await.expect(200);

            sign_in(&app, name, OTHER).await.refused(403, "EMAIL_NOT_VERIFIED");
            sign_in(&app, name, THIRD).await.expect(200);
        }
    }

    with(|b| b.verification_by_code())
    async fn address_that_an_admin_gives_an_account_knows_no_sign_up_of_the_former(app) {
        app.user("ada").await;
        sign_up(&app, "ada", OTHER).await;

        change_user(&app, "ada@example.org", json!({"email": "eve@example.org", "emailVerified": true})).await;

        sign_in(&app, "eve", OTHER).await.refused(401, "INVALID_CREDENTIALS");
        sign_in(&app, "eve", PASSWORD).await.expect(200);
    }

    with(|b| b.verification_by_code().limits())
    async fn passwords_of_sign_ups_count_as_failures_alike(app) {
        app.user("taken").await;
        app.clock.advance(minutes(2)); // so that the address may get a mail again
        for name in ["free", "taken"] {
            app.anon().sign_up(&address(name), OTHER).from_ip("203.0.113.1").send().await.expect(200);
        }
        let attempt = |name| app.anon().sign_in(&address(name), OTHER).from_ip(ip_of(name));

        for _ in 0..10 {
            let (free, taken) = (attempt("free").send().await, attempt("taken").send().await);
            free.refused(403, "EMAIL_NOT_VERIFIED");
            assert_eq!(shown(&taken), shown(&free));
        }

        let (free, taken) = (attempt("free").send().await, attempt("taken").send().await);
        limited(&free, "password sign-in, per account and address");
        assert_eq!(shown(&taken), shown(&free));
    }

    with(|b| b.verification_by_code().limits())
    async fn own_password_of_an_account_that_is_not_pending_is_no_failure(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD});
        app.admin().post("/api/auth/users", body).send().await.expect(200);

        for _ in 0..12 {
            let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;
            answer.refused(403, "EMAIL_NOT_VERIFIED");
        }
    }

    with(|b| b.verification_by_code())
    async fn password_of_a_sign_up_is_wrong_when_verification_is_switched_off(app) {
        app.user("ada").await;
        sign_up(&app, "ada", OTHER).await;
        sign_up(&app, "eve", OTHER).await;

        let off = json!({"requireEmailVerification": false});
        app.admin().put("/api/auth/config", off).send().await.expect(200);

        sign_in(&app, "ada", OTHER).await.refused(401, "INVALID_CREDENTIALS");
        sign_in(&app, "ada", PASSWORD).await.expect(200);
        sign_in(&app, "eve", OTHER).await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn sign_ups_are_forgotten_thirty_days_after_the_last_one(app) {
        app.user("taken").await;
        for name in ["free", "taken"] {
            sign_up(&app, name, OTHER).await;
        }
        later(&app, 29).await;
        for name in ["free", "taken"] {
            sign_in(&app, name, OTHER).await.refused(403, "EMAIL_NOT_VERIFIED");
            sign_up(&app, name, OTHER).await;
        }
        later(&app, 29).await;
        for name in ["free", "taken"] {
            sign_in(&app, name, OTHER).await.refused(403, "EMAIL_NOT_VERIFIED");
        }

        later(&app, 1).await;

        let (free, taken) = (sign_in(&app, "free", OTHER).await, sign_in(&app, "taken", OTHER).await);
        free.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(shown(&taken), shown(&free));
        sign_in(&app, "taken", PASSWORD).await.expect(200);
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(users["data"].as_array().unwrap().len(), 1, "{users}");
    }

    with(|b| b.verification_by_code().config(|config| config.lifetimes.upkeep.pending = days(2)))
    async fn pending_accounts_live_as_long_as_the_operator_says(app) {
        sign_up(&app, "ada", OTHER).await;
        later(&app, 1).await;
        sign_in(&app, "ada", OTHER).await.refused(403, "EMAIL_NOT_VERIFIED");

        later(&app, 1).await;

        sign_in(&app, "ada", OTHER).await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.verification_by_code())
    async fn raised_parameters_do_not_distinguish_a_password_from_that_of_a_sign_up(mut app) {
        app.user("taken").await;
        for name in ["free", "taken"] {
            sign_up(&app, name, OTHER).await;
        }
        app.restart_with(|b| b.config(|config| config.hashing.iterations = 3)).await;

        sign_in(&app, "taken", PASSWORD).await.expect(200);
        for password in [OTHER, THIRD] {
            for name in ["free", "taken"] {
                if password == THIRD {
                    sign_up(&app, name, THIRD).await;
                }
                sign_in(&app, name, password).await.refused(403, "EMAIL_NOT_VERIFIED");
            }
            sign_in(&app, "taken", PASSWORD).await.expect(200);
        }
        later(&app, 30).await;
        for _ in 0..2 {
            sign_in(&app, "taken", PASSWORD).await.expect(200);
            sign_in(&app, "taken", THIRD).await.refused(401, "INVALID_CREDENTIALS");
        }
        sign_up(&app, "taken", OTHER).await;
        sign_in(&app, "taken", OTHER).await.refused(403, "EMAIL_NOT_VERIFIED");
    }
}

fn address(name: &str) -> String {
    format!("{name}@example.org")
}

fn ip_of(name: &str) -> &'static str {
    if name == "free" { "203.0.113.2" } else { "203.0.113.3" }
}

async fn sign_up(app: &TestApp, name: &str, password: &str) {
    app.anon().sign_up(&address(name), password).send().await.expect(200);
}

async fn sign_in(app: &TestApp, name: &str, password: &str) -> Answer {
    app.anon().sign_in(&address(name), password).send().await
}

async fn sign_up_everywhere(app: &TestApp, password: &str) {
    for name in EVERY {
        sign_up(app, name, password).await;
    }
}

/// Asserts identical responses for the password at every address.
async fn alike(app: &TestApp, password: &str, status: u16, code: &str) {
    let free = sign_in(app, "free", password).await;
    free.refused(status, code);
    for name in EVERY {
        assert_eq!(shown(&sign_in(app, name, password).await), shown(&free), "{name}");
    }
}

/// Creates an account of each kind in [`EVERY`]; `free` has none.
async fn every_kind_of_address(app: &TestApp) {
    for name in ["verified", "banned"] {
        app.user(name).await;
    }
    let unverified = json!({"email": address("unverified"), "password": PASSWORD});
    app.admin().post("/api/auth/users", unverified).send().await.expect(200);
    for (name, password) in [
        ("pending", PASSWORD),
        ("banned-pending", PASSWORD),
        ("contested", PASSWORD),
        ("contested", THIRD),
        ("passwordless", PASSWORD),
        ("passwordless", THIRD),
    ] {
        sign_up(app, name, password).await;
    }
    for name in ["banned", "banned-pending"] {
        let path = format!("/api/auth/users/{}", id_of(app, &address(name)).await);
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);
    }
    // The account has had two passwords, so its verification removes both.
    let code = app.mail_to(&address("passwordless")).await.code();
    app.anon().verify(&address("passwordless"), &code).send().await.expect(200);
}

async fn later(app: &TestApp, by: u64) {
    app.clock.advance(days(by));
    app.run_jobs().await;
}
