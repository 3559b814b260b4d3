//! Every page in every state, with sample values: for the preview, for the check of the operator's templates, and
//! for tests.

mod account;
mod credentials;
mod entrance;
mod factors;
mod mailbox;
mod person;

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use sha2::{Digest, Sha256};

pub use person::Person;

use crate::frame::{Ending, Form, Frame};
use crate::message::{Fault, Notice, Problem, Wait, When};
use crate::view::View;
use crate::views::{App, CodeForm, PasskeyForm, PasswordRules, ProviderLink, SendAgain};

/// The current time in all states: 4 May 2026, 10:02 UTC.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_777_888_920_000);

/// A page in a state.
pub struct State {
    /// Name of the page and of its state, such as `sign_in.wrong`.
    pub name: &'static str,
    pub frame: Frame,
    pub view: Box<dyn View>,
}

impl State {
    fn new(name: &'static str, view: impl View + 'static) -> Self {
        Self { name, frame: Frame::new("/auth/sign-in?flow=c2VhbGVk", When(NOW)), view: Box::new(view) }
    }

    fn with(mut self, fault: Fault) -> Self {
        self.frame.problems.push(Problem::whole(fault));
        self
    }

    fn at(mut self, field: &'static str, fault: Fault) -> Self {
        self.frame.problems.push(Problem::at(field, fault));
        self
    }

    fn after(mut self, notice: Notice) -> Self {
        self.frame.notice = Some(notice);
        self
    }

    fn ending(mut self) -> Self {
        self.frame.ending =
            Some(Ending { seconds: 1_800, stay: "/auth/sign-in?flow=c2VhbGVk&stay=1".to_owned() });
        self
    }

    /// Ends the state with what it is about, which nothing postpones.
    fn ending_for_good(mut self) -> Self {
        self.frame.ending = Some(Ending { seconds: 600, stay: String::new() });
        self
    }

    /// Turns the state into one of a signed-in account.
    fn of(mut self, person: &Person) -> Self {
        "/auth/account".clone_into(&mut self.frame.here);
        self.frame.account = Some(person.email.clone());
        self
    }
}

/// Returns all pages in all states, with the sample texts of a person.
#[must_use]
pub fn all(person: &Person) -> Vec<State> {
    let groups = [
        entrance::states(person),
        mailbox::states(person),
        factors::states(person),
        account::states(person),
        credentials::states(person),
    ];
    groups.into_iter().flatten().collect()
}

/// Returns a form with a token as long as a real one, which is that of its path alone.
pub(crate) fn form(path: &str) -> Form {
    let digest = Sha256::digest(path.split('?').next().unwrap_or_default());
    let token = hex::encode(digest)[..43].to_owned();
    Form { action: format!("{path}?flow=c2VhbGVk"), token }
}

pub(crate) fn seconds(seconds: u64) -> Wait {
    Wait(Duration::from_secs(seconds))
}

/// Returns a time some hours before [`NOW`].
pub(crate) fn ago(hours: u64) -> When {
    When(NOW.minus(Duration::from_hours(hours)))
}

/// Returns a time some hours after [`NOW`].
pub(crate) fn later(hours: u64) -> When {
    When(NOW.plus(Duration::from_hours(hours)))
}

fn app(person: &Person) -> App {
    App { host: person.app.clone(), leave: Some("/auth/leave?flow=c2VhbGVk".to_owned()) }
}

pub(crate) fn rules() -> PasswordRules {
    PasswordRules { least: 8, number: false, lowercase: false, uppercase: false, special: false }
}

pub(crate) fn providers(person: &Person) -> Vec<ProviderLink> {
    // The keys of the built-in providers are their names in small letters.
    let link = |name: &String| {
        ProviderLink::new(&name.to_lowercase(), name, "/auth/provider/example?flow=c2VhbGVk".to_owned())
    };
    person.providers.iter().map(link).collect()
}

pub(crate) fn passkey(path: &str) -> PasskeyForm {
    PasskeyForm {
        form: form(path),
        ceremony: "Y2VyZW1vbnk".to_owned(),
        options: r#"{"challenge":"Y2hhbGxlbmdl","rpId":"localhost","userVerification":"required"}"#
            .to_owned(),
        renew: Some("/auth/passkey-options".to_owned()),
    }
}

fn send_again(wait: Option<u64>) -> SendAgain {
    SendAgain { form: form("/auth/send"), wait: wait.map(seconds) }
}

fn code(person: &Person) -> CodeForm {
    CodeForm { form: form("/auth/code"), email: person.email.clone(), send: send_again(None) }
}
