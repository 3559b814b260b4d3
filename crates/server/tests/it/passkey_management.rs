//! Tests of the passkeys of an account: list, rename, removal, the sessions that they opened, and the last of them.

use latchkey_testkit::{Session, both_stores, json, minutes, recovery_codes, seconds};

use crate::audit::last;
use crate::passkey_calls::{
    enable, passkey_count, passkeys, passwordless, providers, remove, session, sign_in,
};
use crate::two_step_calls::{account, keys, session_count};

both_stores! {
    async fn list_has_the_oldest_first_and_what_browsers_need_to_forget_others(app) {
        let ada = app.user("ada").await;
        let mut ids = Vec::new();
        for device in [app.phone(), app.security_key(), app.phone()] {
            ids.push(ada.add_passkey(&device).await.0);
            app.clock.advance(seconds(1));
        }
        app.passkey_user("bob").await;

        let list = passkeys(&ada).await;

        assert_eq!(keys(&list), ["acceptedCredentialIds", "passkeys", "rpId", "userHandle"]);
        let shown = list["passkeys"].as_array().unwrap();
        let listed: Vec<_> = shown.iter().map(|passkey| passkey["credentialId"].clone()).collect();
        assert_eq!(listed, ids.iter().map(|passkey| json!(passkey.id())).collect::<Vec<_>>());
        assert_eq!(list["acceptedCredentialIds"], json!(listed));
        assert_eq!((&list["rpId"], shown[1]["synced"].as_bool()), (&json!("localhost"), Some(false)));
        let fields = ["aaguid", "createdAt", "credentialId", "id", "lastUsedAt", "name", "synced", "usable"];
        assert!(shown.iter().all(|passkey| keys(passkey) == fields), "{list:#}");
    }

    async fn list_of_an_account_without_passkeys_is_empty(app) {
        let ada = app.user("ada").await;

        let list = passkeys(&ada).await;

        assert_eq!((&list["passkeys"], &list["acceptedCredentialIds"]), (&json!([]), &json!([])));
        assert_eq!(list["rpId"], "localhost");
    }

    async fn owner_renames_a_passkey(app) {
        let ada = app.passkey_user("ada").await;
        let path = format!("/api/auth/passkeys/{}", ada.passkey_id);
        app.clock.advance(minutes(11));

        let body = ada.patch(&path, json!({"name": " Grandmother's tablet 🎂 "})).send().await.expect(200);

        assert_eq!(body["passkey"]["name"], "Grandmother's tablet 🎂");
        assert_eq!(passkeys(&ada).await["passkeys"][0], body["passkey"]);
        assert_eq!(last(&app, "passkey_renamed").await["userId"], ada.id);
        for name in [json!(""), json!(" "), json!("n".repeat(65)), json!(null), json!(7)] {
            let answer = ada.patch(&path, json!({"name": name})).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "name");
        }
        let missing = ada.patch(&path, json!({})).send().await;
        assert_eq!(missing.refused(400, "VALIDATION_ERROR")["field"], "name");
    }

    async fn passkeys_of_others_are_not_found(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.passkey_user("bob").await);

        for id in [bob.passkey_id.as_str(), crate::routes::NOBODY, "x", "%00"] {
            let path = format!("/api/auth/passkeys/{id}");
            ada.patch(&path, json!({"name": "Mine"})).send().await.refused(404, "NOT_FOUND");
            ada.delete(&path).send().await.refused(404, "NOT_FOUND");
        }

        assert_ne!(passkeys(&bob).await["passkeys"][0]["name"], "Mine");
    }

    async fn removal_shows_what_is_left(app) {
        let ada = app.passkey_user("ada").await;
        let (other, _) = ada.add_passkey(&app.phone()).await;

        let body = remove(&ada, &ada.passkey_id).send().await.expect(200);

        assert_eq!(keys(&body), ["acceptedCredentialIds", "message", "rpId", "userHandle"]);
        assert_eq!(body["acceptedCredentialIds"], json!([other.id()]));
        assert_eq!(body["userHandle"], passkeys(&ada).await["userHandle"]);
        remove(&ada, &ada.passkey_id).send().await.refused(404, "NOT_FOUND");
    }

    async fn removal_needs_a_fresh_token(app) {
        let ada = app.passkey_user("ada").await;
        app.clock.advance(minutes(10) + seconds(1));

        for id in [ada.passkey_id.as_str(), "x"] {
            remove(&ada, id).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        }

        assert_eq!(passkey_count(&ada).await, 1);
    }

    async fn removal_ends_the_sessions_that_the_passkey_opened(app) {
        let ada = app.passkey_user("ada").await;
        let (mut other, _) = ada.add_passkey(&app.phone()).await;
        let gone = [
            session(&app.anon(), &mut ada.passkey.clone()).await,
            session(&app.anon(), &mut ada.passkey.clone()).await,
        ];
        let stays = [ada.sign_in_again().await, session(&app.anon(), &mut other).await];

        remove(&ada, &ada.passkey_id).send().await.expect(200);

        for session in gone {
            app.anon().refresh(&session).send().await.refused(401, "AUTH_UNAUTHORIZED");
            app.with_session(&session).get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        for session in stays {
            app.anon().refresh(&session).send().await.expect(200);
        }
        assert_eq!(session_count(&ada).await, 3);
    }

    async fn callers_session_stays_even_if_the_passkey_opened_it(app) {
        let ada = app.passkey_user("ada").await;
        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;
        let other = session(&app.anon(), &mut ada.passkey.clone()).await;

        remove(&app.with_session(&opened), &ada.passkey_id).send().await.expect(200);

        app.anon().refresh(&opened).send().await.expect(200);
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn passkey_is_a_provider_while_there_is_one(app) {
        let ada = app.user("ada").await;
        let before = providers(&ada).await;

        let (_, id) = ada.add_passkey(&app.phone()).await;

        assert_eq!((before, providers(&ada).await), (json!(["email"]), json!(["email", "passkey"])));
        let shown = app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.expect(200);
        assert_eq!(shown["providers"], json!(["email", "passkey"]));
        remove(&ada, &id).send().await.expect(200);
        assert_eq!(providers(&ada).await, json!(["email"]));
    }

    async fn last_way_in_stays(app) {
        let client = app.with_session(&passwordless(&app).await);
        let (mut passkey, id) = client.add_passkey(&app.phone()).await;
        client.delete("/api/auth/identities/acme").send().await.expect(200);

        remove(&client, &id).send().await.refused(409, "LAST_SIGN_IN_METHOD");

        let (_, other) = client.add_passkey(&app.phone()).await;
        remove(&client, &other).send().await.expect(200);
        remove(&client, &id).send().await.refused(409, "LAST_SIGN_IN_METHOD");
        let _ = session(&app.anon(), &mut passkey).await;
    }

    async fn verified_address_stands_in_for_the_last_passkey_while_sign_in_by_mail_is_on(app) {
        let acme = crate::oauth_calls::acme(&app).await;
        let client = app.with_session(&crate::oauth_calls::session(&app, &acme, "acme").await);
        let (_, id) = client.add_passkey(&app.phone()).await;
        client.delete("/api/auth/identities/acme").send().await.expect(200);

        remove(&client, &id).send().await.expect(200);
    }

    async fn passkey_is_no_way_in_while_passkeys_are_off(app) {
        let client = app.with_session(&passwordless(&app).await);
        let (_, id) = client.add_passkey(&app.phone()).await;
        enable(&app, false).await;

        client.delete("/api/auth/identities/acme").send().await.refused(409, "LAST_SIGN_IN_METHOD");

        remove(&client, &id).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn passkey_alone_can_turn_two_step_on_and_is_then_the_last_second_factor(app) {
        let ada = app.passkey_user("ada").await;
        let other = ada.sign_in_again().await;
        let shown = app.with_session(&session(&app.anon(), &mut ada.passkey.clone()).await);
        let turned_on = shown.post("/api/auth/factors/two-step", json!({"enabled": true})).send().await;
        assert_eq!(recovery_codes(&turned_on.expect(200)).len(), 10);
        let client = app.with_session(&Session::of(&turned_on));
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");

        remove(&client, &ada.passkey_id).send().await.refused(409, "LAST_SECOND_FACTOR");

        assert_eq!(account(&client).await["twoStep"], true);
        let (phone, factor) = app.begin_totp(&client).await;
        client.confirm_totp(&factor, &phone.code()).send().await.expect(200);
        remove(&client, &ada.passkey_id).send().await.expect(200);
        let totp = format!("/api/auth/factors/totp/{factor}");
        client.delete(&totp).send().await.refused(409, "LAST_SECOND_FACTOR");
    }

    with(|b| b.verification_by_code())
    async fn totp_may_go_while_a_passkey_is_there(app) {
        let ada = app.two_step_user("ada").await;
        let (_, id) = ada.add_passkey(&app.phone()).await;

        ada.delete(&format!("/api/auth/factors/totp/{}", ada.factor_id)).send().await.expect(200);

        remove(&ada, &id).send().await.refused(409, "LAST_SECOND_FACTOR");
    }

    with(|b| b.verification_by_code())
    async fn two_step_turned_off_keeps_the_passkeys(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;

        ada.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);

        let mine = account(&ada).await;
        assert_eq!((&mine["totp"], &mine["passkeyCount"], &mine["twoStep"]), (&json!([]), &json!(1), &json!(false)));
        sign_in(&app.anon(), &mut passkey).await.expect(200);
    }

    // Two-step sign-in is a switch of its own: whoever has a passkey on a phone must get in elsewhere.
    with(|b| b.verification_by_code())
    async fn passkey_does_not_turn_two_step_on(app) {
        let ada = app.passkey_user("ada").await;

        let answer = app.anon().sign_in(&ada.email, &ada.password).send().await;

        let _ = Session::of(&answer);
    }
}
