//! Tests of the language of mails: that of the account, of the request, and the default.

use latchkey_testkit::{Client, PASSWORD, Request, Session, TestApp, both_stores, days, json};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, reset, reset_token, send_reset};
use crate::oauth_calls::{VERIFIER, acme, code};
use crate::two_step_calls::account;

const ADA: &str = "ada@example.org";
const ENGLISH: &str = "Your verification code for Latchkey";
const GERMAN: &str = "Ihr Bestätigungscode für Latchkey";
const FRENCH: &str = "Votre code de confirmation pour Latchkey";

/// A sign-up that names a language.
fn sign_up_in(client: &Client, email: &str, locale: &str) -> Request {
    let body = json!({"email": email, "password": PASSWORD, "locale": locale});
    client.post("/api/auth/users", body)
}

fn sign_up(client: &Client, email: &str) -> Request {
    client.sign_up(email, PASSWORD)
}

async fn subject_to(app: &TestApp, email: &str) -> String {
    app.mail_to(email).await.subject
}

fn accepting(app: &TestApp, languages: &str) -> Client {
    app.anon().with_header("accept-language", languages)
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn mail_is_in_the_language_of_the_body_then_of_the_header_then_of_the_default(app) {
        sign_up_in(&accepting(&app, "fr"), "a@example.org", "de").send().await.expect(200);
        sign_up(&accepting(&app, "sv-x-odd, fr-CA;q=0.8, de;q=0.7"), "b@example.org").send().await.expect(200);
        sign_up(&app.anon(), "c@example.org").send().await.expect(200);

        assert_eq!(subject_to(&app, "a@example.org").await, GERMAN);
        assert_eq!(subject_to(&app, "b@example.org").await, FRENCH);
        assert_eq!(subject_to(&app, "c@example.org").await, ENGLISH);
    }

    with(|b| b.verification_by_code())
    async fn region_falls_back_to_its_language_and_an_unknown_language_to_the_default(app) {
        for (number, (locale, subject)) in [("DE-at", GERMAN), ("fr-Latn-CH", FRENCH), ("sv", ENGLISH)].into_iter().enumerate() {
            let email = format!("user{number}@example.org");
            sign_up_in(&accepting(&app, "it"), &email, locale).send().await.expect(200);

            assert_eq!(subject_to(&app, &email).await, subject, "{locale}");
        }
    }

    with(|b| b.verification_by_code())
    async fn mail_says_its_language_and_is_whole_in_it(app) {
        sign_up_in(&app.anon(), ADA, "de").send().await.expect(200);

        let mail = app.mail_to(ADA).await;

        assert!(mail.html.contains("<html lang=\"de\">"), "{}", mail.html);
        for part in [mail.prose(), mail.html.clone()] {
            assert!(part.contains("Hallo") && part.contains("10 Minuten") && part.contains("Gesendet von"), "{part}");
            assert!(!part.contains("Hello") && !part.contains("Sent by"), "{part}");
        }
    }

    with(|b| b.verification_by_code())
    async fn language_of_an_account_wins_over_the_request(app) {
        sign_up_in(&app.anon(), ADA, "de").send().await.expect(200);
        let code = app.mail_to(ADA).await.code();
        app.anon().verify(ADA, &code).send().await.expect(200);

        let body = json!({"email": ADA, "locale": "fr"});
        accepting(&app, "it").post("/api/auth/email/send-reset-password", body).send().await.expect(202);

        assert_eq!(subject_to(&app, ADA).await, "Ihr Code zum Zurücksetzen des Passworts für Latchkey");
    }

    with(|b| b.verification_by_code().notifying())
    async fn account_without_a_language_is_told_in_that_of_the_request(app) {
        let ada = app.user("ada").await;
        assert_eq!(account(&ada).await["locale"], json!(null));

        let body = json!({"currentPassword": ada.password, "newPassword": NEW_PASSWORD});
        ada.post("/api/auth/password", body).header("accept-language", "de").send().await.expect(200);

        assert_eq!(subject_to(&app, ADA).await, "Ihr Passwort für Latchkey wurde geändert");
        assert_eq!(account(&ada).await["locale"], json!(null));
    }

    with(|b| b.verification_by_code())
    async fn last_mail_is_in_the_language_of_the_account_that_is_gone(app) {
        let ada = app.user("ada").await;
        ada.patch("/api/auth/account", json!({"locale": "de"})).send().await.expect(200);
        crate::deletion_calls::delete(&ada).header("accept-language", "fr").send().await.expect(200);
        app.clock.advance(days(14));

        app.run_jobs().await;

        assert_eq!(subject_to(&app, ADA).await, "Ihr Konto bei Latchkey ist endgültig gelöscht");
    }

    with(crate::deletion_calls::at_once)
    async fn last_mail_of_a_deletion_without_a_grace_is_in_that_language_too(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        ada.patch("/api/auth/account", json!({"locale": "de"})).send().await.expect(200);

        for user in [&ada, &bob] {
            crate::deletion_calls::delete(user).header("accept-language", "fr").send().await.expect(200);
        }

        assert_eq!(subject_to(&app, ADA).await, "Ihr Konto bei Latchkey ist endgültig gelöscht");
        assert_eq!(subject_to(&app, &bob.email).await, "Votre compte sur Latchkey est définitivement supprimé");
    }

    async fn owner_reads_and_changes_the_language(app) {
        sign_up(&accepting(&app, "it-IT"), ADA).send().await.expect(200);
        let ada = app.with_session(&Session::of(&app.anon().sign_in(ADA, PASSWORD).send().await));
        assert_eq!(account(&ada).await["locale"], "it");

        let answer = ada.patch("/api/auth/account", json!({"locale": "DE-at", "user": null})).send().await.expect(200);

        assert_eq!((&answer["locale"], &answer["user"]["email"]), (&json!("de-AT"), &json!(ADA)));
        assert_eq!(account(&ada).await, answer);
        send_reset(&accepting(&app, "fr"), ADA).send().await.expect(202);
        assert!(subject_to(&app, ADA).await.starts_with("Ihr Code"));
        let change = ada.patch("/api/auth/account", json!({"locale": "fr"}));
        assert_successes_are_described(&app, [("PATCH /api/auth/account", change)]).await;
    }

    async fn change_of_the_language_needs_a_bearer_and_a_language(app) {
        let ada = app.user("ada").await;
        app.anon().patch("/api/auth/account", json!({"locale": "de"})).send().await.refused(401, "AUTH_UNAUTHORIZED");

        for body in [json!({}), json!({"locale": null}), json!({"locale": 7}), json!({"locale": "d"})] {
            let answer = ada.patch("/api/auth/account", body).send().await;

            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "locale");
        }
        assert_eq!(account(&ada).await["locale"], json!(null));
    }

    with(|b| b.verification_by_code())
    async fn malformed_language_is_refused_wherever_one_is_taken(app) {
        let ada = app.user("ada").await;
        let long = format!("de-x-{}", ["abcdefgh"; 4].join("-"));
        let calls = [
            ("/api/auth/users", json!({"email": "new@example.org", "password": "violet anchor 43 lantern"})),
            ("/api/auth/email/send-verification", json!({"email": ADA})),
            ("/api/auth/email/send-reset-password", json!({"email": ADA})),
            ("/api/auth/email/send-otp", json!({"email": ADA})),
            ("/api/auth/sessions", json!({"method": "otp", "email": ADA, "otp": "123456"})),
            ("/api/auth/email/change", json!({"newEmail": "new@example.org"})),
            ("/api/auth/challenges/send-code", json!({"challengeId": "a".repeat(43)})),
            ("/api/auth/oauth/exchange", json!({"code": "a", "code_verifier": "b"})),
            ("/api/auth/id-token", json!({"provider": "google", "token": "a"})),
        ];
        for (path, mut body) in calls {
            for locale in [json!("de_AT"), json!(""), json!("de;q=1"), json!(&long), json!(["de"])] {
                body["locale"] = locale;

                let answer = ada.post(path, body.clone()).send().await;

                assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "locale", "{path} {body}");
            }
        }
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 1);
    }

    async fn language_is_in_no_answer_to_others(app) {
        sign_up_in(&app.anon(), ADA, "de-AT").send().await.expect(200);
        let session = app.anon().sign_in(ADA, PASSWORD).send().await;
        let id = session.json()["user"]["id"].as_str().unwrap().to_owned();
        let eve = app.user("eve").await;

        let search = format!("/api/profiles/search?q={ADA}");
        let answers = [
            session,
            eve.get(&format!("/api/auth/profiles/{id}")).send().await,
            eve.get(&search).send().await,
            app.admin().get(&format!("/api/auth/users/{id}")).send().await,
            app.admin().get("/api/auth/users").send().await,
        ];

        for answer in answers {
            assert!(!answer.text().contains("de-AT") && !answer.text().contains("locale"), "{answer:?}");
        }
    }

    with(|b| b.verification_by_code())
    async fn known_and_unknown_addresses_are_answered_alike_in_any_language(app) {
        sign_up_in(&app.anon(), ADA, "de").send().await.expect(200);
        let ask = |email: &str| {
            let body = json!({"email": email, "locale": "fr"});
            accepting(&app, "it").post("/api/auth/email/send-reset-password", body)
        };

        let (known, unknown) = (ask(ADA).send().await, ask("eve@example.org").send().await);

        assert_eq!((known.status, known.text()), (202, unknown.text()));
        assert!(known.header("content-language").is_none() && known.header("vary") == unknown.header("vary"));
    }

    with(|b| b.notifying())
    async fn account_of_an_admin_or_a_provider_gets_its_language(app) {
        let made = "made@example.org";
        let body = json!({"email": made, "password": PASSWORD, "autoConfirm": true, "locale": "fr"});
        let admin = app.admin().with_header("accept-language", "de");
        admin.post("/api/auth/users", body).send().await.expect(200);
        send_reset(&app.anon(), made).send().await.expect(202);
        assert_eq!(subject_to(&app, made).await, "Code pour réinitialiser votre mot de passe sur Latchkey");

        let provider = acme(&app).await;
        let code = code(&app, &provider, "acme").await;
        let body = json!({"code": code, "code_verifier": VERIFIER, "locale": "es"});
        let eve = Session::of(&app.anon().post("/api/auth/oauth/exchange", body).send().await);

        assert_eq!(account(&app.with_session(&eve)).await["locale"], "es");
    }

    async fn account_made_by_a_mailed_code_gets_its_language(app) {
        let send = json!({"email": ADA, "locale": "ja"});
        app.anon().post("/api/auth/email/send-otp", send).send().await.expect(202);
        let mail = app.mail_to(ADA).await;
        assert!(mail.html.contains("<html lang=\"ja\">"), "{}", mail.html);

        let body = json!({"method": "otp", "email": ADA, "otp": mail.code(), "locale": "zh-Hant"});
        let ada = Session::of(&app.anon().post("/api/auth/sessions", body).send().await);

        assert_eq!(account(&app.with_session(&ada)).await["locale"], "zh-Hant");
    }

    with(|b| b.verification_by_code())
    async fn language_of_a_stranger_goes_with_the_strangers_password(app) {
        sign_up_in(&app.anon(), ADA, "de").send().await.expect(200);
        app.anon().sign_up(ADA, "another violet lantern").send().await.expect(200);
        app.mail_to(ADA).await;

        let token = reset_token(&app, ADA).await;
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        let ada = Session::of(&app.anon().sign_in(ADA, NEW_PASSWORD).send().await);
        assert_eq!(account(&app.with_session(&ada)).await["locale"], json!(null));
    }

    with(|b| b.verification_by_code())
    async fn admin_sets_the_default_language_among_those_there_are(app) {
        let locales = app.anon().get("/api/auth/public-config").send().await.expect(200)["locales"].clone();
        assert_eq!(locales, json!(["en", "de", "fr", "es", "it", "pt", "ja", "zh"]));
        let set = |locale: &str| app.admin().put("/api/auth/config", json!({"defaultLocale": locale}));
        for locale in ["sv", "de-AT", "d", ""] {
            assert_eq!(set(locale).send().await.refused(400, "VALIDATION_ERROR")["field"], "defaultLocale", "{locale}");
        }

        assert_eq!(set("de").send().await.expect(200)["defaultLocale"], "de");

        sign_up(&app.anon(), ADA).send().await.expect(200);
        assert_eq!(subject_to(&app, ADA).await, GERMAN);
    }
}
