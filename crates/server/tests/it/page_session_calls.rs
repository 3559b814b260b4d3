//! Page sessions at the service: the steps of a browser that signs in on the pages.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::page_session::{BrowserSecret, PageToken};
use latchkey_domain::password::Password;
use latchkey_service::challenges::{Answer, Answered};
use latchkey_service::page_sessions::PageSignOut;
use latchkey_service::sessions::{
    Challenge, Credential, Entrance, KeepSignedIn, Opened, Opens, PageSession, PageSignIn, PageSignedIn,
    SignInClient,
};
use latchkey_testkit::{Browser, TestApp, TwoStepUser, User};

/// A browser on the pages: its secret, and the token of its page session.
pub(crate) struct PageBrowser<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) secret: BrowserSecret,
    pub(crate) token: Option<PageToken>,
    pub(crate) keep: KeepSignedIn,
    pub(crate) client: Client,
}

impl<'a> PageBrowser<'a> {
    pub(crate) fn new(app: &'a TestApp) -> Self {
        let client =
            Client::new(ClientAddress::new([203, 0, 113, 7].into()), Some("Firefox/140 (X11; Linux)"));
        let secret = BrowserSecret::new(app.service().random_bytes());
        Self { app, secret, token: None, keep: KeepSignedIn::Yes, client }
    }

    /// Page session of the browser at the next request; `None` if it has none.
    pub(crate) async fn page(&self) -> Option<PageSession> {
        self.page_on(self.app).await
    }

    /// Page session of the browser at the next request to this instance.
    pub(crate) async fn page_on(&self, app: &TestApp) -> Option<PageSession> {
        let token = self.token.as_ref()?;
        app.service().page_sessions.find(token, &self.secret, &self.client).await.unwrap()
    }

    /// Page session of the browser, which must have one.
    pub(crate) async fn live(&self) -> PageSession {
        self.page().await.expect("a page session")
    }

    /// Client of a sign-in that asks for a page session.
    pub(crate) async fn asks(&self) -> SignInClient {
        let current = self.page().await;
        let sign_in = PageSignIn::new(&self.secret, self.keep, current.as_ref());
        SignInClient { client: self.client.clone(), opens: Opens::Pages(sign_in) }
    }

    /// Signs in by password, up to the outcome.
    pub(crate) async fn enter(&mut self, email: &str, password: &str) -> Entrance {
        let (email, password) = (Email::parse(email).unwrap(), Password::new(password.to_owned()));
        let from = self.asks().await;
        self.app.service().passwords.sign_in(email, password, from).await.unwrap()
    }

    /// Signs a user in by password. Returns the page session.
    pub(crate) async fn sign_in(&mut self, user: &User) -> PageSession {
        let entrance = self.enter(&user.email, &user.password).await;
        self.take(entrance);
        self.live().await
    }

    /// Signs a user in by password and the code of the app.
    pub(crate) async fn sign_in_in_two_steps(&mut self, user: &TwoStepUser) {
        let Entrance::Challenged(challenge) = self.enter(&user.email, &user.password).await else {
            panic!("no challenge")
        };
        let from = self.asks().await;
        let answer = answer(challenge, ChallengeKind::Totp, &user.authenticator.code());
        let answered = self.app.service().challenges.answer(answer, Credential::Bearer(None), &from).await;
        let Ok(Answered::Entered(entrance)) = answered else { panic!("not entered") };
        self.take(entrance);
    }

    /// Stores the token of a sign-in that opened a page session.
    #[track_caller]
    pub(crate) fn take(&mut self, entrance: Entrance) {
        let Entrance::SignedIn(opened) = entrance else { panic!("a challenge") };
        self.take_opened(opened);
    }

    #[track_caller]
    pub(crate) fn take_opened(&mut self, opened: Opened) {
        let Opened::Pages(signed_in) = opened else { panic!("an app session") };
        self.renew(&signed_in);
    }

    pub(crate) fn renew(&mut self, signed_in: &PageSignedIn) {
        self.token = Some(signed_in.token.clone());
    }

    /// Browser of the test kit with the cookies of this one.
    pub(crate) fn on_pages(&self) -> Browser {
        let browser = self.app.browser().with_cookie("latchkey_browser_8700", self.secret.expose());
        let token = self.token.as_ref().expect("a page session").expose();
        browser.with_cookie("latchkey_pages_8700", token)
    }

    pub(crate) async fn sign_out(&self, what: PageSignOut) {
        let page = self.live().await;
        self.app.service().page_sessions.sign_out(&page, what, &self.client).await.unwrap();
    }
}

/// Answer to a challenge: a code, or the password.
pub(crate) fn answer(challenge: Challenge, kind: ChallengeKind, text: &str) -> Answer {
    let is_password = kind == ChallengeKind::Password;
    Answer {
        challenge: challenge.id,
        kind,
        code: (!is_password).then(|| text.to_owned()),
        password: is_password.then(|| Password::new(text.to_owned())),
        assertion: None,
    }
}

/// Fails unless the use case refused with this code.
#[track_caller]
pub(crate) fn refused<T>(outcome: latchkey_service::Result<T>, code: &str) {
    match outcome {
        Err(latchkey_service::Error::Refused(refusal)) => assert_eq!(refusal.name, code),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("not refused"),
    }
}
