//! Tests of the content and the recipients of mails. Delivery and retries are in `outbox`, a real mail server in
//! `smtp`.

use latchkey_testkit::{Client, Mail, PASSWORD, Session, TestApp, both_stores, challenge_id, json};

use crate::email_calls::{
    TARGET, resend, reset_code, reset_link, send_otp, send_reset, send_reset_to, sign_in_by_code, sign_up_to,
    signed_up_code, signed_up_link,
};

const ADA: &str = "ada@example.org";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Signs up a user with this name, and returns the mail.
async fn mail_to_name(app: &TestApp, number: usize, name: &str) -> Mail {
    let email = format!("user{number}@example.org");
    let body = json!({"email": email, "password": PASSWORD, "name": name});
    app.anon().post("/api/auth/users", body).send().await.expect(200);
    app.mail_to(&email).await
}

/// HTML text with the character references of slashes decoded.
fn unescaped(html: &str) -> String {
    html.replace("&#x2f;", "/").replace("&#47;", "/")
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn request_only_writes_the_mail(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        assert_eq!(app.mail().total(), 0);

        app.run_jobs().await;

        assert_eq!(app.mail().recipients(), [ADA]);
    }

    with(|b| b.verification_by_code())
    async fn code_is_in_both_parts_and_never_in_the_subject(app) {
        signed_up_code(&app, ADA).await;
        reset_code(&app, ADA).await;

        let mails = app.mail().all(ADA);

        assert_eq!(mails.len(), 2);
        for mail in mails {
            let code = mail.code();
            assert!(mail.html.contains(&code), "{}", mail.html);
            assert!(!mail.subject.contains(&code) && mail.subject.contains("Latchkey"), "{}", mail.subject);
            assert!(!mail.text.contains("token=") && !mail.html.contains("<a "), "a code mail has no link");
            assert!(mail.prose().contains("10 minutes") && mail.html.contains("10 minutes"));
        }
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn link_is_in_both_parts_and_its_token_never_in_the_subject(app) {
        signed_up_link(&app, ADA).await;
        reset_link(&app, ADA).await;

        let mails = app.mail().all(ADA);

        assert_eq!(mails.len(), 2);
        for (mail, lifetime) in mails.iter().zip(["24 hours", "30 minutes"]) {
            assert_eq!(mail.token().len(), 64);
            assert!(unescaped(&mail.html).contains(&format!("href=\"{}\"", mail.link())), "{}", mail.html);
            assert!(!mail.subject.contains(&mail.token()));
            assert!(mail.prose().contains(lifetime) && mail.html.contains(lifetime), "{lifetime}");
        }
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn subjects_tell_verification_from_reset(app) {
        signed_up_link(&app, ADA).await;
        reset_link(&app, ADA).await;

        let subjects: Vec<String> = app.mail().all(ADA).into_iter().map(|mail| mail.subject).collect();

        assert_eq!(subjects, ["Verify your email address for Latchkey", "Set a new password for Latchkey"]);
    }

    with(|b| b.mode_production().verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn links_are_built_from_the_public_url_and_never_from_headers(app) {
        let evil =
            app.anon().with_header("host", "evil.example").with_header("x-forwarded-host", "evil.example");
        let evil =
            evil.with_header("forwarded", "host=evil.example").with_header("origin", "https://evil.example");

        sign_up_to(&evil, ADA, TARGET).send().await.expect(200);
        send_reset_to(&evil, ADA, TARGET).send().await.expect(202);

        app.run_jobs().await;
        let mails = app.mail().all(ADA);
        assert!(
            mails[0].link().starts_with("https://accounts.example.org/api/auth/email/verify-link?token=")
        );
        assert!(
            mails[1]
                .link()
                .starts_with("https://accounts.example.org/api/auth/email/reset-password-link?token=")
        );
        assert!(mails.iter().all(|mail| !mail.text.contains("evil") && !mail.html.contains("evil")));
    }

    with(|b| b.verification_by_code())
    async fn mail_goes_to_the_address_as_typed(app) {
        app.anon().sign_up("Ada.Lovelace+keys@Example.ORG", PASSWORD).send().await.expect(200);

        app.run_jobs().await;

        assert!(
            app.mail().recipients()[0].starts_with("Ada.Lovelace+keys@"),
            "{:?}",
            app.mail().recipients()
        );
    }

    with(|b| b.verification_by_code())
    async fn greeting_carries_the_name_in_any_script(app) {
        for (number, name) in ["Žofie Dvořák", "李小龍", "Ada 👩‍🚀"].into_iter().enumerate() {
            let mail = mail_to_name(&app, number, name).await;

            assert!(mail.text.contains(&format!("Hello {name},")), "{}", mail.text);
            assert!(mail.html.contains(&format!("Hello {name},")), "{}", mail.html);
            assert!(!mail.subject.contains(name));
        }
    }

    with(|b| b.verification_by_code())
    async fn markup_in_a_name_is_escaped(app) {
        let names = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<b>Ada</b> & \"Co\" 'x'"];
        for (number, name) in names.into_iter().enumerate() {
            let mail = mail_to_name(&app, number, name).await;

            for markup in ["<script", "<img", "<b>"] {
                assert!(!mail.html.contains(markup), "{}", mail.html);
            }
        }
    }

    with(|b| b.verification_by_code())
    async fn template_syntax_in_a_name_stays_text(app) {
        let mail = mail_to_name(&app, 1, "{{ code }} {% if 1 %}").await;

        assert!(mail.text.contains("Hello {{ code }} {% if 1 %},"), "{}", mail.text);
    }

    with(|b| b.verification_by_code())
    async fn name_that_a_mail_program_would_make_clickable_is_left_out(app) {
        let names = [
            "win https://evil.example now",
            "evil.example",
            "www.evil.example/prize",
            "mailto:evil@evil.example",
            "evil@evil.example",
            "call +1 555 0199 evil",
            "evil。example",
            "//evil",
        ];
        for (number, name) in names.into_iter().enumerate() {
            let mail = mail_to_name(&app, number, name).await;

            assert!(mail.text.starts_with("Hello,\n"), "{}", mail.text);
            assert!(!mail.text.contains("evil") && !mail.html.contains("evil"), "{name}");
        }
    }

    with(|b| b.verification_by_code())
    async fn owner_is_notified_of_a_sign_up_with_their_address(app) {
        let ada = app.user("ada").await;
        app.mail().clear();
        let body = json!({"email": ADA, "password": "the password of an impostor", "name": "Mallory"});

        app.anon().post("/api/auth/users", body).send().await.expect(200);

        let mail = app.mail_to(ADA).await;
        assert!(mail.subject.contains("tried to sign up"), "{}", mail.subject);
        for part in [&mail.text, &mail.html] {
            assert!(part.contains("already has an account") && part.contains("Hello Ada,"), "{part}");
            assert!(
                part.contains("sign in") && part.contains("Forgot password"),
                "the way to sign in or reset"
            );
            assert!(!part.contains("Mallory") && !part.contains("token="), "{part}");
        }
        let has_code =
            |line: &str| line.trim().len() == 6 && line.trim().bytes().all(|byte| byte.is_ascii_digit());
        assert!(!mail.text.lines().any(has_code), "{}", mail.text);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn sign_up_for_a_banned_address_sends_no_mail(app) {
        app.user("ada").await;
        crate::email_calls::change_user(&app, ADA, json!({"banned": true})).await;
        app.mail().clear();

        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.verification_by_code())
    async fn mail_says_so_when_the_address_is_contested(app) {
        signed_up_code(&app, ADA).await;
        let once = app.mail().last(ADA);

        app.anon().sign_up(ADA, "the password of an impostor").send().await.expect(200);
        let twice = app.mail_to(ADA).await;
        resend(&app.anon(), ADA).send().await.expect(202);
        let again = app.mail_to(ADA).await;

        let warning = "signed up more than once";
        assert!(!once.text.contains(warning) && !once.html.contains(warning));
        for mail in [twice, again] {
            assert!(mail.text.contains(warning) && mail.html.contains(warning), "{}", mail.text);
            assert!(mail.text.contains("Forgot\npassword") || mail.text.contains("Forgot password"));
        }
    }

    with(|b| b.verification_by_code())
    async fn same_sign_up_again_is_no_contest(app) {
        signed_up_code(&app, ADA).await;

        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        assert!(!app.mail_to(ADA).await.text.contains("more than once"));
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn every_mail_says_what_to_do_when_one_did_not_ask(app) {
        signed_up_link(&app, ADA).await;
        reset_link(&app, ADA).await;
        app.admin()
            .put("/api/auth/config", json!({"resetPasswordMethod": "code", "verifyEmailMethod": "code"}))
            .send()
            .await
            .expect(200);
        resend(&app.anon(), ADA).send().await.expect(202);
        send_reset(&app.anon(), ADA).send().await.expect(202);

        app.run_jobs().await;

        let mails = app.mail().all(ADA);
        assert_eq!(mails.len(), 4);
        for mail in mails {
            assert!(mail.text.contains("Did you not ask for this?"), "{}", mail.text);
            assert!(mail.html.contains("Did you not ask for this?"), "{}", mail.html);
        }
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn every_mail_that_was_asked_for_tells_time_device_and_address(app) {
        let from_desk = |client: Client| client.at("203.0.113.7").with_header("user-agent", FIREFOX);
        let desk = from_desk(app.anon());
        sign_up_to(&desk, ADA, TARGET).send().await.expect(200);
        send_reset_to(&desk, ADA, TARGET).send().await.expect(202);
        let codes = json!({"resetPasswordMethod": "code", "verifyEmailMethod": "code"});
        app.admin().put("/api/auth/config", codes).send().await.expect(200);
        for request in [resend(&desk, ADA), send_reset(&desk, ADA), send_otp(&desk, ADA)] {
            request.send().await.expect(202);
        }
        let code = app.mail_to(ADA).await.code();
        let signed_in = sign_in_by_code(&desk, ADA, &code).send().await;
        let session = from_desk(app.with_session(&Session::of(&signed_in)));
        let challenge = challenge_id(&session.reauthenticate().send().await);
        let send_code = json!({"challengeId": challenge});
        session.post("/api/auth/challenges/send-code", send_code).send().await.expect(202);
        sign_up_to(&desk, ADA, TARGET).send().await.expect(200);

        app.run_jobs().await;

        let mails = app.mail().all(ADA);
        let last = mails.last().unwrap();
        assert_eq!(last.subject, "Someone tried to sign up for Latchkey with your address");
        assert!(mails.len() >= 7);
        for mail in mails {
            for body in [mail.text, mail.html] {
                for part in ["2026-03-02 10:00 UTC", "Firefox on Linux", "203.0.113.7"] {
                    assert!(body.contains(part), "{part}: {body}");
                }
                assert!(!body.contains("Mozilla"), "{body}");
            }
        }
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn html_loads_nothing_and_runs_nothing(app) {
        signed_up_link(&app, ADA).await;

        let html = app.mail().last(ADA).html;

        for remote in ["<script", "<img", "<link", "<iframe", "@import", "url(", "src="] {
            assert!(!html.contains(remote), "{remote}: {html}");
        }
    }

    with(|b| b.verification_by_code().mails_into_files())
    async fn inbox_of_development_lists_the_mails(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.run_jobs().await;

        let answer = app.anon().get("/dev/mail").header("host", "localhost:8700").send().await;

        assert!(answer.page(200).contains(ADA));
        let json = app.anon().get("/dev/mail").header("host", "localhost:8700");
        let list = json.header("accept", "application/json").send().await.expect(200);
        assert_eq!(list["mails"][0]["to"], ADA);
        let path = format!("/dev/mail/{}", list["mails"][0]["id"].as_str().unwrap());
        let json = app.anon().get(&path).header("host", "localhost:8700");
        let mail = json.header("accept", "application/json").send().await.expect(200);
        assert_eq!(mail["subject"], list["mails"][0]["subject"]);
        assert!(mail["text"].as_str().unwrap().contains("10 minutes") && mail["html"].is_string(), "{mail}");
    }
}
