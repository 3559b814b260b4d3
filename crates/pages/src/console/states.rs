//! Every page of the console in every state, with sample values: for the preview and for tests.

mod entrance;
mod events;
mod import;
mod mails;
mod operators;
mod other;
mod overview;
mod settings;
mod user;
mod users;

use super::frame::{Crumb, CrumbText, Frame, Operator, Place};
use super::message::{Fault, Notice, Problem};
use super::views::{ClientShown, Listing, PersonLink};
use crate::frame::{Ending, Form};
use crate::message::When;
use crate::states::{NOW, Person, ago, later, passkey, providers, rules, seconds};
use crate::view::View;
use crate::views::Device;
use latchkey_domain::operator::Role;
use latchkey_domain::user::UserId;

/// A page in a state.
pub struct State {
    /// Name of the page and of its state, such as `console.users.empty`.
    pub name: &'static str,
    pub frame: Frame,
    pub view: Box<dyn View>,
}

impl State {
    /// A page before the sign-in.
    fn outside(name: &'static str, view: impl View + 'static) -> Self {
        Self { name, frame: Frame::new(When(NOW)), view: Box::new(view) }
    }

    /// A page that an operator sees.
    fn inside(name: &'static str, person: &Person, place: Place, view: impl View + 'static) -> Self {
        let mut state = Self::outside(name, view).by(person, Role::Owner);
        state.frame.place = Some(place);
        state
    }

    /// Changes the role of the operator.
    fn by(mut self, person: &Person, role: Role) -> Self {
        let places = Place::ALL.iter().copied().filter(|place| role == Role::Owner || is_for_all(*place));
        self.frame.operator = Some(Operator {
            name: person.name.clone(),
            role,
            places: places.collect(),
            sign_out: form("/console/sign-out"),
        });
        self
    }

    fn below(mut self, text: CrumbText, href: &str) -> Self {
        self.frame.crumbs.push(Crumb { text, href: href.to_owned() });
        self
    }

    fn under(self, place: Place) -> Self {
        self.below(CrumbText::Place(place), place.path())
    }

    fn with(mut self, fault: impl Into<Fault>) -> Self {
        self.frame.problems.push(Problem::whole(fault));
        self
    }

    fn at(mut self, field: &'static str, fault: impl Into<Fault>) -> Self {
        self.frame.problems.push(Problem::at(field, fault));
        self
    }

    fn after(mut self, notice: Notice) -> Self {
        self.frame.notice = Some(notice);
        self
    }

    fn ending(mut self) -> Self {
        self.frame.ending = Some(Ending { seconds: 1_800, stay: "/console/users?stay=1".to_owned() });
        self
    }
}

/// True for places that every role may open.
const fn is_for_all(place: Place) -> bool {
    matches!(
        place,
        Place::Overview | Place::Users | Place::Sessions | Place::Mails | Place::Audit | Place::System
    )
}

/// Returns all pages of the console in all states, with the sample texts of a person.
#[must_use]
pub fn all(person: &Person) -> Vec<State> {
    let groups = [
        entrance::states(person),
        users::states(person),
        user::states(person),
        events::states(person),
        mails::states(person),
        import::states(person),
        overview::states(person),
        operators::states(person),
        settings::states(person),
        other::states(person),
    ];
    groups.into_iter().flatten().collect()
}

fn form(action: &str) -> Form {
    Form { action: action.to_owned(), token: "tPvQ4m3n0wYl5rTzq1cJ8hXk2uGdA7sEbVfC6iL9oRM".to_owned() }
}

fn user_id(index: u8) -> UserId {
    UserId::new(NOW, [index; 10])
}

fn client(person: &Person) -> ClientShown {
    let (browser, system) = (Some(person.browser.clone()), Some(person.system.clone()));
    ClientShown { device: Device { browser, system }, address: "2001:db8:85a3::8a2e:370:7334".to_owned() }
}

fn link(person: &Person, index: u8) -> PersonLink {
    PersonLink { id: user_id(index), email: Some(person.email.clone()) }
}

/// Returns a page in the middle of a long list.
fn middle<T>(rows: Vec<T>, path: &str) -> Listing<T> {
    Listing {
        rows,
        total: 12_345,
        previous: Some(format!("{path}?before=c2VhbGVk")),
        next: Some(format!("{path}?after=c2VhbGVk")),
    }
}

/// Returns a list of one page.
fn whole<T>(rows: Vec<T>) -> Listing<T> {
    let total = u64::try_from(rows.len()).unwrap_or_default();
    Listing { rows, total, previous: None, next: None }
}
