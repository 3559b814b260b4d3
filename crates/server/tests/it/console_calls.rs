//! The console at the service: the steps of an operator's browser.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::operator::Role;
use latchkey_domain::page_session::{BrowserSecret, ConsoleToken};
use latchkey_domain::password::Password;
use latchkey_http::endpoints::auth::passkeys::options::CreationOptionsBody;
use latchkey_service::Result;
use latchkey_service::console::{ActivationLogin, ActivationStep, ConsoleEntrance};
use latchkey_service::passkeys::{Assertion, BegunRegistration, Registration};
use latchkey_service::sessions::{Challenge, ConsoleSession, ConsoleSignIn, ConsoleSignedIn};
use latchkey_testkit::{Passkey, TestApp, TestAppBuilder, TwoStepUser, User, Value, seconds};

use crate::operators::{grant, make_operator};
use crate::page_session_calls::answer;

/// A browser at the console: its secret, and the token of its console session.
pub(crate) struct ConsoleBrowser<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) secret: BrowserSecret,
    pub(crate) token: Option<ConsoleToken>,
    pub(crate) client: Client,
}

/// Settings of most facts: verified addresses, which two-step sign-in needs.
pub(crate) fn verified(builder: TestAppBuilder) -> TestAppBuilder {
    builder.verification_by_code()
}

/// The same in development: operators need no second factor.
pub(crate) fn without_factor(builder: TestAppBuilder) -> TestAppBuilder {
    verified(builder).config(|config| config.operators.require_second_factor = false)
}

/// Makes an operator with two-step sign-in, whose grant is active.
pub(crate) async fn operator(app: &TestApp, name: &str, role: Role) -> TwoStepUser {
    let user = app.two_step_user(name).await;
    make_operator(app, &user, role).await;
    user
}

pub(crate) fn password_of(user: &User) -> ActivationLogin {
    let email = Email::parse(&user.email).unwrap();
    ActivationLogin::Password { email, password: Password::new(user.password.clone()) }
}

impl<'a> ConsoleBrowser<'a> {
    pub(crate) fn new(app: &'a TestApp) -> Self {
        let client =
            Client::new(ClientAddress::new([203, 0, 113, 7].into()), Some("Firefox/140 (X11; Linux)"));
        Self { app, secret: BrowserSecret::new(app.service().random_bytes()), token: None, client }
    }

    /// Console session of the browser at the next request; `None` if it has none.
    pub(crate) async fn session(&self) -> Option<ConsoleSession> {
        self.session_on(self.app).await
    }

    /// Console session of the browser at the next request to this instance.
    pub(crate) async fn session_on(&self, app: &TestApp) -> Option<ConsoleSession> {
        let token = self.token.as_ref()?;
        app.service().console.find(token, &self.secret, &self.client).await.unwrap()
    }

    /// Console session of the browser, which must have one.
    pub(crate) async fn live(&self) -> ConsoleSession {
        self.session().await.expect("a console session")
    }

    pub(crate) async fn asks(&self) -> ConsoleSignIn {
        ConsoleSignIn::new(&self.secret, self.session().await.as_ref())
    }

    /// Signs in by password, up to the outcome.
    pub(crate) async fn enter(&self, email: &str, password: &str) -> Result<ConsoleEntrance> {
        let (email, password) = (Email::parse(email).unwrap(), Password::new(password.to_owned()));
        self.app.service().console.sign_in(email, password, self.asks().await, &self.client).await
    }

    /// Signs in by password, up to the challenge.
    pub(crate) async fn challenged(&self, user: &User) -> Challenge {
        let Ok(ConsoleEntrance::Challenged(challenge)) = self.enter(&user.email, &user.password).await else {
            panic!("no challenge")
        };
        challenge
    }

