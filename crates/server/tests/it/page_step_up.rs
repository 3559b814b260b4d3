//! Tests of the ways in to a page session, and of what replaces its token: a step-up, a new password, two-step sign-in.

use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::codes::{EnteredCode, SixDigitCode};
use latchkey_domain::email::Email;
use latchkey_domain::password::Password;
use latchkey_domain::session::Level;
use latchkey_service::accounts::sign_up::{RedirectInput, SignUp, SignedUp};
use latchkey_service::challenges::Answered;
use latchkey_service::factors::{ConfirmedTotp, FactorEnroller};
use latchkey_service::mailbox::verify_email::VerificationProof;
use latchkey_service::oauth::exchange::Exchanged;
use latchkey_service::sessions::{Challenge, Credential, Entrance};
use latchkey_testkit::{Authenticator, PASSWORD, both_stores, minutes, seconds};

use crate::email_calls::{NEW_PASSWORD, sign_in_code};
use crate::oauth_calls::{VERIFIER, acme, code, person};
use crate::page_session_calls::{PageBrowser, answer, refused};

const ADA: &str = "ada@example.org";

impl PageBrowser<'_> {
    /// Begins a step-up of the page session.
    async fn reauthenticate(&self) -> Challenge {
        let page = self.live().await;
        let from = page.sign_in_client(self.client.clone());
        self.app.service().challenges.reauthenticate(&page, &from).await.unwrap()
    }

    /// Steps the page session up, and stores its new token.
    async fn step_up(&mut self, kind: ChallengeKind, text: &str) {
        let challenge = self.reauthenticate().await;
        let page = self.live().await;
        let from = page.sign_in_client(self.client.clone());
        let answered =
            self.app.service().challenges.answer(answer(challenge, kind, text), &page, &from).await;
        let Ok(Answered::Renewed(signed_in)) = answered else { panic!("no step-up") };
        self.renew(&signed_in);
    }

    /// True if the page session may make changes that need a recent sign-in.
    async fn is_fresh(&self) -> bool {
        let page = self.live().await;
        self.app.service().sessions.fresh(&page).await.is_ok()
    }
}

