//! Tests of the account that an identity signs in to: a new one, the linked one, the one with its address, or none.

use latchkey_testkit::{PASSWORD, Session, TestApp, both_stores, json};

use crate::enumeration::shown;
use crate::oauth_calls::{
    acme, auth_url, consent, error_of, identities, person, provider, session, sign_in, user_count,
};

const ADA: &str = "ada@example.org";

both_stores! {
    with(|b| b.verification_by_code())
    async fn verified_address_links_to_the_verified_account(app) {
        let acme = acme(&app).await;
        let ada = app.user("ada").await;

        let session = session(&app, &acme, "acme").await;

        assert_eq!(session.user_id, ada.id);
        assert_eq!(identities(&ada).await, ["acme"]);
        let user = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(user["user"]["providers"], json!(["email", "acme"]));
        ada.sign_in_again().await;
        let profile = ada.get("/api/profiles/me").send().await.expect(200);
        assert_eq!(profile["name"], "Ada", "the profile stays as it is");
    }

    with(|b| b.verification_by_code())
    async fn address_is_compared_without_case(app) {
        let acme = acme(&app).await;
        let ada = app.user("ada").await;
        acme.person(person("ada", "ADA@Example.ORG"));

        assert_eq!(session(&app, &acme, "acme").await.user_id, ada.id);
    }

    with(|b| b.verification_by_code())
    async fn address_unverified_by_the_provider_links_to_no_account(app) {
        let acme = acme(&app).await;
        let ada = app.user("ada").await;
        for verified in [json!(false), json!("true"), json!("false"), json!(1), json!(null), json!([true])] {
            let mut claims = person("mallory", ADA);
            claims["email_verified"] = verified.clone();
            acme.person(claims);

            let error = error_of(&consent(&app, &acme, "acme").await);

            assert!(error.contains("sign in to link this provider"), "{verified}: {error}");
        }
        assert_eq!(identities(&ada).await, Vec::<String>::new());
        ada.sign_in_again().await;
    }

    with(|b| b.verification_by_code())
    async fn unverified_address_is_refused_alike_whether_it_is_taken_or_free(app) {
        app.user("ada").await;

        unverified_addresses_are_answered_alike(&app).await;
    }

    with(|b| b.sign_up_disabled())
    async fn closed_sign_up_does_not_tell_a_taken_address_from_a_free_one(mut app) {
        app.restart_with(|b| b.settings(|settings| settings.disable_sign_up = false)).await;
        app.user("ada").await;
        app.restart_with(|b| b.sign_up_disabled()).await;

        unverified_addresses_are_answered_alike(&app).await;
    }

    // The attacker signs up with the victim's address; the victim comes through a provider.
    async fn pre_hijacked_account_is_taken_over_by_the_owner_of_the_address(app) {
        let acme = acme(&app).await;
        let attacker = app.user("ada").await;
        let profile = json!({"name": "Ada", "bio": "send money to …", "username": "ada"});
        attacker.patch("/api/profiles/me", profile).send().await.expect(200);

        let owner = session(&app, &acme, "acme").await;

        assert_eq!(owner.user_id, attacker.id);
        attacker.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        attacker.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        let me = app.with_session(&owner).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!((&me["user"]["emailVerified"], &me["user"]["providers"]), (&json!(true), &json!(["acme"])));
        let profile = app.with_session(&owner).get("/api/profiles/me").send().await.expect(200);
        assert_eq!(profile["bio"], json!(null), "{profile}");
        assert!(profile.get("username").is_none() && profile["name"] == "Ada of the provider", "{profile}");
    }

    async fn identity_that_a_pre_hijacker_linked_is_gone_after_the_take_over(app) {
        let (acme, mallorys) = (acme(&app).await, provider(&app, "mallorys").await);
        let attacker = app.user("ada").await;
        mallorys.person(person("mallory", "mallory@example.org"));
        let code = crate::oauth_calls::link_code(&attacker, &mallorys, "mallorys").await;
        crate::oauth_calls::exchange(&attacker, &code, crate::oauth_calls::VERIFIER).send().await.expect(200);

        let owner = session(&app, &acme, "acme").await;

        assert_eq!(identities(&app.with_session(&owner)).await, ["acme"]);
        assert_ne!(session(&app, &mallorys, "mallorys").await.user_id, owner.user_id);
    }

    async fn outstanding_codes_of_a_pre_hijacked_account_die(app) {
        let acme = acme(&app).await;
        let _attacker = app.user("ada").await;
        let body = json!({"email": ADA});
        app.anon().post("/api/auth/email/send-reset-password", body).send().await.expect(202);
        let code = app.mail_to(ADA).await.code();

        session(&app, &acme, "acme").await;

        let body = json!({"email": ADA, "code": code});
        let exchange = app.anon().post("/api/auth/email/exchange-reset-password-token", body);
        exchange.send().await.refused(400, "INVALID_CODE");
    }

    async fn unverified_account_is_not_opened_by_an_unverified_address(app) {
        let acme = acme(&app).await;
        let ada = app.user("ada").await;
        let mut claims = person("mallory", ADA);
        claims["email_verified"] = json!(false);
        acme.person(claims);

        let error = error_of(&consent(&app, &acme, "acme").await);

        assert!(error.contains("sign in to link this provider"), "{error}");
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn pending_account_is_taken_over_and_loses_its_password(app) {
        let acme = acme(&app).await;
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let code = app.mail_to(ADA).await.code();

        let owner = session(&app, &acme, "acme").await;

        let me = app.with_session(&owner).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(me["user"]["providers"], json!(["acme"]));
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().verify(ADA, &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn email_never_moves_an_identity(app) {
        let acme = acme(&app).await;
        acme.person(person("ada", ADA));
        let ada = session(&app, &acme, "acme").await;
        acme.person(person("bob", "bob@example.org"));
        let bob = session(&app, &acme, "acme").await;

        // Ada's identity at the provider has Bob's address now.
        acme.person(person("ada", "bob@example.org"));
        let ada_again = session(&app, &acme, "acme").await;
        acme.person(person("bob", "robert@example.org"));
        let bob_again = session(&app, &acme, "acme").await;

        assert_eq!((ada_again.user_id, &bob_again.user_id), (ada.user_id, &bob.user_id));
        let me = app.with_session(&bob).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(me["user"]["email"], "bob@example.org", "the account's address stays");
    }

    async fn subjects_are_compared_to_the_letter(app) {
        let acme = acme(&app).await;
        acme.person(person("Ada", "ada@example.org"));
        let ada = session(&app, &acme, "acme").await;
        acme.person(person("ada", "other@example.org"));

        assert_ne!(session(&app, &acme, "acme").await.user_id, ada.user_id);
    }

    async fn invalid_subject_identifies_no_user(app) {
        let acme = acme(&app).await;
        for sub in [json!(""), json!(null), json!(7), json!("a".repeat(300)), json!(["ada"])] {
            let mut claims = person("ada", ADA);
            claims["sub"] = sub;
            acme.person(claims);

            error_of(&consent(&app, &acme, "acme").await);
        }
        assert_eq!(user_count(&app).await, 0);
    }

    with(|b| b.sign_up_disabled())
    async fn no_account_is_made_while_sign_up_is_disabled(app) {
        let acme = acme(&app).await;

        error_of(&consent(&app, &acme, "acme").await);

        assert_eq!(user_count(&app).await, 0);
    }

    async fn account_is_opened_while_sign_up_is_disabled(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;
        app.admin().put("/api/auth/config", json!({"disableSignup": true})).send().await.expect(200);

        assert_eq!(session(&app, &acme, "acme").await.user_id, ada.user_id);
    }

    async fn banned_account_stays_closed(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;
        let path = format!("/api/auth/users/{}", ada.user_id);
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);

        error_of(&consent(&app, &acme, "acme").await);

        app.admin().patch(&path, json!({"banned": false})).send().await.expect(200);
        session(&app, &acme, "acme").await;
    }

    async fn ban_between_consent_and_exchange_counts(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;
        let code = crate::oauth_calls::code(&app, &acme, "acme").await;
        let path = format!("/api/auth/users/{}", ada.user_id);
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);

        let exchange = crate::oauth_calls::exchange(&app.anon(), &code, crate::oauth_calls::VERIFIER);

        exchange.send().await.refused(403, "USER_BANNED");
    }

    async fn provider_without_an_address_makes_no_account(app) {
        let acme = acme(&app).await;
        for email in [json!(null), json!(""), json!("no address"), json!(["ada@example.org"])] {
            let mut claims = person("ada", ADA);
            claims["email"] = email;
            acme.person(claims);

            error_of(&consent(&app, &acme, "acme").await);
        }
        assert_eq!(user_count(&app).await, 0);
    }

    async fn unverified_address_makes_an_unverified_account_where_that_is_allowed(app) {
        let acme = acme(&app).await;
        let mut claims = person("ada", ADA);
        claims["email_verified"] = json!("true");
        acme.person(claims);

        let body = sign_in(&app, &acme, "acme").await.expect(200);

        assert_eq!(body["user"]["emailVerified"], false);
    }

    with(|b| b.verification_by_code())
    async fn unverified_address_makes_no_account_while_verification_is_required(app) {
        let acme = acme(&app).await;
        let mut claims = person("ada", ADA);
        claims["email_verified"] = json!(false);
        acme.person(claims);

        error_of(&consent(&app, &acme, "acme").await);

        assert_eq!(user_count(&app).await, 0);
    }

    async fn deleted_user_begins_anew(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;
        let body = json!({"userIds": [ada.user_id]});
        app.admin().delete("/api/auth/users").json(&body).send().await.expect(200);

        assert_ne!(session(&app, &acme, "acme").await.user_id, ada.user_id);
    }

    with(|b| b.no_profile_on_sign_up())
    async fn sign_in_makes_no_profile_where_a_sign_up_makes_none(app) {
        let acme = acme(&app).await;

        let ada = session(&app, &acme, "acme").await;

        app.with_session(&ada).get("/api/profiles/me").send().await.refused(404, "PROFILE_NOT_FOUND");
    }

    async fn owner_without_a_password_sets_one_by_reset(app) {
        let acme = acme(&app).await;
        session(&app, &acme, "acme").await;
        let token = crate::email_calls::reset_token(&app, ADA).await;

        crate::email_calls::reset(&app.anon(), &token, PASSWORD).send().await.expect(200);

        let body = app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
        assert_eq!(body["user"]["providers"], json!(["email", "acme"]));
    }

    // The attacker's identity at a provider claims the victim's address without verification. Then the victim verifies
    // the mailbox.
    async fn identity_of_an_unverified_address_is_removed_by_the_verification_of_the_mailbox(app) {
        let acme = acme(&app).await;
        let mut claims = person("mallory", ADA);
        claims["email_verified"] = json!(false);
        acme.person(claims);
        let session_of_attacker = session(&app, &acme, "acme").await;
        let attacker = app.with_session(&session_of_attacker);
        let mail = app.anon().post("/api/auth/email/send-verification", json!({"email": ADA}));
        mail.send().await.expect(202);
        let code = app.mail_to(ADA).await.code();

        let owner = Session::of(&app.anon().verify(ADA, &code).send().await);

        attacker.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&session_of_attacker).send().await.refused(401, "AUTH_UNAUTHORIZED");
        assert_eq!(identities(&app.with_session(&owner)).await, Vec::<String>::new());
        let error = error_of(&consent(&app, &acme, "acme").await);
        assert!(error.contains("sign in to link this provider"), "{error}");
        acme.person(person("ada", ADA));
        assert_eq!(session(&app, &acme, "acme").await.user_id, owner.user_id, "the owner's own identity links");
    }
}

/// Asserts the same response for every kind of address that the provider has not verified, in the browser and with an
/// `id_token`.
async fn unverified_addresses_are_answered_alike(app: &TestApp) {
    let acme = acme(app).await;
    let mut answers = Vec::new();
    for email in [ADA, "free@example.org"] {
        let mut claims = person(&format!("mallory of {email}"), email);
        claims["email_verified"] = json!(false);
        acme.person(claims);
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let answer = app.anon().get(callback.as_str()).send().await;
        error_of(&answer.redirected());
        answers.push(shown(&answer));
    }
    assert_eq!(answers[0], answers[1]);
}
