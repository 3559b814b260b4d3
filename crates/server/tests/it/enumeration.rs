//! Tests against account enumeration. Responses for known and unknown addresses are identical, headers included, except
//! for the request id. Sign-up is tested in `sign_up_pending.rs`; the benchmark `enumeration` measures response times.

use latchkey_testkit::{Answer, PASSWORD, Request, TestApp, both_stores, json, minutes};

const WRONG: &str = "another lantern 42";

/// Parts of a response that must be identical: all but the request id, the date, and the random value of the sign-up
/// cookie.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// Extracts the comparable parts of a response.
pub(crate) fn shown(answer: &Answer) -> Shown {
    let differs = |name: &str| name == "x-request-id" || name == "date";
    let headers = answer.headers.iter().filter(|(name, _)| !differs(name.as_str()));
    let headers =
        headers.map(|(name, value)| (name.to_string(), without_secret(value.to_str().unwrap()))).collect();
    Shown { status: answer.status, headers, body: answer.text_without_id() }
}

/// Sign-up cookie without its value; other headers unchanged.
fn without_secret(header: &str) -> String {
    let Some((name, rest)) = header.split_once("_signup") else { return header.to_owned() };
    let secret = rest.split(['=', ';']).nth(1).unwrap();
    assert_eq!(secret.len(), 64, "{header}");
    format!("{name}_signup{}", rest.replace(secret, "…"))
}

both_stores! {
    async fn wrong_password_and_unknown_address_are_indistinguishable_at_sign_in(app) {
        every_kind_of_account(&app).await;
        let sign_in = |name: &str| app.anon().sign_in(&format!("{name}@example.org"), WRONG);

        same_for_all(&app, 401, sign_in).await;
    }

    async fn resend_does_not_reveal_accounts(app) {
        every_kind_of_account(&app).await;

        same_for_all(&app, 202, |name| mail_request(&app, "send-verification", name)).await;
    }

    async fn reset_mail_does_not_reveal_accounts(app) {
        every_kind_of_account(&app).await;

        same_for_all(&app, 202, |name| mail_request(&app, "send-reset-password", name)).await;
    }

    with(|b| b.link_reset().settings(|settings| settings.verify_email_method = latchkey_testkit::EmailMethod::Link))
    async fn mail_requests_by_link_do_not_reveal_accounts(app) {
        every_kind_of_account(&app).await;

        same_for_all(&app, 202, |name| mail_request(&app, "send-verification", name)).await;
        same_for_all(&app, 202, |name| mail_request(&app, "send-reset-password", name)).await;
    }

    async fn wrong_reset_code_does_not_reveal_accounts(app) {
        every_kind_of_account(&app).await;

        same_for_all(&app, 400, |name| try_code(&app, "exchange-reset-password-token", "code", name)).await;
    }

    async fn wrong_reset_code_does_not_reveal_a_sent_one(app) {
        every_kind_of_account(&app).await;
        for name in ["verified", "unverified", "banned", "unknown"] {
            mail_request(&app, "send-reset-password", name).send().await.expect(202);
        }

        // By the sixth attempt the code's budget is used up.
        for _ in 0..6 {
            same_for_all(&app, 400, |name| try_code(&app, "exchange-reset-password-token", "code", name)).await;
        }
    }

    async fn wrong_verification_code_does_not_reveal_accounts(app) {
        every_kind_of_account(&app).await;
        for name in ["verified", "unverified", "banned", "unknown"] {
            mail_request(&app, "send-verification", name).send().await.expect(202);
        }

        for _ in 0..6 {
            same_for_all(&app, 400, |name| try_code(&app, "verify", "otp", name)).await;
        }
    }

    with(|b| b.limits())
    async fn limits_count_unknown_addresses_alike(app) {
        every_kind_of_account(&app).await;
        app.clock.advance(minutes(60));
        let from = |path: &'static str, name: &str| mail_request(&app, path, name).from_ip(ip_of(name));

        for path in ["send-verification", "send-reset-password"] {
            same_for_all(&app, 202, |name| from(path, name)).await;
            same_for_all(&app, 429, |name| from(path, name)).await;
        }
        let guess = |name: &str| app.anon().sign_in(&format!("{name}@example.org"), WRONG).from_ip(ip_of(name));
        for _ in 0..10 {
            same_for_all(&app, 401, guess).await;
        }
        same_for_all(&app, 429, guess).await;
    }

    async fn mail_goes_to_accounts_alone(app) {
        every_kind_of_account(&app).await;
        app.run_jobs().await;
        app.mail().clear();

        for name in ["verified", "unverified", "banned", "unknown"] {
            mail_request(&app, "send-reset-password", name).send().await.expect(202);
            mail_request(&app, "send-verification", name).send().await.expect(202);
        }

        app.run_jobs().await;
        let mut recipients = app.mail().recipients();
        recipients.sort();
        assert_eq!(recipients, ["unverified@example.org", "unverified@example.org", "verified@example.org"]);
    }

    with(|b| b.verification_by_code())
    async fn pending_contested_and_unknown_addresses_are_indistinguishable_at_sign_in(app) {
        for (name, password) in [("pending", PASSWORD), ("contested", PASSWORD), ("contested", "a wholly other one")] {
            app.anon().sign_up(&format!("{name}@example.org"), password).send().await.expect(200);
        }
        let unknown = app.anon().sign_in("unknown@example.org", WRONG).send().await;

        for name in ["pending", "contested"] {
            let answer = app.anon().sign_in(&format!("{name}@example.org"), WRONG).send().await;

            assert_eq!(shown(&answer), shown(&unknown), "{name}");
        }
    }
}

/// Creates accounts named `verified`, `unverified` and `banned`. The address `unknown` has none.
async fn every_kind_of_account(app: &TestApp) {
    for (name, change) in [
        ("verified", json!({"emailVerified": true})),
        ("unverified", json!({})),
        ("banned", json!({"banned": true})),
    ] {
        let user = app.user(name).await;
        assert_eq!(user.password, PASSWORD);
        app.admin().patch(&format!("/api/auth/users/{}", user.id), change).send().await.expect(200);
    }
}

/// Asserts identical responses for every kind of account and for the unknown address.
async fn same_for_all(app: &TestApp, status: u16, request: impl Fn(&str) -> Request) {
    let unknown = request("unknown").send().await;
    assert_eq!(unknown.status, status, "{unknown:?}");
    for name in ["verified", "unverified", "banned"] {
        let answer = request(name).send().await;
        assert_eq!(shown(&answer), shown(&unknown), "{name} at {}", app.public_url());
    }
}

fn mail_request(app: &TestApp, path: &str, name: &str) -> Request {
    let body = json!({"email": format!("{name}@example.org"), "redirectTo": "http://localhost:3000/done"});
    app.anon().post(&format!("/api/auth/email/{path}"), body)
}

fn try_code(app: &TestApp, path: &str, field: &str, name: &str) -> Request {
    // A wrong code; a random guess would be right once in a million.
    let body = json!({"email": format!("{name}@example.org"), field: "000000"});
    app.anon().post(&format!("/api/auth/email/{path}"), body)
}

fn ip_of(name: &str) -> &'static str {
    match name {
        "verified" => "203.0.113.1",
        "unverified" => "203.0.113.2",
        "banned" => "203.0.113.3",
        _ => "203.0.113.4",
    }
}
