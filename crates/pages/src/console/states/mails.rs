//! Sample states of the mails.

use latchkey_domain::mail_kind::MailKind;

use super::users::choices;
use super::{State, ago, form, later, link, middle, whole};
use crate::console::views::{MailFate, MailRow, Mails};
use crate::console::{Notice, Place, Role};
use crate::states::Person;

pub(super) fn states(person: &Person) -> Vec<State> {
    let fates = |chosen| vec![choices("fate", &["queued", "sent", "dead"], chosen)];
    let full = || Mails {
        filters: fates("dead"),
        to: person.email.clone(),
        clear: Some("/console/mails".to_owned()),
        waiting: 3,
        dead: 1,
        transport: "smtp".to_owned(),
        list: middle(all(person, true), "/console/mails"),
    };
    let first = || Mails {
        filters: fates(""),
        to: String::new(),
        clear: None,
        waiting: 0,
        dead: 0,
        list: whole(Vec::new()),
        ..full()
    };
    let page = |name, view| State::inside(name, person, Place::Mails, view);
    vec![
        page("console.mails", Mails { list: whole(rows(person, true)), waiting: 1, dead: 1, ..first() }),
        page("console.mails.filtered", full()),
        page("console.mails.retried", full()).after(Notice::MailRetried),
        page("console.mails.no_match", Mails { list: whole(Vec::new()), ..full() }),
        page("console.mails.empty", first()),
        page("console.mails.viewer", Mails { list: whole(rows(person, false)), ..first() })
            .by(person, Role::Viewer),
    ]
}

/// Returns a mail of each fate.
pub(super) fn rows(person: &Person, may_retry: bool) -> Vec<MailRow> {
    all(person, may_retry).into_iter().take(4).collect()
}

fn all(person: &Person, may_retry: bool) -> Vec<MailRow> {
    let row = |(index, kind): (u8, &MailKind)| {
        let fate = MailFate::ALL[usize::from(index) % MailFate::ALL.len()];
        let hours = u64::from(index);
        MailRow {
            id: format!("m{index}"),
            kind: *kind,
            to: person.email.clone(),
            person: Some(link(person, index)),
            fate,
            written: ago(hours + 1),
            at: Some(if fate == MailFate::Queued { later(1) } else { ago(hours) }),
            attempts: if fate == MailFate::Sent { 1 } else { 5 },
            reason: (fate != MailFate::Sent).then(|| format!("550 5.1.1 {}", person.thing)),
            retry: (may_retry && fate == MailFate::Dead).then(|| form("/console/mails?act=retry")),
        }
    };
    (0..).zip(MailKind::ALL).map(row).collect()
}
