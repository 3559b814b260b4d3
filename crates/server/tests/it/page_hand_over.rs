//! Tests of the way from the pages to an app: the code that a page session gives, and the app session that it opens.

use latchkey_service::page_sessions::{PageSignOut, TargetApp};
use latchkey_testkit::{Session, TestApp, both_stores, json, minutes, seconds};

use crate::oauth_calls::{CHALLENGE, VERIFIER, exchange};
use crate::page_session_calls::PageBrowser;
use crate::two_step_calls::{claims, set_policy};

const TARGET: &str = "http://localhost:3000/welcome";

const APP: TargetApp<'static> =
    TargetApp { redirect_uri: TARGET, code_challenge: CHALLENGE, state: Some("a state") };

impl PageBrowser<'_> {
    /// Code for the app, from the URL that the browser goes to.
    async fn code(&self) -> String {
        let page = self.live().await;
        let url = self.app.service().page_sessions.hand_over(&page, &APP).await.unwrap();
        let rest = url.strip_prefix("http://localhost:3000/welcome?service_code=").unwrap();
        rest.strip_suffix("&state=a+state").unwrap().to_owned()
    }

    /// Session of an app that the browser goes on to.
    async fn app_session(&self) -> Session {
        Session::of(&exchange(&self.app.anon(), &self.code().await, VERIFIER).send().await)
    }
}

async fn is_live(app: &TestApp, session: &Session) -> bool {
    app.with_session(session).get("/api/auth/sessions/current").send().await.status == 200
}

both_stores! {
    async fn app_gets_a_session_with_the_sign_in_of_the_page_session(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;
        app.clock.advance(minutes(20));

        let session = browser.app_session().await;

        let first = claims(&session.access_token);
        assert_eq!(first["auth_time"], page.session().authenticated_at.as_seconds());
        assert_eq!((&first["amr"], first.get("aal")), (&json!(["pwd"]), None));
        let again = app.anon().refresh(&session).send().await.expect(200);
        assert_eq!(claims(again["accessToken"].as_str().unwrap())["auth_time"], first["auth_time"]);
        let totp = app.with_session(&session).post("/api/auth/factors/totp", json!({})).send().await;
        totp.refused(403, "REAUTHENTICATION_REQUIRED");
        let events = app.with_session(&session).get("/api/auth/events").send().await.expect(200);
        assert_eq!(events["events"][0]["kind"], "sign_in");
    }

    async fn code_for_an_app_works_once_and_with_its_verifier(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;

        let code = browser.code().await;
        exchange(&app.anon(), &code, VERIFIER).send().await.expect(200);
        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        let code = browser.code().await;
        let wrong = "a".repeat(43);
        exchange(&app.anon(), &code, &wrong).send().await.refused(400, "INVALID_OAUTH_CODE");
        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        let code = browser.code().await;
        app.clock.advance(seconds(60));
        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    parallel
    async fn only_one_of_two_exchanges_gets_a_session(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        let (code, beside) = (browser.code().await, app.beside().await);

        let (here, there) = (app.anon(), beside.anon());
        let (one, two) = tokio::join!(exchange(&here, &code, VERIFIER).send(), exchange(&there, &code, VERIFIER).send());

        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
    }

    async fn code_is_refused_once_the_page_session_ended(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        let code = browser.code().await;
        browser.sign_out(PageSignOut::ThisSession).await;
        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        browser.sign_in(&ada).await;
        let code = browser.code().await;
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);
        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    async fn sign_out_ends_the_app_sessions_if_it_is_asked_to(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        let (first, second) = (browser.app_session().await, browser.app_session().await);
        browser.sign_out(PageSignOut::ThisSession).await;
        assert!(is_live(&app, &first).await && is_live(&app, &second).await);

        browser.sign_in(&ada).await;
        let third = browser.app_session().await;
        browser.sign_in(&ada).await;
        browser.sign_out(PageSignOut::WithApps).await;

        assert!(!is_live(&app, &third).await, "the next sign-in took it over");
        assert!(is_live(&app, &first).await);
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn target_that_is_not_allowed_gets_no_code(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;
        let pages = &app.service().page_sessions;

        for redirect_uri in ["https://evil.example/", "javascript:alert(1)", ""] {
            let foreign = TargetApp { redirect_uri, ..APP };
            assert!(pages.check_app(&foreign).is_err() && pages.give_up(&foreign).is_err(), "{redirect_uri}");
            assert!(pages.hand_over(&page, &foreign).await.is_err(), "{redirect_uri}");
        }
        assert!(pages.check_app(&TargetApp { code_challenge: "short", ..APP }).is_err());
        let given_up = pages.give_up(&APP).unwrap();
        assert_eq!(given_up, "http://localhost:3000/welcome?error=access_denied&state=a+state");
    }

    with(|b| b.verification_by_code())
    async fn code_of_one_factor_is_refused_once_two_are_required(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        let code = browser.code().await;
        set_policy(&app, "required").await;

        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        set_policy(&app, "optional").await;
        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    with(|b| b.verification_by_code())
    async fn app_gets_the_level_of_the_page_session(app) {
        let ada = app.two_step_user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in_in_two_steps(&ada).await;

        let session = browser.app_session().await;

        let claims = claims(&session.access_token);
        assert_eq!((&claims["aal"], &claims["amr"]), (&json!(2), &json!(["pwd", "otp", "mfa"])));
    }
}
