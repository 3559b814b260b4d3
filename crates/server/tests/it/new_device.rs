//! Tests of the mail about a sign-in on a new device or in a new network: when it is sent. The ways to sign in are in
//! `new_device_ways`.

use latchkey_testkit::{
    Answer, Mail, PASSWORD, Session, TestApp, TestAppBuilder, both_stores, days, hours, json, seconds,
};

use crate::email_calls::change_user;

pub(crate) const ADA: &str = "ada@example.org";
pub(crate) const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const CHROME: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36";
/// Address in another network than that of the users.
pub(crate) const ELSEWHERE: &str = "203.0.113.9";

pub(crate) fn notifying(builder: TestAppBuilder) -> TestAppBuilder {
    builder.verification_by_code().notifying()
}

/// Signs Ada in by password.
async fn sign_in(app: &TestApp, ip: &str, user_agent: &str) -> Answer {
    app.anon().at(ip).sign_in(ADA, PASSWORD).header("user-agent", user_agent).send().await
}

/// Mails about new devices to an address, oldest first.
pub(crate) async fn mails_to(app: &TestApp, address: &str) -> Vec<Mail> {
    app.run_jobs().await;
    let mut mails = app.mail().all(address);
    mails.retain(|mail| mail.subject == "New sign-in to Latchkey");
    mails
}

/// Number of mails about new devices to Ada.
pub(crate) async fn count(app: &TestApp) -> usize {
    mails_to(app, ADA).await.len()
}