    pub(crate) async fn answer(
        &mut self,
        challenge: Challenge,
        kind: ChallengeKind,
        text: &str,
    ) -> Result<()> {
        let answer = answer(challenge, kind, text);
        let console = &self.app.service().console;
        let entrance = console.answer(answer, self.asks().await, &self.client).await?;
        self.take(entrance);
        Ok(())
    }

    /// Signs an operator in by password and the code of the app, and waits for the next code.
    pub(crate) async fn sign_in(&mut self, user: &TwoStepUser) -> ConsoleSession {
        let challenge = self.challenged(user).await;
        self.answer(challenge, ChallengeKind::Totp, &user.authenticator.code()).await.unwrap();
        self.app.clock.advance(seconds(30));
        self.live().await
    }

    /// Signs in by passkey, up to the outcome.
    pub(crate) async fn enter_by_passkey(&self, passkey: &mut Passkey) -> Result<ConsoleEntrance> {
        let begun = self.app.anon().begin_passkey_sign_in().await;
        let shown = assertion(&passkey.sign(&begun.options).to_json());
        let console = &self.app.service().console;
        console.sign_in_with_passkey(&begun.id, shown, self.asks().await, &self.client).await
    }

    /// Begins a step-up of the console session.
    pub(crate) async fn begin_step_up(&self) -> Challenge {
        let session = self.live().await;
        self.app.service().console.begin_step_up(&session, &self.client).await.unwrap()
    }

    /// Steps the console session up.
    pub(crate) async fn step_up(&mut self, kind: ChallengeKind, text: &str) -> Result<()> {
        let answer = answer(self.begin_step_up().await, kind, text);
        let session = self.live().await;
        let renewed = self.app.service().console.step_up(answer, &session, &self.client).await?;
        self.token = Some(renewed.token);
        Ok(())
    }

    pub(crate) async fn has_recent_factor(&self) -> bool {
        self.app.service().console.has_recent_factor(&self.live().await)
    }

    pub(crate) async fn begin_activation(
        &self,
        token: &str,
        login: ActivationLogin,
    ) -> Result<ActivationStep> {
        let console = &self.app.service().console;
        console.begin_activation(token, login, self.asks().await, &self.client).await
    }

    /// Activates the grant of a user with two-step sign-in by the code of the app.
    pub(crate) async fn activate(&mut self, user: &TwoStepUser, role: Role) {
        let token = grant(self.app, user, role).await;
        let Ok(ActivationStep::Challenged(challenge)) =
            self.begin_activation(&token, password_of(user)).await
        else {
            panic!("no challenge")
        };
        let answer = answer(challenge, ChallengeKind::Totp, &user.authenticator.code());
        let console = &self.app.service().console;
        let step = console.answer_activation(&token, answer, self.asks().await, &self.client).await;
        let Ok(ActivationStep::Activated(session)) = step else { panic!("not active") };
        self.take_session(*session);
        self.app.clock.advance(seconds(30));
    }

    #[track_caller]
    pub(crate) fn take(&mut self, entrance: ConsoleEntrance) {
        let ConsoleEntrance::SignedIn(signed_in) = entrance else { panic!("a challenge") };
        self.take_session(*signed_in);
    }

    pub(crate) fn take_session(&mut self, signed_in: ConsoleSignedIn) {
        self.token = Some(signed_in.token);
    }
}

fn assertion(credential: &Value) -> Assertion {
    let credential = credential.as_object().unwrap().clone();
    latchkey_http::endpoints::auth::passkeys::credential::assertion(credential).unwrap()
}

/// Registration of a new passkey, as a browser sends it.
pub(crate) fn registration(credential: &Value) -> Registration {
    let credential = credential.as_object().unwrap().clone();
    latchkey_http::endpoints::auth::passkeys::credential::registration(credential).unwrap()
}

/// Creation options as JSON, as the script of a page gets them.
pub(crate) fn options_of(begun: BegunRegistration) -> Value {
    serde_json::to_value(CreationOptionsBody::from(begun.options)).unwrap()
}
