//! Tests of security notifications to the owner, and of changes made with a leaked access token.

use latchkey_testkit::{Mail, Session, TestApp, User, both_stores, json, seconds};

use crate::email_calls::{NEW_PASSWORD, reset, reset_token};
use crate::oauth_calls::{VERIFIER, acme, exchange, identities, link_code, person, provider, session};

const ADA: &str = "ada@example.org";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Mails to an address, without the first one, which has the sign-up code.
async fn notifications(app: &TestApp, address: &str) -> Vec<Mail> {
    app.run_jobs().await;
    app.mail().all(address).split_off(1)
}

fn subjects(mails: &[Mail]) -> Vec<&str> {
    mails.iter().map(|mail| mail.subject.as_str()).collect()
}

async fn link_acme(app: &TestApp, user: &User) {
    let acme = acme(app).await;
    let code = link_code(user, &acme, "acme").await;
    exchange(user, &code, VERIFIER).header("user-agent", FIREFOX).send().await.expect(200);
}

async fn change_password(user: &User) {
    let body = json!({"currentPassword": user.password, "newPassword": NEW_PASSWORD});
    user.post("/api/auth/password", body).send().await.expect(200);
}

async fn reset_password(app: &TestApp, email: &str) {
    let token = reset_token(app, email).await;
    reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);
}

