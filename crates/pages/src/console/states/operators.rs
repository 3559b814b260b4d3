//! Sample states of operators and signing keys.

use latchkey_domain::operator::OperatorState;

use super::{State, ago, form, later, link};
use crate::console::views::{
    ActivationLink, Grant, KeyState, OperatorRow, Operators, Signing, SigningKey, WaitingRow, WaitingState,
};
use crate::console::{Notice, Place, Refusal, Role};
use crate::message::Fault;
use crate::states::Person;

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = operators(person);
    states.extend(signing(person));
    states
}

fn operators(person: &Person) -> Vec<State> {
    let grant = |email: &str| Grant {
        form: form("/console/operators?act=grant"),
        email: email.to_owned(),
        roles: Role::ALL.to_vec(),
    };
    let full = || Operators {
        rows: (0..4).map(|index| row(person, index)).collect(),
        waiting: Vec::new(),
        grant: Some(grant("")),
        link: None,
    };
    let typed = || Operators { grant: Some(grant(&person.email)), ..full() };
    let with_link = || {
        let url = format!("https://auth.example.org/console/activate?token={}", "k3Jx".repeat(11));
        Operators {
            link: Some(ActivationLink { email: person.email.clone(), url, expires: later(0) }),
            ..full()
        }
    };
    let alone =
        Operators { rows: vec![OperatorRow { change: None, revoke: None, ..row(person, 3) }], ..full() };
    let waiting = |state| WaitingRow {
        email: person.email.clone(),
        state,
        person: (state != WaitingState::NoAccount).then(|| link(person, 5)),
        role: Role::Support,
        granted_by: Some(person.name.clone()),
        granted: ago(1),
        reactivate: Some(form("/console/operators?act=reactivate")),
        revoke: Some(form("/console/operators?act=revoke")),
    };
    let of_addresses =
        [WaitingState::NoAccount, WaitingState::Account, WaitingState::Unverified, WaitingState::Barred];
    let barred = (0..).zip(OperatorState::ALL);
    let barred = barred.map(|(index, state)| OperatorRow { state: *state, ..row(person, index) }).collect();
    let page = |name, view| State::inside(name, person, Place::Operators, view);
    vec![
        page("console.operators", full()),
        page(
            "console.operators.waiting",
            Operators { waiting: of_addresses.map(waiting).to_vec(), ..full() },
        ),
        page("console.operators.barred", Operators { rows: barred, ..full() }),
        page("console.operators.alone", alone),
        page("console.operators.link", with_link()).after(Notice::OperatorGranted),
        page("console.operators.changed", full()).after(Notice::OperatorChanged),
        page("console.operators.revoked", full()).after(Notice::OperatorRevoked),
        page("console.operators.refused", typed()).at("email", Fault::InvalidEmail),
        page("console.operators.last_owner", full()).with(Refusal::LastOwner),
    ]
}

fn row(person: &Person, index: u8) -> OperatorRow {
    let role = Role::ALL[usize::from(index) % Role::ALL.len()];
    OperatorRow {
        person: link(person, index),
        role,
        state: if index == 1 { OperatorState::Asleep } else { OperatorState::Active },
        granted_by: (index < 3).then(|| person.name.clone()),
        granted: ago(24 * 40 + u64::from(index)),
        last_seen: (index != 1).then(|| ago(u64::from(index))),
        factors: 2,
        change: Some(form("/console/operators?act=change")),
        reactivate: (index == 1).then(|| form("/console/operators?act=reactivate")),
        revoke: Some(form("/console/operators?act=revoke")),
    }
}

fn signing(person: &Person) -> Vec<State> {
    let key = |index: u64, state| SigningKey {
        id: format!("019a2b3c-4d5e-7f60-8a9b-{index:012}"),
        algorithm: "EdDSA".to_owned(),
        made: ago(24 * 30 * index),
        state,
        until: (state == KeyState::Retired).then(|| later(1)),
    };
    let full = || Signing {
        keys: vec![key(0, KeyState::Next), key(1, KeyState::Current), key(2, KeyState::Retired)],
        jwks: "https://auth.example.org/.well-known/jwks.json".to_owned(),
        rotate: Some("/console/signing/rotate".to_owned()),
    };
    let page = |name, view| State::inside(name, person, Place::Signing, view);
    vec![
        page("console.signing", Signing { keys: vec![key(1, KeyState::Current)], ..full() }),
        page("console.signing.rotated", full()).after(Notice::KeyReplaced),
    ]
}
