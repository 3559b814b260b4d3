//! Tests of the user's own identities: list, link, unlink.

use latchkey_testkit::{EmailSignIn, Session, both_stores, json};

use crate::oauth_calls::{
    APP, CHALLENGE, OTHER_VERIFIER, VERIFIER, acme, auth_url_of, come_back, error_of, exchange, identities,
    link, link_code, person, provider, session, sign_in,
};

const NONE: [String; 0] = [];

both_stores! {
    async fn identity_is_linked_at_the_exchange_by_the_session_that_began(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        assert_eq!(identities(&bob).await, NONE, "never at the callback");

        let body = exchange(&bob, &code, VERIFIER).send().await.expect(200);

        assert_eq!(body["user"]["id"], bob.id);
        assert_eq!(body["user"]["email"], "bob@example.org", "the account's address stays");
        assert_eq!(body["user"]["providers"], json!(["email", "acme"]));
        assert_eq!(session(&app, &acme, "acme").await.user_id, bob.id);
    }

    async fn identities_are_listed_with_what_the_provider_said(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);

        let body = bob.get("/api/auth/identities").send().await.expect(200);

        assert_eq!(body, json!({"identities": [{
            "provider": "acme",
            "subject": "ada-at-the-provider",
            "email": "ada@example.org",
            "createdAt": "2026-03-02T10:00:00.000Z",
        }]}));
    }

    async fn identities_are_for_signed_in_users(app) {
        let _acme = acme(&app).await;
        for request in [
            app.anon().get("/api/auth/identities"),
            link(&app.anon(), "acme"),
            app.anon().delete("/api/auth/identities/acme"),
            link(&app.bearing("stale"), "acme"),
        ] {
            request.send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    async fn link_is_asked_for_like_a_start(app) {
        let (_acme, bob) = (acme(&app).await, app.user("bob").await);
        let path = "/api/auth/identities/acme/link";
        let by_query = bob.post(path, json!({})).query("redirect_uri", APP).query("code_challenge", CHALLENGE);

        auth_url_of(&by_query.send().await);

        bob.post(path, json!({"redirect_uri": APP})).send().await.refused(400, "VALIDATION_ERROR");
        let body = json!({"redirect_uri": "https://evil.example", "code_challenge": CHALLENGE});
        bob.post(path, body).send().await.refused(400, "REDIRECT_NOT_ALLOWED");
        link(&bob, "nobody").send().await.refused(400, "UNSUPPORTED_PROVIDER");
        link(&bob, "google").send().await.refused(400, "PROVIDER_NOT_CONFIGURED");
    }

    async fn link_without_the_bearer_stays_available(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;

        exchange(&app.anon(), &code, VERIFIER).send().await.refused(401, "AUTH_UNAUTHORIZED");
        exchange(&app.bearing("stale"), &code, VERIFIER).send().await.refused(401, "AUTH_UNAUTHORIZED");
        assert_eq!(identities(&bob).await, NONE);

        exchange(&bob, &code, VERIFIER).send().await.expect(200);
    }

    async fn link_by_another_session_of_the_same_user_is_refused(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let other = bob.sign_in_again().await;
        let code = link_code(&bob, &acme, "acme").await;

        exchange(&app.with_session(&other), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        exchange(&bob, &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
        assert_eq!(identities(&bob).await, NONE);
    }

    // Two attacks: the victim's browser finishes a link that the attacker started, and the reverse.
    async fn link_by_another_user_is_refused(app) {
        let (acme, bob, mallory) = (acme(&app).await, app.user("bob").await, app.user("mallory").await);
        let code = link_code(&mallory, &acme, "acme").await;

        exchange(&bob, &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        assert_eq!((identities(&bob).await, identities(&mallory).await), (NONE.to_vec(), NONE.to_vec()));
    }

    async fn link_with_a_wrong_verifier_burns_the_code(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;

        exchange(&bob, &code, OTHER_VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        exchange(&bob, &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    async fn link_dies_with_the_session_that_began_it(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        bob.sign_out(&bob.session).send().await.expect(200);

        exchange(&bob, &code, VERIFIER).send().await.refused(401, "AUTH_UNAUTHORIZED");

        let again = Session::of(&app.anon().sign_in(&bob.email, &bob.password).send().await);
        exchange(&app.with_session(&again), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    async fn identity_of_another_account_is_taken(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let ada = session(&app, &acme, "acme").await;
        let auth_url = auth_url_of(&link(&bob, "acme").send().await);

        error_of(&come_back(&bob, &acme.consent(&auth_url)).await);

        assert_eq!(identities(&bob).await, NONE);
        assert_eq!(identities(&app.with_session(&ada)).await, ["acme"]);
    }

    async fn identity_linked_elsewhere_meanwhile_is_refused_at_the_exchange(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        session(&app, &acme, "acme").await;

        exchange(&bob, &code, VERIFIER).send().await.refused(409, "IDENTITY_TAKEN");

        assert_eq!(identities(&bob).await, NONE);
    }

    async fn linking_what_is_linked_changes_nothing(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        for _ in 0..2 {
            let code = link_code(&bob, &acme, "acme").await;
            exchange(&bob, &code, VERIFIER).send().await.expect(200);
        }

        assert_eq!(identities(&bob).await, ["acme"]);
    }

    async fn unlinked_identity_opens_the_account_no_more(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);

        bob.delete("/api/auth/identities/acme").send().await.expect(200);

        assert_eq!(identities(&bob).await, NONE);
        assert_ne!(session(&app, &acme, "acme").await.user_id, bob.id);
        bob.delete("/api/auth/identities/acme").send().await.refused(404, "NOT_FOUND");
    }

    with(|b| b.email_sign_in(EmailSignIn::Off))
    async fn last_way_in_is_not_unlinked(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;

        let unlink = app.with_session(&ada).delete("/api/auth/identities/acme").send().await;

        unlink.refused(409, "LAST_SIGN_IN_METHOD");
        assert_eq!(session(&app, &acme, "acme").await.user_id, ada.user_id);
    }

    async fn verified_address_is_a_way_in_while_sign_in_by_mail_is_on(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;

        app.with_session(&ada).delete("/api/auth/identities/acme").send().await.expect(200);
    }

    with(|b| b.no_mail_transport())
    async fn address_is_no_way_in_without_a_mail_transport(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;

        let unlink = app.with_session(&ada).delete("/api/auth/identities/acme").send().await;

        unlink.refused(409, "LAST_SIGN_IN_METHOD");
    }

    with(|b| b.email_sign_in(EmailSignIn::Off))
    async fn identity_of_a_provider_that_was_removed_is_no_way_in(app) {
        let (acme, other) = (acme(&app).await, provider(&app, "other").await);
        let ada = session(&app, &acme, "acme").await;
        let ada = app.with_session(&ada);
        let code = link_code(&ada, &other, "other").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        app.admin().delete("/api/auth/oauth/custom/other/config").send().await.expect(200);

        ada.delete("/api/auth/identities/acme").send().await.refused(409, "LAST_SIGN_IN_METHOD");
        ada.delete("/api/auth/identities/other").send().await.expect(200);
    }

    with(|b| b.email_sign_in(EmailSignIn::Off))
    async fn one_of_two_identities_of_a_provider_can_be_unlinked(app) {
        let acme = acme(&app).await;
        acme.person(person("work", "ada@work.example"));
        let ada = session(&app, &acme, "acme").await;
        let ada = app.with_session(&ada);
        acme.person(person("home", "ada@home.example"));
        let code = link_code(&ada, &acme, "acme").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        ada.delete("/api/auth/identities/acme").send().await.refused(409, "LAST_SIGN_IN_METHOD");

        ada.delete("/api/auth/identities/acme").query("subject", "work").send().await.expect(200);

        let left = ada.get("/api/auth/identities").send().await.expect(200);
        assert_eq!(left["identities"].as_array().unwrap().len(), 1);
        assert_eq!(left["identities"][0]["subject"], "home");
        sign_in(&app, &acme, "acme").await.expect(200);
    }

    async fn link_and_unlink_are_audited(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);
        bob.delete("/api/auth/identities/acme").send().await.expect(200);

        let audit = app.admin().get("/api/auth/audit").send().await.expect(200);
        let events: Vec<_> =
            audit["data"].as_array().unwrap().iter().map(|event| event["event"].to_string()).collect();

        let has = |part: &str| events.iter().any(|event| event.contains(part));
        assert!(has("unlink") && events.iter().filter(|event| event.contains("link")).count() == 2, "{events:?}");
    }

    parallel with(|b| b.email_sign_in(EmailSignIn::Off))
    async fn racing_unlinks_leave_a_way_in(app) {
        let (acme, other) = (acme(&app).await, provider(&app, "other").await);
        let first = session(&app, &acme, "acme").await;
        let ada = app.with_session(&first);
        let code = link_code(&ada, &other, "other").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);

        let unlinks = ["acme", "other"].map(|key| {
            let request = ada.delete(&format!("/api/auth/identities/{key}"));
            tokio::spawn(async move { request.send().await.status })
        });
        for unlink in unlinks {
            unlink.await.unwrap();
        }

        assert_eq!(identities(&ada).await.len(), 1);
    }
}
