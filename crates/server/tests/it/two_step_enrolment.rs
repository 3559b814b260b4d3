//! Tests of the enrolment of authenticator apps: begin, confirm, rename, remove.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{
    PASSWORD, Session, both_stores, challenge_id, json, minutes, recovery_codes, seconds,
};
use url::Url;

use crate::described::assert_successes_are_described;
use crate::email_calls::{TARGET, sign_up_to};
use crate::two_step_calls::{account, claims, keys, session_count};

const TOTP: &str = "/api/auth/factors/totp";

both_stores! {
    with(|b| b.verification_by_code())
    async fn secret_has_160_bits_and_its_uri_names_service_and_address(app) {
        let ada = app.user("ada").await;

        let begun = ada.post(TOTP, json!({"name": "My phone"})).send().await.expect(200);

        assert_eq!(keys(&begun), ["expiresAt", "factorId", "secret", "uri"]);
        let secret = begun["secret"].as_str().unwrap();
        assert_eq!(secret.len(), 32, "{secret}");
        let uri = format!(
            "otpauth://totp/Latchkey:ada%40example.org?secret={secret}&issuer=Latchkey&algorithm=SHA1&digits=6\
             &period=30"
        );
        assert_eq!(begun["uri"], uri);
        assert_eq!(begun["expiresAt"], "2026-03-02T10:10:00.000Z");
    }

    with(|b| b.verification_by_code().config(|config| "Häuser & Co: 1".clone_into(&mut config.site.service_name)))
    async fn every_part_of_the_uri_is_percent_encoded(app) {
        let ada = app.user("ada+b&c=d").await;

        let begun = ada.post(TOTP, json!({})).send().await.expect(200);

        let uri = Url::parse(begun["uri"].as_str().unwrap()).unwrap();
        assert_eq!(uri.path(), "/H%C3%A4user%20%26%20Co%3A%201:ada%2Bb%26c%3Dd%40example.org");
        assert_eq!(parameter(&uri, "issuer").as_deref(), Some("Häuser & Co: 1"));
        assert!(!uri.as_str().contains('+'), "{uri}");
    }

    with(|b| b.verification_by_code())
    async fn first_app_turns_two_step_on_and_ends_every_session(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;
        let (phone, id) = app.begin_totp(&ada).await;

        let answer = ada.confirm_totp(&id, &phone.code()).send().await;

        let session = Session::of(&answer);
        for token in [&ada.session.access_token, &other.access_token] {
            app.bearing(token).get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        let client = app.with_session(&session);
        assert_eq!((session_count(&client).await, &account(&client).await["twoStep"]), (1, &json!(true)));
        assert_eq!(claims(&session.access_token)["aal"], 2);
    }

    with(|b| b.verification_by_code())
    async fn confirmation_answers_like_a_sign_in_with_factor_and_recovery_codes(app) {
        let (ada, bob) = (app.user("ada").await, app.user_on("bob", "mobile").await);
        for (user, client_type, tokens) in [(&ada, "web", "csrfToken"), (&bob, "mobile", "refreshToken")] {
            let (phone, id) = app.begin_totp(user).await;

            let answer = user.confirm_totp(&id, &phone.code()).client_type(client_type).send().await;

            let body = answer.expect(200);
            let mut expected = vec!["accessToken", "factor", "recoveryCodes", "user", tokens];
            expected.sort_unstable();
            assert_eq!(keys(&body), expected);
            assert_eq!(answer.set_cookies().len(), usize::from(client_type == "web"));
            let factor = json!({
                "id": id, "name": "Authenticator app", "createdAt": "2026-03-02T10:00:00.000Z",
                "lastUsedAt": body["factor"]["lastUsedAt"],
            });
            assert_eq!(body["factor"], factor);
        }
    }

    with(|b| b.verification_by_code())
    async fn recovery_codes_are_ten_different_ones_in_groups(app) {
        let ada = app.two_step_user("ada").await;

        let mut codes = ada.recovery_codes.clone();

        let is_symbol = |c: char| "0123456789abcdefghjkmnpqrstvwxyz".contains(c);
        let is_code = |code: &String| {
            let groups: Vec<_> = code.split('-').collect();
            groups.len() == 4 && groups.iter().all(|group| group.len() == 4 && group.chars().all(is_symbol))
        };
        assert!(codes.iter().all(is_code), "{codes:?}");
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), 10);
    }

    with(|b| b.verification_by_code())
    async fn pending_app_is_nothing_to_anybody(app) {
        let ada = app.user("ada").await;
        app.begin_totp(&ada).await;

        let account = account(&ada).await;

        assert_eq!((&account["twoStep"], &account["totp"]), (&json!(false), &json!([])));
        let _ = ada.sign_in_again().await;
    }

    with(|b| b.verification_by_code())
    async fn newer_pending_app_replaces_the_older(app) {
        let ada = app.user("ada").await;
        let (old, old_id) = app.begin_totp(&ada).await;
        let (new, new_id) = app.begin_totp(&ada).await;

        ada.confirm_totp(&old_id, &old.code()).send().await.refused(404, "NOT_FOUND");

        ada.confirm_totp(&new_id, &new.code()).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn pending_app_belongs_to_the_session_that_began_it(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let other = app.with_session(&ada.sign_in_again().await);
        let (phone, id) = app.begin_totp(&ada).await;

        for _ in 0..6 {
            other.confirm_totp(&id, &phone.wrong_code(0)).send().await.refused(404, "NOT_FOUND");
            bob.confirm_totp(&id, &phone.code()).send().await.refused(404, "NOT_FOUND");
        }

        app.anon().confirm_totp(&id, &phone.code()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.confirm_totp(&id, &phone.code()).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn pending_app_lives_ten_minutes(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let (in_time, in_time_id) = app.begin_totp(&ada).await;
        let (late, late_id) = app.begin_totp(&bob).await;

        app.clock.advance(minutes(10) - seconds(1));
        ada.confirm_totp(&in_time_id, &in_time.code()).send().await.expect(200);
        app.clock.advance(seconds(1));

        bob.confirm_totp(&late_id, &late.code()).send().await.refused(404, "NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn fifth_wrong_code_drops_the_pending_app(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let (near, near_id) = app.begin_totp(&ada).await;
        let (phone, id) = app.begin_totp(&bob).await;
        for number in 0..4 {
            let answer = ada.confirm_totp(&near_id, &near.wrong_code(number)).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }
        for number in 0..5 {
            let answer = bob.confirm_totp(&id, &phone.wrong_code(number)).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }

        ada.confirm_totp(&near_id, &near.code()).send().await.expect(200);
        bob.confirm_totp(&id, &phone.code()).send().await.refused(404, "NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn malformed_code_costs_nothing(app) {
        let ada = app.user("ada").await;
        let (phone, id) = app.begin_totp(&ada).await;

        let malformed = ["", "12345", "1234567", "12345a", " 12345", "１２３４５６", "0123-4567-89ab-cdef"];
        for code in malformed.repeat(2) {
            let answer = ada.confirm_totp(&id, code).send().await;
            answer.refused(400, "VALIDATION_ERROR");
            answer.refused_for("VALIDATION_ERROR", "code", &["invalid_format"]);
        }

        ada.confirm_totp("no id", &phone.code()).send().await.refused(404, "NOT_FOUND");
        ada.confirm_totp(&id, &phone.code()).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn codes_of_the_steps_beside_now_confirm_and_those_beyond_do_not(app) {
        for (name, steps, is_good) in
            [("ada", -2, false), ("bob", -1, true), ("cleo", 0, true), ("dora", 1, true), ("eve", 2, false)]
        {
            let user = app.user(name).await;
            let (phone, id) = app.begin_totp(&user).await;

            let answer = user.confirm_totp(&id, &phone.code_of_step(steps)).send().await;

            assert_eq!(answer.status, if is_good { 200 } else { 401 }, "{steps}: {answer:?}");
        }
    }

    with(|b| b.verification_by_code())
    async fn second_app_is_added_and_the_third_is_one_too_many(app) {
        let ada = app.two_step_user("ada").await;
        let (tablet, id) = app.begin_totp(&ada).await;

        let added = ada.confirm_totp(&id, &tablet.code()).send().await;

        let body = added.expect(200);
        assert_eq!((keys(&body), added.set_cookies().len()), (vec!["factor"], 0));
        ada.post(TOTP, json!({})).send().await.refused(409, "TOO_MANY_FACTORS");
        let listed = account(&ada).await;
        let ids: Vec<_> = listed["totp"].as_array().unwrap().iter().map(|factor| &factor["id"]).collect();
        assert_eq!(ids, [&json!(ada.factor_id), &json!(id)]);
        app.clock.advance(seconds(30));
        let challenge = ada.challenged().await;
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &tablet.code()).send().await);
    }

    async fn unverified_address_cannot_enrol(app) {
        let ada = app.user("ada").await;

        ada.post(TOTP, json!({})).send().await.refused(403, "EMAIL_NOT_VERIFIED");
    }

    // A stranger signs up with the owner's address, and the owner's mail scanner opens the link.
    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn unproven_password_cannot_enrol(app) {
        sign_up_to(&app.anon(), "ada@example.org", TARGET).send().await.expect(200);
        let link = app.mail_to("ada@example.org").await.link();
        app.anon().get(&link).send().await.redirected();
        let squatter = Session::of(&app.anon().sign_in("ada@example.org", PASSWORD).send().await);

        let answer = app.with_session(&squatter).post(TOTP, json!({})).send().await;

        answer.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.verification_by_code())
    async fn app_keeps_the_name_that_it_began_with(app) {
        let ada = app.user("ada").await;
        let begun = ada.post(TOTP, json!({"name": "Ada's phone"})).send().await.expect(200);
        let phone = latchkey_testkit::Authenticator::new(begun["secret"].as_str().unwrap(), &app.clock);

        let confirmed = ada.confirm_totp(begun["factorId"].as_str().unwrap(), &phone.code()).send().await.expect(200);

        assert_eq!(confirmed["factor"]["name"], "Ada's phone");
    }

    with(|b| b.verification_by_code())
    async fn app_is_renamed_by_its_owner_alone(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let path = format!("{TOTP}/{}", ada.factor_id);
        let name = json!({"name": "Ada's phone"});

        let renamed = ada.patch(&path, name.clone()).send().await.expect(200);

        assert_eq!(renamed["factor"]["name"], "Ada's phone");
        assert_eq!(renamed["factor"]["id"], ada.factor_id);
        bob.patch(&path, name.clone()).send().await.refused(404, "NOT_FOUND");
        ada.patch(&format!("{TOTP}/none"), name.clone()).send().await.refused(404, "NOT_FOUND");
        app.anon().patch(&path, name).send().await.refused(401, "AUTH_UNAUTHORIZED");
        for (name, reason) in [("", "too_short"), (" ", "too_short"), (&"x".repeat(65)[..], "too_long"), ("a\nb", "invalid_characters")] {
            let answer = ada.patch(&path, json!({"name": name})).send().await;
            assert_eq!(answer.status, 400);
            answer.refused_for("VALIDATION_ERROR", "name", &[reason]);
        }
        assert_eq!(account(&ada).await["totp"][0]["name"], "Ada's phone");
    }

    with(|b| b.verification_by_code())
    async fn removed_app_gives_no_more_good_codes_and_the_last_stays(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let path = format!("{TOTP}/{}", ada.factor_id);
        ada.delete(&path).send().await.refused(409, "LAST_SECOND_FACTOR");
        let (tablet, id) = app.begin_totp(&ada).await;
        ada.confirm_totp(&id, &tablet.code()).send().await.expect(200);
        bob.delete(&path).send().await.refused(404, "NOT_FOUND");

        ada.delete(&path).send().await.expect(200);

        ada.delete(&path).send().await.refused(404, "NOT_FOUND");
        app.clock.advance(seconds(30));
        let challenge = ada.challenged().await;
        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;
        answer.refused(401, "INVALID_SECOND_FACTOR");
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &tablet.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn secrets_and_codes_are_not_stored_as_they_are(app) {
        let ada = app.user("ada").await;
        let begun = ada.post(TOTP, json!({})).send().await.expect(200);
        let secret = begun["secret"].as_str().unwrap();
        let phone = latchkey_testkit::Authenticator::new(secret, &app.clock);
        let confirm = ada.confirm_totp(begun["factorId"].as_str().unwrap(), &phone.code());
        let codes = recovery_codes(&confirm.send().await.expect(200));
        app.clock.advance(seconds(30));
        let challenge = challenge_id(&app.anon().sign_in(&ada.email, PASSWORD).send().await);

        let kept = app.kept();

        let texts = codes.iter().flat_map(|code| [code.clone(), code.replace('-', "")]);
        for text in texts.chain([secret.to_owned(), challenge]) {
            let is_kept = kept.windows(text.len()).any(|bytes| bytes.eq_ignore_ascii_case(text.as_bytes()));
            assert!(!is_kept, "{text}");
        }
        let is_kept = kept.windows(20).any(|bytes| bytes == phone.secret());
        assert!(!is_kept, "the bytes of the secret");
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let (tablet, tablet_id) = app.begin_totp(&ada).await;
        let (phone, phone_id) = app.begin_totp(&bob).await;
        let path = format!("{TOTP}/{tablet_id}");
        let requests = vec![
            ("POST /api/auth/factors/totp/confirm", ada.confirm_totp(&tablet_id, &tablet.code())),
            ("POST /api/auth/factors/totp/confirm", bob.confirm_totp(&phone_id, &phone.code())),
            ("PATCH /api/auth/factors/totp/{id}", ada.patch(&path, json!({"name": "Tablet"}))),
            ("DELETE /api/auth/factors/totp/{id}", ada.delete(&path)),
            ("POST /api/auth/factors/totp", ada.post(TOTP, json!({"name": null}))),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}
