//! Tests of the sign-in to the console: who is let in, and that nobody else learns anything.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::operator::Role;
use latchkey_service::console::ConsoleEntrance;
use latchkey_testkit::{both_stores, json, seconds};

use crate::audit::last;
use crate::console_calls::{ConsoleBrowser, operator, verified, without_factor};
use crate::operators::{grant, make_operator};
use crate::page_session_calls::{PageBrowser, answer, refused};

both_stores! {
    with(verified)
    async fn account_without_an_active_grant_gets_the_answer_of_a_wrong_password(app) {
        let (ada, bob, eve) = (
            operator(&app, "ada", Role::Owner).await,
            app.two_step_user("bob").await,
            app.two_step_user("eve").await,
        );
        let _ = grant(&app, &eve, Role::Owner).await;
        let browser = ConsoleBrowser::new(&app);

        for (email, password) in [
            (&*ada.email, "a wrong password"),
            (&bob.email, &bob.password),
            (&bob.email, "a wrong password"),
            (&eve.email, &eve.password),
            ("nobody@example.org", &bob.password),
        ] {
            refused(browser.enter(email, password).await, "INVALID_CREDENTIALS");
        }

        assert_eq!(last(&app, "sign_in_failed").await["userId"], json!(null));
        assert_eq!(browser.challenged(&ada).await.kinds, [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
    }

    with(|b| verified(b).limits())
    async fn right_password_without_a_grant_counts_like_a_wrong_one(app) {
        let bob = app.two_step_user("bob").await;
        let browser = ConsoleBrowser::new(&app);
        for _ in 0..10 {
            refused(browser.enter(&bob.email, &bob.password).await, "INVALID_CREDENTIALS");
        }

        let throttled = browser.enter(&bob.email, &bob.password).await;

        let Err(latchkey_service::Error::RefusedWith(refusal, _)) = throttled else { panic!("not throttled") };
        assert_eq!(refusal.name, "TOO_MANY_REQUESTS");
    }

    with(verified)
    async fn password_and_second_factor_open_a_console_session(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let challenge = browser.challenged(&ada).await;
        assert!(browser.session().await.is_none());

        browser.answer(challenge, ChallengeKind::RecoveryCode, &ada.recovery_codes[0]).await.unwrap();

        assert_eq!(browser.live().await.role(), Role::Owner);
        let event = last(&app, "sign_in").await;
        assert_eq!(event["details"]["session"], "console");
        assert_eq!(event["userId"], json!(ada.id));
    }

    with(verified)
    async fn passkey_opens_a_console_session_at_once(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        let mut browser = ConsoleBrowser::new(&app);

        let entrance = browser.enter_by_passkey(&mut passkey).await.unwrap();
        browser.take(entrance);

        assert!(browser.has_recent_factor().await);
    }

    with(verified)
    async fn passkey_without_an_active_grant_opens_nothing(app) {
        let bob = app.two_step_user("bob").await;
        let (mut passkey, _) = bob.add_passkey(&app.phone()).await;
        let browser = ConsoleBrowser::new(&app);

        refused(browser.enter_by_passkey(&mut passkey).await, "INVALID_PASSKEY");
        let _ = grant(&app, &bob, Role::Owner).await;
        refused(browser.enter_by_passkey(&mut passkey).await, "INVALID_PASSKEY");
    }

    with(without_factor)
    async fn passkey_is_asked_for_after_the_password_although_two_step_sign_in_is_off(app) {
        let ada = app.user("ada").await;
        make_operator(&app, &ada, Role::Owner).await;
        let _ = ada.add_passkey(&app.phone()).await;

        assert_eq!(ConsoleBrowser::new(&app).challenged(&ada).await.kinds, [ChallengeKind::Passkey]);
    }

    with(without_factor)
    async fn password_opens_the_console_in_development_where_there_is_no_factor(app) {
        let ada = app.user("ada").await;
        make_operator(&app, &ada, Role::Viewer).await;
        let mut browser = ConsoleBrowser::new(&app);

        let entrance = browser.enter(&ada.email, &ada.password).await.unwrap();
        browser.take(entrance);

        assert_eq!(browser.live().await.role(), Role::Viewer);
    }

    with(verified)
    async fn challenge_of_api_or_pages_opens_no_console_session(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut browser = ConsoleBrowser::new(&app);
        let mut pages = PageBrowser::new(&app);
        let latchkey_service::sessions::Entrance::Challenged(of_pages) =
            pages.enter(&ada.email, &ada.password).await
        else {
            panic!("no challenge")
        };
        refused(app.service().console.inspect(&of_pages.id).await, "INVALID_CHALLENGE");
        let code = ada.authenticator.code();

        refused(browser.answer(of_pages, ChallengeKind::Totp, &code).await, "INVALID_CHALLENGE");

        assert!(browser.session().await.is_none());
        let of_console = browser.challenged(&ada).await;
        let from = pages.asks().await;
        let answered = app.service().challenges.answer(
            answer(of_console, ChallengeKind::Totp, &code),
            latchkey_service::sessions::Credential::Bearer(None),
            &from,
        );
        refused(answered.await, "INVALID_CHALLENGE");
        assert!(pages.page().await.is_none());
    }

    with(verified)
    async fn challenge_of_the_console_opens_no_app_session(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let challenge = ConsoleBrowser::new(&app).challenged(&ada).await.id.expose();

        let answer = ada.answer(&challenge, "totp", &ada.authenticator.code());

        answer.without_header("authorization").send().await.refused(401, "INVALID_CHALLENGE");
    }

    with(verified)
    async fn token_of_the_console_is_no_page_session_and_the_other_way_round(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let mut console = ConsoleBrowser::new(&app);
        console.sign_in(&ada).await;
        let mut pages = PageBrowser::new(&app);
        pages.sign_in_in_two_steps(&ada).await;
        let token = |text: String| latchkey_domain::page_session::ConsoleToken::parse(&text);
        let of_pages = token(pages.token.as_ref().unwrap().expose());
        let of_console = latchkey_domain::page_session::PageToken::parse(&console.token.as_ref().unwrap().expose());

        let stray = ConsoleBrowser { token: of_pages, secret: pages.secret.clone(), ..ConsoleBrowser::new(&app) };
        assert!(stray.session().await.is_none());
        let stray = PageBrowser { token: of_console, secret: console.secret.clone(), ..PageBrowser::new(&app) };
        assert!(stray.page().await.is_none());
    }

    with(verified)
    async fn sign_in_replaces_the_console_session_of_the_browser(app) {
        let (ada, eve) = (operator(&app, "ada", Role::Owner).await, operator(&app, "eve", Role::Viewer).await);
        let mut browser = ConsoleBrowser::new(&app);
        browser.sign_in(&ada).await;
        let before = ConsoleBrowser { token: browser.token.clone(), secret: browser.secret.clone(), ..ConsoleBrowser::new(&app) };

        let session = browser.sign_in(&eve).await;

        assert_eq!(session.user().email.as_typed(), eve.email);
        assert!(before.session().await.is_none());
    }

    with(verified)
    async fn account_that_lost_its_grant_between_password_and_code_gets_no_session(app) {
        let _ = operator(&app, "owner", Role::Owner).await;
        let ada = operator(&app, "ada", Role::Admin).await;
        let mut browser = ConsoleBrowser::new(&app);
        let challenge = browser.challenged(&ada).await;
        let party = latchkey_domain::operator::Party::System;
        app.service().operators.revoke(ada.id.parse().unwrap(), false, party, None).await.unwrap();
        app.clock.advance(seconds(1));

        let _ = browser.answer(challenge, ChallengeKind::Totp, &ada.authenticator.code()).await;

        assert!(browser.session().await.is_none());
        assert!(!matches!(browser.enter(&ada.email, &ada.password).await, Ok(ConsoleEntrance::SignedIn(_))));
    }
}
