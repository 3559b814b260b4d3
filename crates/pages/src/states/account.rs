//! Sample states of the pages of the own account: overview, profile, activity, data.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;

use super::{Person, State, ago, form, later};
use crate::message::{Fault, Notice, Wait};
use crate::views::{
    Account, AccountData, Activity, Conflict, Deleted, Deletion, Device, Event, Profile, ProfileFields,
    ProfileSummary, Session,
};

/// Kinds of events that the activity page never shows: they concern the whole service, or are
/// hidden from the owner.
const NOT_SHOWN: [AuditKind; 14] = [
    AuditKind::SignUpRepeated,
    AuditKind::SettingsChanged,
    AuditKind::ProviderTested,
    AuditKind::KeyRotated,
    AuditKind::DatabaseRestored,
    AuditKind::SecretRotated,
    AuditKind::AdminRefused,
    AuditKind::RequestLimited,
    AuditKind::UserRead,
    AuditKind::UsersExported,
    AuditKind::InstanceExported,
    AuditKind::ImportStarted,
    AuditKind::ImportUndone,
    AuditKind::OperatorRefused,
];

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = overview(person);
    states.extend(profile(person));
    states.extend(activity(person));
    states.extend(data());
    states = states.into_iter().map(|state| state.of(person)).collect();
    states.push(State::new("deleted", Deleted { deletion: Some(pending()) }));
    states.push(State::new("deleted.at_once", Deleted { deletion: None }));
    states
}

fn overview(person: &Person) -> Vec<State> {
    let plain = || Account {
        email: person.email.clone(),
        is_verified: true,
        change_email: Some("/auth/account/email".to_owned()),
        profile: Some(ProfileSummary { name: person.name.clone(), username: Some(person.username.clone()) }),
        has_password: true,
        passkeys: Some(2),
        two_step: Some(true),
        recovery_codes_left: 7,
        providers: Some(person.providers.clone()),
        sessions: sessions(person, 3),
        session_count: 5,
        end: form("/auth/account/sessions/end"),
    };
    let bare = || Account {
        has_password: false,
        passkeys: Some(0),
        two_step: Some(false),
        recovery_codes_left: 0,
        providers: Some(Vec::new()),
        sessions: sessions(person, 1),
        session_count: 1,
        ..plain()
    };
    let unverified = Account {
        is_verified: false,
        change_email: Some("/auth/verify".to_owned()),
        providers: None,
        passkeys: None,
        two_step: None,
        profile: Some(ProfileSummary { name: String::new(), username: None }),
        ..bare()
    };
    vec![
        State::new("account", plain()).ending(),
        State::new("account.no_password", bare()),
        State::new("account.one_step", Account { two_step: Some(false), ..plain() }),
        State::new("account.no_profile", Account { profile: None, ..plain() }),
        State::new("account.unverified", unverified),
        State::new("account.no_mail", Account { change_email: None, ..plain() }),
        State::new("account.kept", plain()).after(Notice::DeletionCancelled),
        State::new("account.email_verified", plain()).after(Notice::EmailVerified),
        State::new("account.email_changed", plain()).after(Notice::EmailChanged),
        State::new("account.email_change_cancelled", plain()).after(Notice::EmailChangeCancelled),
        State::new("account.password_changed", plain()).after(Notice::PasswordChanged),
    ]
}

fn pending() -> Deletion {
    Deletion { at: later(14 * 24), keep: form("/auth/account/data?act=keep") }
}

fn device(person: &Person) -> Device {
    Device { browser: Some(person.browser.clone()), system: Some(person.system.clone()) }
}

pub(super) fn sessions(person: &Person, count: u64) -> Vec<Session> {
    let session = |index: u64| {
        let (browser, system) = (Some(person.browser.clone()), Some(person.system.clone()));
        let devices = [
            device(person),
            Device { browser: None, system },
            Device { browser, system: None },
            Device::default(),
        ];
        let device = devices[usize::try_from(index % 4).unwrap_or_default()].clone();
        Session {
            id: format!("019a2b3c-4d5e-7f60-8a9b-{index:012}"),
            name: (index == 1).then(|| person.thing.clone()),
            device,
            last_seen: ago(index * index * 3),
            is_current: index == 0,
            is_pages: index.is_multiple_of(3),
        }
    };
    (0..count).map(session).collect()
}

fn profile(person: &Person) -> Vec<State> {
    let fields = || ProfileFields {
        name: person.name.clone(),
        username: person.username.clone(),
        bio: person.bio.clone(),
        avatar_url: person.avatar_url.clone(),
    };
    let plain = || Profile {
        form: form("/auth/account/profile"),
        version: "7".to_owned(),
        fields: fields(),
        longest_name: 100,
        longest_username: 32,
        longest_bio: 1_000,
        longest_avatar_url: 2_048,
        conflict: None,
    };
    let empty = String::new;
    let none = ProfileFields { name: empty(), username: empty(), bio: empty(), avatar_url: empty() };
    let conflict = Conflict { stored: fields(), discard: "/auth/account/profile".to_owned() };
    vec![
        State::new("profile", plain()),
        State::new("profile.new", Profile { version: String::new(), fields: none, ..plain() }),
        State::new("profile.saved", plain()).after(Notice::Saved),
        State::new("profile.not_kept", plain()).after(Notice::ConfirmedNotKept),
        State::new("profile.taken", plain()).at("username", Fault::UsernameTaken),
        State::new("profile.reserved", plain()).at("username", Fault::UsernameReserved),
        State::new("profile.invalid", plain())
            .at("username", Fault::InvalidUsername)
            .at("bio", Fault::TooLong { most: 1_000 })
            .at("avatar_url", Fault::InvalidUrl),
        State::new("profile.conflict", Profile { conflict: Some(conflict), ..plain() }).with(Fault::Conflict),
    ]
}

fn activity(person: &Person) -> Vec<State> {
    let kinds = || AuditKind::ALL.iter().copied().filter(|kind| !NOT_SHOWN.contains(kind));
    let event = |(index, kind): (u64, AuditKind)| Event {
        kind,
        at: ago(index * 2),
        device: (kind != AuditKind::UserBanned).then(|| device(person)),
        is_current: index == 0,
    };
    let page = |skipped, older: Option<&str>| {
        let events = (0..).zip(kinds().skip(skipped).take(20)).map(event).collect();
        Activity { events, older: older.map(str::to_owned) }
    };
    vec![
        State::new("activity", page(0, Some("/auth/account/activity?before=1"))),
        State::new("activity.older", page(20, Some("/auth/account/activity?before=2"))),
        State::new("activity.oldest", page(40, None)),
        State::new("activity.none", page(usize::MAX, None)),
    ]
}

fn data() -> Vec<State> {
    let days = |days: u64| Wait(Duration::from_hours(24 * days));
    let plain = || AccountData {
        export: form("/auth/account/data?act=export"),
        delete: form("/auth/account/data?act=delete"),
        grace: Some(days(14)),
    };
    vec![
        State::new("data", plain()),
        State::new("data.at_once", AccountData { grace: None, ..plain() }),
        State::new("data.sign_in_again", plain()).with(Fault::SignInAgain),
        State::new("data.last_owner", plain()).with(Fault::LastOwner),
        State::new("data.hours", AccountData { grace: Some(Wait(Duration::from_hours(36))), ..plain() }),
        State::new("data.confirmed", plain()).after(Notice::Confirmed),
    ]
}