both_stores! {
    with(|b| b.verification_by_code().notifying())
    async fn linking_is_notified_with_time_device_and_address(app) {
        let ada = app.user("ada").await;

        link_acme(&app, &ada).await;

        let mails = notifications(&app, ADA).await;
        assert_eq!(subjects(&mails), ["A new way to sign in to Latchkey"]);
        for body in [&mails[0].text, &mails[0].html] {
            for part in [" with Acme", "2026-03-02 10:00 UTC", "Firefox on Linux", "198.18."] {
                assert!(body.contains(part), "{part}: {body}");
            }
            assert!(!body.contains("Mozilla"), "{body}");
        }
    }

    with(|b| b.verification_by_code().notifying())
    async fn unlinking_is_notified(app) {
        let ada = app.user("ada").await;
        link_acme(&app, &ada).await;

        ada.delete("/api/auth/identities/acme").send().await.expect(200);

        let expected = ["A new way to sign in to Latchkey", "A way to sign in to Latchkey was removed"];
        assert_eq!(subjects(&notifications(&app, ADA).await), expected);
    }

    with(|b| b.verification_by_code().notifying())
    async fn identity_linked_by_its_address_is_notified(app) {
        let _ada = app.user("ada").await;
        let acme = acme(&app).await;

        session(&app, &acme, "acme").await;
        session(&app, &acme, "acme").await;

        let mails = notifications(&app, ADA).await;
        let mut subjects = subjects(&mails);
        subjects.sort_unstable();
        assert_eq!(subjects, ["A new way to sign in to Latchkey", "New sign-in to Latchkey"]);
    }

    with(|b| b.verification_by_code().notifying())
    async fn changed_password_is_notified(app) {
        let ada = app.user("ada").await;

        change_password(&ada).await;

        let mails = notifications(&app, ADA).await;
        assert_eq!(subjects(&mails), ["Your password for Latchkey was changed"]);
        assert!(mails[0].text.contains("Unknown device"), "{}", mails[0].text);
    }

    with(|b| b.verification_by_code().notifying())
    async fn reset_password_is_notified(app) {
        let _ada = app.user("ada").await;

        reset_password(&app, ADA).await;

        let mails = notifications(&app, ADA).await;
        assert_eq!(subjects(&mails)[1..], ["Your password for Latchkey was reset"]);
    }

    with(|b| b.verification_by_code().notifying())
    async fn changed_address_is_notified_to_the_old_one_without_the_admins_address(app) {
        let ada = app.user("ada").await;

        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"email": "countess@example.org"})).send().await.expect(200);

        let mails = notifications(&app, ADA).await;
        assert_eq!(subjects(&mails), ["Your account at Latchkey has another email address"]);
        assert!(mails[0].prose().contains("by an administrator") && !mails[0].text.contains("countess"));
        assert!(!mails[0].text.contains("Device:") && !mails[0].text.contains("IP address:"), "{}", mails[0].text);
        assert_eq!(app.mail().count("countess@example.org"), 0);
    }

    with(|b| b.verification_by_code().notifying())
    async fn session_ended_by_reuse_is_notified(app) {
        let ada = app.user_on("ada", "server").await;
        let second = Session::of(&ada.refreshed().await);
        app.anon().refresh(&second).send().await.expect(200);
        app.clock.advance(seconds(31));

        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");

        assert_eq!(subjects(&notifications(&app, ADA).await), ["You were signed out of Latchkey for safety"]);
    }

    with(|b| b.notifying())
    async fn unverified_address_gets_no_notification(app) {
        let ada = app.user("ada").await;

        link_acme(&app, &ada).await;
        change_password(&ada).await;

        app.run_jobs().await;
        assert_eq!(app.mail().count(ADA), 0);
    }

    with(|b| b.verification_by_code())
    async fn without_the_setting_no_notification_is_sent(app) {
        let ada = app.user("ada").await;

        link_acme(&app, &ada).await;
        change_password(&ada).await;

        assert_eq!(subjects(&notifications(&app, ADA).await), Vec::<&str>::new());
    }

    // The attacker has Ada's access token, and links an identity while the token is valid.
    with(|b| b.verification_by_code())
    async fn leaked_token_is_no_door_after_a_reset(app) {
        let ada = app.user("ada").await;
        let (mallorys, acme) = (provider(&app, "mallorys").await, acme(&app).await);
        let own = session(&app, &acme, "acme").await;
        assert_eq!(own.user_id, ada.id);
        mallorys.person(person("mallory", "mallory@example.org"));
        let code = link_code(&ada, &mallorys, "mallorys").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        let attacker = session(&app, &mallorys, "mallorys").await;
        assert_eq!(attacker.user_id, ada.id);

        reset_password(&app, ADA).await;

        app.with_session(&attacker).get("/api/auth/identities").send().await.refused(401, "AUTH_UNAUTHORIZED");
        assert_ne!(session(&app, &mallorys, "mallorys").await.user_id, ada.id);
        let again = Session::of(&app.anon().sign_in(ADA, NEW_PASSWORD).send().await);
        assert_eq!(identities(&app.with_session(&again)).await, ["acme"], "that of the own address stays");
        assert_eq!(session(&app, &acme, "acme").await.user_id, ada.id);
    }

    with(|b| b.verification_by_code())
    async fn leaked_token_is_no_door_after_unlinking(app) {
        let ada = app.user("ada").await;
        let mallorys = provider(&app, "mallorys").await;
        mallorys.person(person("mallory", "mallory@example.org"));
        let code = link_code(&ada, &mallorys, "mallorys").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        let attacker = session(&app, &mallorys, "mallorys").await;
        assert_eq!(attacker.user_id, ada.id);

        ada.delete("/api/auth/identities/mallorys").send().await.expect(200);

        app.with_session(&attacker).get("/api/auth/identities").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&attacker).send().await.refused(401, "AUTH_UNAUTHORIZED");
        assert_eq!(identities(&ada).await, Vec::<String>::new());
    }

    with(|b| b.verification_by_code())
    async fn session_that_unlinks_the_identity_that_opened_it_goes_on(app) {
        let ada = app.user("ada").await;
        let acme = acme(&app).await;
        let (caller, other) = (session(&app, &acme, "acme").await, session(&app, &acme, "acme").await);

        app.with_session(&caller).delete("/api/auth/identities/acme").send().await.expect(200);

        assert_eq!(identities(&app.with_session(&caller)).await, Vec::<String>::new());
        app.with_session(&other).get("/api/auth/identities").send().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.get("/api/auth/identities").send().await.expect(200);
    }
}
