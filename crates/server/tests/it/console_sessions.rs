//! Tests of console sessions: how long they live, and what ends them.
#![expect(clippy::large_futures, reason = "each runs once, in a test")]

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::operator::{Act, Role};
use latchkey_testkit::{TestApp, TwoStepUser, both_stores, json, minutes, seconds};

use crate::console_calls::{ConsoleBrowser, operator, verified};
use crate::email_calls::NEW_PASSWORD;
use crate::operators::{activate, reactivated};

/// Asserts that the act ends the console session for the next request, on this instance and on another one.
async fn ends(app: &TestApp, ada: &TwoStepUser, act: impl AsyncFnOnce()) {
    let mut browser = ConsoleBrowser::new(app);
    browser.sign_in(ada).await;
    let other = app.beside().await;
    assert!(browser.session_on(&other).await.is_some());

    act().await;

    assert!(browser.session().await.is_none());
    assert!(browser.session_on(&other).await.is_none());
}

both_stores! {
    with(verified)
    async fn console_session_names_operator_and_role_in_its_browser_alone(app) {
        let ada = operator(&app, "ada", Role::Support).await;
        let mut browser = ConsoleBrowser::new(&app);

        let session = browser.sign_in(&ada).await;

        assert_eq!((session.user().email.as_typed(), session.role()), (&*ada.email, Role::Support));
        assert!(session.may(Act::Ban) && !session.may(Act::DeleteUsers));
        let mut other = ConsoleBrowser::new(&app);
        other.token.clone_from(&browser.token);
        assert!(other.session().await.is_none());
    }

    with(verified)
    async fn console_session_ends_after_half_an_hour_without_a_request_and_after_eight_hours(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        browser.sign_in(&ada).await;
        for _ in 0..16 {
            app.clock.advance(minutes(29));
            assert!(browser.session().await.is_some());
        }
        app.clock.advance(minutes(16));
        assert!(browser.session().await.is_none(), "480 minutes have passed");

        browser.sign_in(&ada).await;
        app.clock.advance(minutes(30) - seconds(31));
        assert!(browser.session().await.is_some(), "the clock is 30 s ahead of the sign-in");
        app.clock.advance(minutes(30));
        assert!(browser.session().await.is_none());
    }

    with(verified)
    async fn role_change_and_withdrawal_end_the_console_session(app) {
        let (owner, ada) =
            (operator(&app, "owner", Role::Owner).await, operator(&app, "ada", Role::Owner).await);
        let mut browser = ConsoleBrowser::new(&app);
        let party = browser.sign_in(&owner).await.party();
        let id = ada.id.parse().unwrap();
        let operators = &app.service().operators;

        ends(&app, &ada, async || {
            operators.grant(id, Role::Viewer, party, None).await.unwrap();
        })
        .await;
        ends(&app, &ada, async || {
            operators.revoke(id, false, party, None).await.unwrap();
        })
        .await;
        assert!(browser.session().await.is_some(), "the owner's own session goes on");
    }

    with(verified)
    async fn new_link_ends_the_console_session_and_its_use_does_not_revive_it(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        browser.sign_in(&ada).await;

        let token = reactivated(&app, &ada).await;
        assert!(browser.session().await.is_none());
        activate(&app, &ada.session.access_token, &token).await.unwrap();

        assert!(browser.session().await.is_none());
    }

    with(verified)
    async fn grant_that_falls_asleep_ends_the_console_session(app) {
        let ada = operator(&app, "ada", Role::Admin).await;
        ends(&app, &ada, async || {
            ada.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);
        })
        .await;
    }

    with(verified)
    async fn new_password_ends_the_console_session(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        ends(&app, &ada, async || {
            let body = json!({"currentPassword": ada.password, "newPassword": NEW_PASSWORD});
            ada.post("/api/auth/password", body).send().await.expect(200);
        })
        .await;
    }

    with(verified)
    async fn end_of_all_sessions_ends_the_console_session(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        ends(&app, &ada, async || {
            ada.delete("/api/auth/sessions?others=true").send().await.expect(200);
        })
        .await;
        ends(&app, &ada, async || {
            app.admin().delete(&format!("/api/auth/users/{}/sessions", ada.id)).send().await.expect(200);
        })
        .await;
    }

    with(|b| verified(b).config(|config| config.operators.protect = false))
    async fn ban_ends_the_console_session(app) {
        let _ = operator(&app, "owner", Role::Owner).await;
        let ada = operator(&app, "ada", Role::Admin).await;
        ends(&app, &ada, async || {
            let path = format!("/api/auth/users/{}", ada.id);
            app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);
            app.admin().patch(&path, json!({"banned": false})).send().await.expect(200);
        })
        .await;
    }

    with(verified)
    async fn sign_out_ends_the_console_session(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let session = browser.sign_in(&ada).await;

        app.service().console.sign_out(&session, &browser.client).await.unwrap();

        assert!(browser.session().await.is_none());
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(verified)
    async fn console_session_is_listed_under_its_name(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        ConsoleBrowser::new(&app).sign_in(&ada).await;

        let listed = ada.get("/api/auth/sessions?details=true").send().await.expect(200);

        assert_eq!(listed["sessions"][0]["name"], "Operator console");
    }

    with(verified)
    async fn step_up_renews_the_proof_for_ten_minutes_under_a_new_token(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let id = browser.sign_in(&ada).await.session().id;
        app.clock.advance(minutes(10) - seconds(30));
        assert!(browser.has_recent_factor().await);
        app.clock.advance(seconds(1));
        assert!(!browser.has_recent_factor().await);
        let before = ConsoleBrowser { token: browser.token.clone(), secret: browser.secret.clone(), ..ConsoleBrowser::new(&app) };

        assert!(browser.step_up(ChallengeKind::Totp, &ada.authenticator.wrong_code(0)).await.is_err());
        assert!(!browser.has_recent_factor().await);
        browser.step_up(ChallengeKind::Totp, &ada.authenticator.code()).await.unwrap();

        assert!(browser.has_recent_factor().await);
        assert_eq!(browser.live().await.session().id, id);
        assert!(before.session().await.is_none(), "the earlier token");
        app.clock.advance(minutes(10) + seconds(1));
        assert!(!browser.has_recent_factor().await);
    }

    with(verified)
    async fn step_up_takes_no_password_where_there_is_a_second_factor(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        browser.sign_in(&ada).await;

        assert_eq!(browser.begin_step_up().await.kinds, [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
        assert!(browser.step_up(ChallengeKind::Password, &ada.password).await.is_err());
    }

    with(crate::console_calls::without_factor)
    async fn operator_without_a_factor_proves_the_password(app) {
        let ada = app.user("ada").await;
        crate::operators::make_operator(&app, &ada, Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let entrance = browser.enter(&ada.email, &ada.password).await.unwrap();
        browser.take(entrance);
        app.clock.advance(minutes(11));
        assert!(!browser.has_recent_factor().await);

        browser.step_up(ChallengeKind::Password, &ada.password).await.unwrap();

        assert!(browser.has_recent_factor().await);
    }
}