both_stores! {
    async fn sign_up_opens_a_page_session(app) {
        let mut browser = PageBrowser::new(&app);
        let sign_up = SignUp {
            email: Email::parse(ADA).unwrap(),
            password: Password::new(PASSWORD.to_owned()),
            name: None,
            redirect: RedirectInput::default(),
            browser: None,
            client: browser.asks().await,
        };

        let Ok(SignedUp::Entered(entrance)) = app.service().accounts.sign_up(sign_up).await else { panic!() };

        browser.take(entrance);
        assert_eq!(browser.live().await.user().email.as_typed(), ADA);
    }

    with(|b| b.verification_by_code())
    async fn verification_opens_a_page_session(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let code = app.mail_to(ADA).await.code();
        let mut browser = PageBrowser::new(&app);
        let proof = VerificationProof::Code(Email::parse(ADA).unwrap(), EnteredCode::parse(&code).unwrap());

        let from = browser.asks().await;
        let bearer = Credential::Bearer(None);
        browser.take(app.service().mailbox.verify_email(proof, bearer, from).await.unwrap());

        assert!(browser.live().await.user().email_verified);
    }

    async fn mailed_code_opens_a_page_session(app) {
        let code = EnteredCode::parse(&sign_in_code(&app, ADA).await).unwrap();
        let mut browser = PageBrowser::new(&app);

        let (email, from) = (Email::parse(ADA).unwrap(), browser.asks().await);
        browser.take(app.service().mailbox.sign_in_by_code(email, code, None, &from).await.unwrap());

        assert_eq!(browser.live().await.session().methods.to_stored(), "otp");
    }

    async fn provider_opens_a_page_session_that_ends_with_the_identity(app) {
        let acme = acme(&app).await;
        acme.person(person("ada at home", ADA));
        let code = code(&app, &acme, "acme").await;
        let mut browser = PageBrowser::new(&app);

        let from = browser.asks().await;
        let exchanged = app.service().oauth.exchange(&code, VERIFIER, Credential::Bearer(None), &from).await;
        let Ok(Exchanged::Entered(entrance)) = exchanged else { panic!("no entrance") };
        browser.take(entrance);

        assert_eq!(browser.live().await.session().methods.to_stored(), "fed");
    }

    with(|b| b.verification_by_code())
    async fn answered_challenge_opens_a_page_session_of_level_two(app) {
        let ada = app.two_step_user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in_in_two_steps(&ada).await;

        assert_eq!(browser.live().await.session().level, Level::Two);
        assert!(browser.is_fresh().await);
    }

    with(|b| b.verification_by_code())
    async fn challenge_of_the_pages_opens_no_app_session_and_the_other_way_round(app) {
        let ada = app.two_step_user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let Entrance::Challenged(challenge) = browser.enter(&ada.email, &ada.password).await else { panic!() };
        let by_app = app.anon().answer(&challenge.id.expose(), "totp", &ada.authenticator.code());
        by_app.send().await.refused(401, "INVALID_CHALLENGE");

        let id = ChallengeId::parse(&ada.challenged().await).unwrap();
        let of_app = Challenge { id, ..challenge };
        let answer = answer(of_app, ChallengeKind::Totp, &ada.authenticator.code());
        let from = browser.asks().await;
        let answered = app.service().challenges.answer(answer, Credential::Bearer(None), &from).await;
        refused(answered, "INVALID_CHALLENGE");
    }

    async fn step_up_makes_the_page_session_fresh_under_a_new_token(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let before = browser.sign_in(&ada).await;
        let old = browser.token.clone();
        app.clock.advance(minutes(11));
        assert!(!browser.is_fresh().await);

        browser.step_up(ChallengeKind::Password, &ada.password).await;

        assert!(browser.is_fresh().await);
        let after = browser.live().await;
        assert_eq!(after.session().id, before.session().id);
        assert_eq!(after.session().authenticated_at, before.session().authenticated_at.plus(minutes(11)));
        browser.token = old;
        assert!(browser.page().await.is_none());
    }

    with(|b| b.verification_by_code())
    async fn two_step_sign_in_turned_on_in_the_pages_opens_a_new_page_session(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;
        let old = browser.token.clone();
        let (factors, from) = (&app.service().factors, page.sign_in_client(browser.client.clone()));
        let fresh = app.service().sessions.fresh(&page).await.unwrap();
        let begun = factors.begin_totp(FactorEnroller::Fresh(fresh), None).await.unwrap();
        let authenticator = Authenticator::new(&begun.secret, &app.clock);

        let code = SixDigitCode::parse(&authenticator.code()).unwrap();
        let enroller = FactorEnroller::Session(page.caller());
        let confirmed = factors.confirm_totp(enroller, begun.factor_id, code, &from).await;
        let Ok(ConfirmedTotp::TurnedOn(on, _)) = confirmed else { panic!("not turned on") };
        browser.take_opened(on.opened);

        assert_eq!(browser.live().await.session().level, Level::Two);
        browser.token = old;
        assert!(browser.page().await.is_none());
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code())
    async fn step_up_by_a_second_factor_raises_the_page_session(app) {
        let ada = app.two_step_user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in_in_two_steps(&ada).await;
        app.clock.advance(minutes(11));
        assert!(!browser.is_fresh().await);

        browser.step_up(ChallengeKind::Totp, &ada.authenticator.code()).await;

        assert!(browser.is_fresh().await);
        assert_eq!(browser.live().await.session().methods.to_stored(), "pwd otp mfa");
    }

    async fn changed_password_replaces_the_token_and_ends_the_other_sessions(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;
        let old = browser.token.clone();
        app.clock.advance(seconds(1));

        let (current, new) = (Password::new(ada.password.clone()), Password::new(NEW_PASSWORD.to_owned()));
        let passwords = &app.service().passwords;
        browser.token = passwords.change(&page, current, new, browser.client.clone()).await.unwrap();

        assert_eq!(browser.live().await.session().id, page.session().id);
        browser.token = old;
        assert!(browser.page().await.is_none());
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn use_cases_of_the_signed_in_user_take_a_page_session(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;

        let account = app.service().factors.account(&page).await.unwrap();
        assert_eq!((account.user.email.as_typed(), account.level), (ada.email.as_str(), Level::One));
        assert_eq!(app.service().profiles.own(&page).await.unwrap().name.as_str(), "Ada");
        assert_eq!(app.service().sessions.list(page.caller()).await.unwrap().len(), 2);
        app.clock.advance(minutes(11));
        refused(app.service().sessions.fresh(&page).await, "REAUTHENTICATION_REQUIRED");
    }
}
