//! Sample states of sessions, irreversible acts, and errors.

use latchkey_domain::session::SessionId;

use super::{State, ago, client, form, link, middle, seconds, user_id, whole};
use crate::console::views::{
    Again, ErrorCause, ErrorPage, Irreversible, IrreversibleAct, SessionRow, Sessions,
};
use crate::console::{CrumbText, Notice, Place, Refusal, Role};
use crate::states::{NOW, Person};

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = sessions(person);
    states.extend(irreversible(person));
    states.extend(errors(person));
    states
}

fn sessions(person: &Person) -> Vec<State> {
    let full = || Sessions {
        user: person.email.clone(),
        address: "2001:db8::/32".to_owned(),
        device: person.browser.clone(),
        clear: Some("/console/sessions".to_owned()),
        list: middle(rows(person, 50), "/console/sessions"),
        end: Some(form("/console/sessions?act=end")),
    };
    let first = || Sessions {
        user: String::new(),
        address: String::new(),
        device: String::new(),
        clear: None,
        ..full()
    };
    let page = |name, view| State::inside(name, person, Place::Sessions, view);
    vec![
        page("console.sessions", first()),
        page("console.sessions.filtered", full()),
        page("console.sessions.ended", Sessions { list: whole(rows(person, 3)), ..full() })
            .after(Notice::OneSessionEnded),
        page("console.sessions.no_match", Sessions { list: whole(Vec::new()), ..full() }),
        page("console.sessions.empty", Sessions { list: whole(Vec::new()), ..first() }),
        page("console.sessions.viewer", Sessions { end: None, ..first() }).by(person, Role::Viewer),
    ]
}

fn rows(person: &Person, count: u8) -> Vec<SessionRow> {
    let row = |index: u8| SessionRow {
        id: SessionId::new(NOW, [index; 10]),
        person: link(person, index),
        client: client(person),
        kind: ["app", "pages", "console"][usize::from(index % 3)],
        opened: ago(u64::from(index) * 9 + 1),
        last_seen: ago(u64::from(index)),
        can_end: index % 7 != 3,
    };
    (0..count).map(row).collect()
}

fn irreversible(person: &Person) -> Vec<State> {
    let of = |act, phrase: &str| Irreversible {
        act,
        form: form("/console/act"),
        phrase: phrase.to_owned(),
        cancel: "/console".to_owned(),
    };
    let delete = || of(IrreversibleAct::DeleteUser, &person.email);
    let below_user = |name, view| {
        let href = format!("/console/users/{}", user_id(0));
        State::inside(name, person, Place::Users, view)
            .under(Place::Users)
            .below(CrumbText::Name(person.email.clone()), &href)
    };
    let below = |name, place, view| State::inside(name, person, place, view).under(place);
    vec![
        below_user("console.delete", delete()),
        below_user("console.delete.not_confirmed", delete()).at("confirmation", Refusal::NotConfirmed),
        below("console.revoke_owner", Place::Operators, of(IrreversibleAct::RevokeOwner, &person.email)),
        below("console.demote_owner", Place::Operators, of(IrreversibleAct::DemoteOwner, &person.email)),
        below("console.rotate_key", Place::Signing, of(IrreversibleAct::RotateKey, "Example")),
    ]
}

fn errors(person: &Person) -> Vec<State> {
    let page = |cause| ErrorPage { cause, request_id: "01JT8Z6N3F".to_owned() };
    let inside = |name, cause| {
        let mut state = State::outside(name, page(cause)).by(person, Role::Support);
        state.frame.place = None;
        state
    };
    let wait = seconds(20);
    vec![
        inside("console.error.not_found", ErrorCause::NotFound),
        inside("console.error.bad_request", ErrorCause::BadRequest),
        inside("console.error.stale_form", ErrorCause::StaleForm),
        inside("console.error.not_allowed", ErrorCause::NotAllowed),
        inside("console.error.throttled", ErrorCause::Throttled { wait }),
        inside("console.error.busy", ErrorCause::Busy { wait }),
        inside("console.error.internal", ErrorCause::Internal),
        State::outside("console.error.outside", page(ErrorCause::NotFound)),
        State::outside("console.error.wrong_host", page(ErrorCause::WrongHost)),
        State::outside("console.again", Again { here: "#main".to_owned() }),
    ]
}