both_stores! {
    with(notifying)
    async fn mail_tells_time_device_and_address_and_nothing_else_of_the_client(app) {
        let _ada = app.user("ada").await;
        app.clock.advance(hours(1));

        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);

        let mails = mails_to(&app, ADA).await;
        assert_eq!(mails.len(), 1);
        for part in ["Time: 2026-03-02 11:00 UTC", "Device: Firefox on Linux", "IP address: 203.0.113.9"] {
            assert!(mails[0].text.contains(part), "{part}: {:#?}", mails[0]);
        }
        assert!(!mails[0].text.contains("Mozilla") && !mails[0].html.contains("Mozilla"), "{:#?}", mails[0]);
    }

    with(notifying)
    async fn unknown_user_agent_is_an_unknown_device(app) {
        let _ada = app.user("ada").await;

        sign_in(&app, ELSEWHERE, "call +1 555 0100, https://evil.example").await.expect(200);

        let mails = mails_to(&app, ADA).await;
        assert!(mails[0].text.contains("Device: Unknown device"), "{:#?}", mails[0]);
        assert!(!mails[0].html.contains("555") && !mails[0].html.contains("evil"), "{:#?}", mails[0]);
    }

    with(notifying)
    async fn first_session_is_not_mailed(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let code = app.mail_to(ADA).await.code();
        app.anon().at(ELSEWHERE).verify(ADA, &code).header("user-agent", FIREFOX).send().await.expect(200);
        let made = json!({"email": "eve@example.org", "password": PASSWORD});
        app.admin().post("/api/auth/users", made).send().await.expect(200);
        change_user(&app, "eve@example.org", json!({"emailVerified": true})).await;
        app.anon().at(ELSEWHERE).sign_in("eve@example.org", PASSWORD).send().await.expect(200);

        assert_eq!((count(&app).await, mails_to(&app, "eve@example.org").await.len()), (0, 0));
    }

    with(notifying)
    async fn same_device_in_the_same_network_is_not_mailed(app) {
        let ada = app.user("ada").await;
        ada.sign_in_again().await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        app.clock.advance(days(2));

        let newer = FIREFOX.replace("140", "141");
        sign_in(&app, ELSEWHERE, &newer).await.expect(200);
        ada.sign_in_again().await;

        assert_eq!(count(&app).await, 1, "that of the first sign-in elsewhere");
    }

    with(notifying)
    async fn phone_that_roams_in_its_network_is_not_mailed(app) {
        let _ada = app.user("ada").await;
        let networks = [("203.0.113.9", "203.0.255.1", "203.1.113.9"), ("2001:db8:1::1", "2001:db8:ffff::2", "2001:db9:1::1")];
        for (number, (here, roaming, outside)) in networks.into_iter().enumerate() {
            sign_in(&app, here, FIREFOX).await.expect(200);
            app.clock.advance(days(2));

            sign_in(&app, roaming, FIREFOX).await.expect(200);

            assert_eq!(count(&app).await, 2 * number + 1, "{roaming}");
            sign_in(&app, outside, FIREFOX).await.expect(200);
            assert_eq!(count(&app).await, 2 * number + 2, "{outside}");
            app.clock.advance(days(2));
        }
    }

    with(notifying)
    async fn another_browser_in_the_same_network_is_mailed(app) {
        let _ada = app.user("ada").await;

        sign_in(&app, "198.18.0.99", FIREFOX).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(notifying)
    async fn device_and_network_count_together(app) {
        let _ada = app.user("ada").await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        app.clock.advance(days(1));
        sign_in(&app, "192.0.2.1", CHROME).await.expect(200);
        app.clock.advance(days(1));

        sign_in(&app, ELSEWHERE, CHROME).await.expect(200);

        assert_eq!(count(&app).await, 3);
    }

    with(notifying)
    async fn at_most_one_mail_is_sent_in_a_day(app) {
        let _ada = app.user("ada").await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        sign_in(&app, "192.0.2.1", FIREFOX).await.expect(200);
        app.clock.advance(days(1) - seconds(1));
        sign_in(&app, "192.0.2.1", CHROME).await.expect(200);
        assert_eq!(count(&app).await, 1);
        app.clock.advance(seconds(1));

        sign_in(&app, "192.0.2.1", FIREFOX).await.expect(200);
        assert_eq!(count(&app).await, 1, "it was seen, though not mailed");
        sign_in(&app, "198.51.100.1", FIREFOX).await.expect(200);

        assert_eq!(count(&app).await, 2);
    }

    with(notifying)
    async fn mail_of_a_clock_that_ran_ahead_silences_for_no_longer_than_two_days(app) {
        let _ada = app.user("ada").await;
        app.clock.leap(days(300));
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        app.clock.step_back(days(300));

        sign_in(&app, "192.0.2.1", FIREFOX).await.expect(200);

        assert_eq!(count(&app).await, 2);
    }

    with(notifying)
    async fn device_is_remembered_for_ninety_days(app) {
        let _ada = app.user("ada").await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        app.clock.advance(days(90) - seconds(1));
        assert_eq!(count(&app).await, 1);
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        assert_eq!(count(&app).await, 1);
        app.clock.advance(days(90));

        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);

        assert_eq!(count(&app).await, 2);
    }

    with(notifying)
    async fn session_that_is_refreshed_keeps_its_device_known(app) {
        let ada = app.user_on("ada", "server").await;
        let mut session = ada.session.clone();
        for _ in 0..4 {
            app.clock.advance(days(20));
            let refresh = ada.refresh(&session).without_header("authorization");
            session = Session::of(&refresh.send().await);
        }
        app.clock.advance(days(89));
        app.run_jobs().await;

        ada.sign_in_again().await;

        assert_eq!(count(&app).await, 0);
    }

    with(notifying)
    async fn network_that_a_session_moved_to_is_known(app) {
        let ada = app.user_on("ada", "server").await;
        let refresh = app.anon().at(ELSEWHERE).refresh(&ada.session).header("user-agent", FIREFOX);
        refresh.send().await.expect(200);

        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);

        assert_eq!(count(&app).await, 0);
    }

    with(notifying)
    async fn account_without_a_live_session_is_mailed_too(app) {
        let ada = app.user("ada").await;
        app.clock.advance(days(200));
        app.run_jobs().await;

        ada.sign_in_again().await;

        assert_eq!(count(&app).await, 1);
    }

    with(|b| b.verification_by_code())
    async fn without_the_setting_nothing_is_mailed_and_devices_are_remembered(mut app) {
        let _ada = app.user("ada").await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        assert_eq!(count(&app).await, 0);

        app.restart_with(TestAppBuilder::notifying).await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        assert_eq!(count(&app).await, 0);
        sign_in(&app, ELSEWHERE, CHROME).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(|b| b.notifying())
    async fn unverified_address_is_not_mailed(app) {
        let _ada = app.user("ada").await;
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);
        assert_eq!(count(&app).await, 0);
        change_user(&app, ADA, json!({"emailVerified": true})).await;

        sign_in(&app, ELSEWHERE, CHROME).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(notifying)
    async fn mail_goes_to_the_address_that_the_account_has(app) {
        let _ada = app.user("ada").await;
        change_user(&app, ADA, json!({"email": "countess@example.org", "emailVerified": true})).await;

        let countess = app.anon().at(ELSEWHERE).sign_in("countess@example.org", PASSWORD);
        countess.send().await.expect(200);

        assert_eq!((count(&app).await, mails_to(&app, "countess@example.org").await.len()), (0, 1));
    }

    with(|b| notifying(b).pages())
    async fn network_that_a_page_session_roamed_into_is_known(app) {
        let _ada = app.user("ada").await;
        let (browser, fields) = (app.browser(), [("email", ADA), ("password", PASSWORD), ("keep", "on")]);
        let page = browser.get("/auth/sign-in").await;
        browser.submit(&page, "/auth/sign-in", &fields).await;
        app.clock.advance(hours(20));
        browser.get("/auth/account").await.hosted(200);
        app.clock.advance(hours(20));
        let before = count(&app).await;

        browser.at(ELSEWHERE).with_header("user-agent", FIREFOX).get("/auth/account").await.hosted(200);
        sign_in(&app, ELSEWHERE, FIREFOX).await.expect(200);

        assert_eq!(count(&app).await, before);
    }
}
