//! Tests of what support and admins do to an account in the console.

use latchkey_domain::operator::Role;
use latchkey_testkit::{EmailSignIn, PASSWORD, TestApp, User, Value, both_stores, json, minutes, seconds};

use crate::audit_filters::found;
use crate::console_calls::{operator, verified};
use crate::console_user_calls::{audited, desk, desk_of, path_of};
use crate::email_calls::NEW_PASSWORD;
use crate::oauth_calls::{VERIFIER, acme, exchange, link_code, session};

async fn shown(app: &TestApp, user: &User) -> Value {
    app.admin().get(&format!("/api/auth/users/{}", user.id)).send().await.expect(200)
}

async fn kinds_of_mails(app: &TestApp, user: &User) -> Vec<String> {
    let mails = app.admin().get(&format!("/api/auth/users/{}/mails", user.id)).send().await.expect(200);
    let mails = mails["data"].as_array().unwrap();
    mails.iter().map(|mail| mail["kind"].as_str().unwrap().to_owned()).collect()
}

both_stores! {
    with(|b| verified(b).console())
    async fn all_sessions_end_and_one_session_ends(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);
        app.clock.advance(seconds(1));
        let second = ada.sign_in_again().await;
        let sessions = app.service().admin.list_sessions(ada.id.parse().unwrap()).await.unwrap();
        let first = sessions.iter().min_by_key(|session| session.created_at).unwrap().id.to_string();

        let page = support.acts(&ada, "end-one-session", &[("id", &first)]).await;

        assert!(page.hosted(200).contains("The session has ended.") && page.text().contains("1 live session"), "{page:?}");
        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&second).get("/api/profiles/me").send().await.expect(200);
        audited(&app, "session_ended", &support, &ada).await;

        let page = support.acts(&ada, "end-sessions", &[]).await;
        assert!(page.hosted(200).contains("Signed in nowhere."), "{page:?}");
        app.with_session(&second).get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        audited(&app, "sessions_ended", &support, &ada).await;
        assert!(!page.text().contains("act=end-sessions"), "there is nothing to end");
    }

    with(|b| verified(b).console().limits())
    async fn verification_and_reset_are_mailed_without_a_wait(app) {
        let support = desk(&app, "support", Role::Support).await;
        app.anon().sign_up("bob@example.org", PASSWORD).send().await.expect(200);
        app.run_jobs().await;
        let users = app.admin().get("/api/auth/users").query("search", "bob@").send().await.expect(200);
        let path = format!("/console/users/{}", users["data"][0]["id"].as_str().unwrap());

        let page = support.browser.get(&path).await;
        assert!(page.hosted(200).contains("address not verified since"), "{page:?}");
        let sent = support.browser.submit(&page, "act=send-verification", &[]).await;
        let page = support.browser.follow(&sent).await;

        assert!(page.hosted(200).contains("A mail to <bdi>bob@example.org</bdi> is on its way."), "{page:?}");
        let mail = app.mail_to("bob@example.org").await;
        assert!(!mail.text.contains("127.0.0.1"), "the mail names the operator's address: {mail:#?}");
        let proof = json!({"email": "bob@example.org", "otp": mail.code()});
        app.anon().post("/api/auth/email/verify", proof).send().await.expect(200);
        let page = support.browser.get(&path).await;
        assert!(!page.text().contains("act=send-verification"), "the address is verified: {page:?}");
        let sent = support.browser.submit(&page, "act=send-reset", &[]).await;
        support.browser.follow(&sent).await.hosted(200);
        assert_eq!(app.mail_to("bob@example.org").await.subject, "Your password reset code for Latchkey");
    }

    with(|b| verified(b).console().limits())
    async fn mails_to_one_mailbox_are_limited_all_the_same(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);
        for _ in 0..5 {
            support.acts(&ada, "send-reset", &[]).await.hosted(200);
        }

        let sixth = support.act(&ada, "send-reset", &[]).await;

        assert_eq!(sixth.status, 429, "{sixth:?}");
        support.acts(&ada, "lift-limits", &[]).await.hosted(200);
        audited(&app, "limits_lifted", &support, &ada).await;
        support.acts(&ada, "send-reset", &[]).await.hosted(200);
    }

    with(|b| verified(b).console())
    async fn account_is_banned_and_the_ban_is_lifted(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);

        let page = support.acts(&ada, "ban", &[]).await;

        assert!(page.hosted(200).contains("Cannot sign in: banned since"), "{page:?}");
        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        assert!(page.text().contains("Ada"), "the profile of a banned user is shown: {page:?}");
        audited(&app, "user_banned", &support, &ada).await;
        let page = support.acts(&ada, "unban", &[]).await;
        assert!(page.hosted(200).contains("The ban is lifted."), "{page:?}");
        ada.sign_in_again().await;
        audited(&app, "user_unbanned", &support, &ada).await;
    }

    with(|b| verified(b).console())
    async fn text_of_a_profile_is_removed_and_private_data_stays(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);
        let profile = json!({"bio": "Buy my coins", "username": "coins", "metadata": {"theme": "dark"}});
        ada.patch("/api/profiles/me", profile).send().await.expect(200);

        let page = support.acts(&ada, "remove-profile-text", &[]).await;

        assert!(page.hosted(200).contains("The text of the profile is removed."), "{page:?}");
        let own = ada.get("/api/profiles/me").send().await.expect(200);
        assert_eq!((&own["bio"], &own["username"], &own["name"]), (&Value::Null, &Value::Null, &json!("")));
        assert_eq!(own["metadata"], json!({"theme": "dark"}));
        audited(&app, "profile_cleared", &support, &ada).await;
        assert!(!page.text().contains("act=remove-profile-text"), "there is no text left: {page:?}");
    }

    with(|b| verified(b).console())
    async fn address_is_changed_and_marked_as_verified(app) {
        let (admin, ada, eve) =
            (desk(&app, "admin", Role::Admin).await, app.user("ada").await, app.user("eve").await);

        let taken = admin.act(&ada, "change-address", &[("email", "eve@example.org")]).await;
        assert!(taken.hosted(409).contains("There is an account with this address."), "{taken:?}");
        assert!(taken.text().contains("value=\"eve@example.org\""), "what was typed is kept: {taken:?}");
        admin.act(&ada, "change-address", &[("email", "no address")]).await.hosted(400);
        let page = admin.acts(&ada, "change-address", &[("email", "countess@example.org")]).await;

        assert!(page.hosted(200).contains("Not verified") && page.text().contains("countess@example.org"), "{page:?}");
        app.run_jobs().await;
        assert!(kinds_of_mails(&app, &ada).await.contains(&"email_changed".to_owned()));
        audited(&app, "email_changed", &admin, &ada).await;
        admin.acts(&ada, "mark-verified", &[]).await.hosted(200);
        assert_eq!(shown(&app, &ada).await["emailVerified"], true);
        let event = audited(&app, "user_updated", &admin, &ada).await;
        assert_eq!(event["details"], json!({"fields": ["emailVerified"]}));
        assert_eq!(shown(&app, &eve).await["email"], "eve@example.org");
    }

    with(|b| verified(b).console())
    async fn password_is_set_which_ends_sessions_and_is_mailed(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);

        let weak = admin.act(&ada, "set-password", &[("new_password", "short")]).await;
        assert!(weak.hosted(400).contains("new_password-fault"), "{weak:?}");
        assert!(!weak.text().contains("\"short\""), "a password is never shown again: {weak:?}");
        let page = admin.acts(&ada, "set-password", &[("new_password", NEW_PASSWORD)]).await;

        assert!(page.hosted(200).contains("The password is set."), "{page:?}");
        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await.expect(200);
        app.run_jobs().await;
        assert!(kinds_of_mails(&app, &ada).await.contains(&"password_replaced".to_owned()));
        audited(&app, "password_set", &admin, &ada).await;
    }

    with(|b| verified(b).console())
    async fn own_address_again_changes_nothing(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);
        let before = shown(&app, &ada).await;

        let page = admin.acts(&ada, "change-address", &[("email", &ada.email)]).await;
        assert!(page.hosted(200).contains("The account has this address already."), "{page:?}");
        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"email": ada.email})).send().await.expect(200);
        assert_eq!(shown(&app, &ada).await, before);
        assert!(found(&app, "event=email_changed").await.is_empty());

        let spelled = ada.email.replacen('a', "A", 1);
        let page = admin.acts(&ada, "change-address", &[("email", &spelled)]).await;
        assert!(page.hosted(200).contains("It does not have to be verified again."), "{page:?}");
        assert_eq!(shown(&app, &ada).await["emailVerified"], true);
    }

    with(|b| verified(b).console())
    async fn page_does_not_tell_of_a_mail_that_nobody_gets(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);
        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"emailVerified": false})).send().await.expect(200);

        let page = admin.acts(&ada, "set-password", &[("new_password", NEW_PASSWORD)]).await;

        assert!(page.hosted(200).contains("Nobody gets a mail"), "{page:?}");
        assert!(!kinds_of_mails(&app, &ada).await.contains(&"password_replaced".to_owned()));
    }

    with(|b| verified(b).console())
    async fn identity_that_is_not_there_is_not_told_as_unlinked(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);
        let owner = operator(&app, "owner", Role::Owner).await;

        let done = admin.forces_at(&path_of(&ada), "act=unlink&provider=acme&subject=1", &[]).await;
        let page = admin.browser.follow(&done).await;

        assert!(page.hosted(200).contains("The provider is not linked."), "{page:?}");
        admin.forces(&owner, "unlink", &[]).await.hosted(404);
        admin.forces_at(&path_of(&owner), "act=unlink&provider=acme&subject=1", &[]).await.hosted(403);
    }

    with(|b| verified(b).console().limits())
    async fn limit_that_is_used_up_is_named(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);
        for _ in 0..5 {
            support.acts(&ada, "send-reset", &[]).await.hosted(200);
        }

        let refused = support.act(&ada, "send-reset", &[]).await;

        assert!(refused.hosted(429).contains("The limit <bdi>"), "{refused:?}");
    }

    with(|b| verified(b).console())
    async fn metadata_are_checked_and_kept_as_typed(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(32), "]".repeat(32));

        for (text, line) in [
            ("{\r\n\"plan\": }", 2),
            ("[1]", 1),
            ("", 1),
            ("{} {}", 1),
            ("{\"plan\": 1,\n\n\"plan\": 2}", 3),
            ("{\n\"plan\": \"\\u0000\"}", 2),
            (deep.as_str(), 1),
        ] {
            let refused = admin.act(&ada, "save-metadata", &[("metadata", text)]).await;
            let expected = format!("The first error is in line {line}.");
            assert!(refused.hosted(400).contains(&expected), "{text}: {refused:?}");
        }
        let refused = admin.act(&ada, "save-metadata", &[("metadata", "{\"plan\": \"</textarea>")]).await;
        assert!(refused.hosted(400).contains("{&quot;plan&quot;: &quot;&lt;"), "{refused:?}");
        let large = format!("{{\"a\": \"{}\"}}", "x".repeat(17 * 1024));
        admin.act(&ada, "save-metadata", &[("metadata", &large)]).await.hosted(400);
        assert_eq!(shown(&app, &ada).await["metadata"], json!({}));

        let page = admin.acts(&ada, "save-metadata", &[("metadata", "{\"plan\": \"pro\"}")]).await;
        assert!(page.hosted(200).contains("The metadata are saved."), "{page:?}");
        assert_eq!(shown(&app, &ada).await["metadata"], json!({"plan": "pro"}));
        let event = audited(&app, "user_updated", &admin, &ada).await;
        assert_eq!(event["details"], json!({"fields": ["metadata"]}));
    }

    with(|b| verified(b).console())
    async fn passkey_and_all_factors_are_removed_with_a_mail(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.two_step_user("ada").await);
        ada.add_passkey(&app.phone()).await;
        let (_, kept) = ada.add_passkey(&app.phone()).await;
        let path = format!("/api/auth/users/{}/factors", ada.id);

        // The form names the first passkey.
        let page = admin.acts(&ada, "remove-passkey", &[]).await;

        assert!(page.hosted(200).contains("The passkey is removed."), "{page:?}");
        let factors = app.admin().get(&path).send().await.expect(200);
        assert_eq!(factors["passkeys"].as_array().unwrap().len(), 1, "{factors}");
        assert_eq!((&factors["passkeys"][0]["id"], &factors["twoStep"]), (&json!(kept), &json!(true)));
        audited(&app, "passkey_removed", &admin, &ada).await;

        let page = admin.acts(&ada, "remove-factors", &[]).await;
        assert!(page.hosted(200).contains("All second factors and passkeys are removed"), "{page:?}");
        let factors = app.admin().get(&path).send().await.expect(200);
        assert_eq!(factors, json!({"twoStep": false, "totp": [], "passkeys": [], "recoveryCodesLeft": 0}));
        app.run_jobs().await;
        let kinds = kinds_of_mails(&app, &ada).await;
        assert!(kinds.contains(&"factors_reset".to_owned()) && kinds.contains(&"passkey_removed".to_owned()));
        audited(&app, "factors_reset", &admin, &ada).await;
    }

    with(|b| verified(b).console().email_sign_in(EmailSignIn::Off))
    async fn identity_is_unlinked_but_not_the_last_way_in(app) {
        let acme = acme(&app).await;
        let (admin, bob) = (desk(&app, "admin", Role::Admin).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);

        let page = admin.acts(&bob, "unlink", &[]).await;

        assert!(page.hosted(200).contains("The provider is unlinked."), "{page:?}");
        assert_eq!(shown(&app, &bob).await["providers"], json!(["email"]));
        audited(&app, "identity_unlinked", &admin, &bob).await;
        let eve = session(&app, &acme, "acme").await;
        let path = format!("/console/users/{}", eve.user_id);
        let page = admin.browser.get(&path).await;
        let last = admin.browser.submit(&page, "act=unlink", &[]).await;
        assert!(last.hosted(409).contains("This is the last way to sign in to this account."), "{last:?}");
    }

    with(|b| verified(b).console())
    async fn account_is_deleted_once_its_address_was_typed(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);

        let refused = admin.act(&ada, "delete", &[("confirmation", "ada@example.com")]).await;
        assert!(refused.hosted(400).contains("Type it exactly as it is shown."), "{refused:?}");
        shown(&app, &ada).await;
        let done = admin.act(&ada, "delete", &[("confirmation", "ada@example.org")]).await;

        assert!(done.header("location").unwrap().starts_with("/console/users?told="), "{done:?}");
        app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
        audited(&app, "user_deleted", &admin, &ada).await;
        admin.page(&ada).await.hosted(404);
    }

    with(|b| verified(b).console())
    async fn deletion_of_the_owner_is_stopped(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);
        ada.delete("/api/auth/account").send().await.expect(200);

        let page = admin.page(&ada).await;
        assert!(page.hosted(200).contains("Deleted by its owner."), "{page:?}");
        let page = admin.acts(&ada, "keep", &[]).await;

        assert!(page.hosted(200).contains("The account stays."), "{page:?}");
        ada.sign_in_again().await;
        audited(&app, "deletion_cancelled", &admin, &ada).await;
    }

    with(|b| verified(b).console())
    async fn act_with_step_up_waits_for_the_factor_and_the_form_is_kept(app) {
        let operator = operator(&app, "admin", Role::Admin).await;
        let admin = desk_of(&app, &operator).await;
        let ada = app.user("ada").await;
        app.clock.advance(minutes(11));

        let asked = admin.act(&ada, "change-address", &[("email", "countess@example.org")]).await;

        assert!(asked.hosted(403).contains("This act needs a fresh proof."), "{asked:?}");
        assert_eq!(shown(&app, &ada).await["email"], "ada@example.org");
        let code = operator.authenticator.code();
        let done = admin.browser.submit(&asked, "/console/confirm", &[("code", &code)]).await;
        let page = admin.browser.follow(&done).await;
        assert!(page.hosted(200).contains("countess@example.org"), "{page:?}");
        assert_eq!(shown(&app, &ada).await["email"], "countess@example.org");
    }

    with(|b| verified(b).console())
    async fn acts_without_step_up_wait_for_nothing(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);
        app.clock.advance(minutes(11));

        for act in ["send-reset", "remove-profile-text", "end-sessions", "ban", "unban"] {
            support.acts(&ada, act, &[]).await.hosted(200);
        }
    }

    with(|b| verified(b).console())
    async fn change_of_another_operator_waits_for_a_recent_factor(app) {
        let (owner, other) = (desk(&app, "owner", Role::Owner).await, operator(&app, "other", Role::Support).await);
        app.clock.advance(minutes(11));

        owner.act(&other, "send-reset", &[]).await;
        for (act, fields) in [("ban", &[][..]), ("save-metadata", &[("metadata", "{\"plan\": \"pro\"}")])] {
            let asked = owner.act(&other, act, fields).await;
            assert!(asked.hosted(403).contains("This act needs a fresh proof."), "{act}: {asked:?}");
        }

        let shown = shown(&app, &other).await;
        assert_eq!((&shown["banned"], &shown["metadata"]), (&json!(false), &json!({})));
    }

    with(|b| verified(b).console())
    async fn unknown_user_act_or_id_changes_nothing(app) {
        let (admin, ada) = (desk(&app, "admin", Role::Admin).await, app.user("ada").await);

        admin.forces(&ada, "explode", &[]).await.hosted(400);
        admin.forces(&ada, "end-one-session", &[("id", "none")]).await.hosted(404);
        admin.forces(&ada, "remove-passkey", &[("id", "none")]).await.hosted(404);
        admin.forces(&ada, "retry-mail", &[("id", "none")]).await.hosted(404);

        ada.get("/api/profiles/me").send().await.expect(200);
    }
}
