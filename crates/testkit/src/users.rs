//! Sign-up and sign-in of users in tests. Addresses are verified by the method in the settings, if they require it.

use std::ops::Deref;

use latchkey_service::settings::{EditableSettings, EmailMethod};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::app::TestApp;
use crate::builder::PASSWORD;
use crate::client::Client;
use crate::request::Request;
use crate::session::Session;

/// A signed-in user. Its requests carry the access token and come from a client address of their own, so that users
/// do not share rate limits.
pub struct User {
    client: Client,
    /// Id of the user.
    pub id: String,
    /// Email address, as entered at the sign-up.
    pub email: String,
    pub password: String,
    /// Tokens that the sign-up returned.
    pub session: Session,
}

impl Deref for User {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl User {
    /// Returns the same user with another session. Further requests of the user carry the access token of
    /// that session.
    #[must_use]
    pub fn continued_by(self, session: Session) -> Self {
        Self { client: self.client.clone().with_bearer(&session.access_token), session, ..self }
    }

    /// Builds and sends the call `refreshSession` with the tokens of the sign-up.
    pub async fn refreshed(&self) -> Answer {
        self.client.refresh(&self.session).without_header("authorization").send().await
    }

    /// Opens another session of the user, from the same client address.
    pub async fn sign_in_again(&self) -> Session {
        Session::of(
            &self.client.sign_in(&self.email, &self.password).without_header("authorization").send().await,
        )
    }
}

impl TestApp {
    /// Signs up a user with the address `NAME@example.org`, the display name and the default password, verifies the
    /// address if the settings require it, and returns the user. The client is a web client.
    pub async fn user(&self, name: &str) -> User {
        self.user_on(name, "web").await
    }

    /// Signs up a user like [`TestApp::user`], with another `client_type`.
    pub async fn user_on(&self, name: &str, client_type: &str) -> User {
        let number = self.next_number();
        // The block 198.18.0.0/15 is reserved for benchmarks (RFC 2544). No other test uses addresses from it.
        let client = self.anon().at(&format!("198.18.{}.{}", number / 250, number % 250 + 1));
        let email = format!("{name}@example.org");
        let settings = self.service().settings().values.clone();

        let answer = sign_up(&client, &email, name, &settings).client_type(client_type).send().await;
        let answer = if settings.require_email_verification {
            answer.expect(200);
            let proof = self.proof(&email, settings.verify_email_method).await;
            client.post("/api/auth/email/verify", proof).client_type(client_type).send().await
        } else {
            answer
        };

        let session = Session::of(&answer);
        let client = client.with_bearer(&session.access_token);
        User { client, id: session.user_id.clone(), email, password: PASSWORD.to_owned(), session }
    }

    /// Builds the body of `verifyEmail` with the code or token that was mailed.
    async fn proof(&self, email: &str, method: EmailMethod) -> Value {
        let mail = self.mail_to(email).await;
        match method {
            EmailMethod::Code => json!({"email": email, "otp": mail.code()}),
            EmailMethod::Link => json!({"otp": mail.token()}),
        }
    }
}

fn sign_up(client: &Client, email: &str, name: &str, settings: &EditableSettings) -> Request {
    let mut body = json!({"email": email, "password": PASSWORD, "name": capitalised(name)});
    let needs_target =
        settings.verify_email_method == EmailMethod::Link && settings.default_redirect_url.is_none();
    if settings.require_email_verification && needs_target {
        body["redirectTo"] = Value::from(allowed_target(&settings.allowed_redirect_urls));
    }
    client.post("/api/auth/users", body)
}

/// Returns a redirect target that the list allows: its first entry, with the wildcards replaced.
fn allowed_target(entries: &[String]) -> String {
    let first = entries.first().map_or("http://localhost:3000/done", String::as_str);
    first.replace("**", "done").replace('*', "one")
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
