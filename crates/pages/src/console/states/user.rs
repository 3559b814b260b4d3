//! Sample states of the page of one user.

use latchkey_domain::factors::FactorId;
use latchkey_domain::passkey::PasskeyId;
use latchkey_domain::session::SessionId;

use super::{State, ago, client, events, form, later, mails, rules, user_id};
use crate::console::views::{
    AccountState, Avatar, ChangeAddress, FactorRow, IdentityRow, LimitRow, Obstacle, OperatorMark,
    PublicProfile, SetPassword, UserActs, UserPage, UserSession, Ways,
};
use crate::console::{Notice, Place, Refusal, Role};
use crate::frame::{Address, Form};
use crate::message::Fault;
use crate::states::{NOW, Person};

const METADATA: &str = "{\n  \"plan\": \"pro\",\n  \"seats\": 5\n}";

pub(super) fn states(person: &Person) -> Vec<State> {
    let page = |name, view| State::inside(name, person, Place::Users, view).under(Place::Users);
    let owner = || full(person, Role::Owner);
    let mut states = vec![
        page("console.user", owner()).ending(),
        page("console.user.empty", empty(person)),
        page("console.user.viewer", full(person, Role::Viewer)).by(person, Role::Viewer),
        page("console.user.support", full(person, Role::Support)).by(person, Role::Support),
        page("console.user.admin", full(person, Role::Admin)).by(person, Role::Admin),
        page("console.user.operator", UserPage { operator: Some(operator(Role::Admin, false)), ..owner() }),
        page("console.user.protected", protected(person)).by(person, Role::Support),
        page(
            "console.user.refused_metadata",
            UserPage { metadata: "{\n  \"plan\": }".to_owned(), ..owner() },
        )
        .at("metadata", Refusal::InvalidMetadata { line: 2 }),
        page(
            "console.user.metadata_changed",
            UserPage { metadata_now: Some("{\n  \"plan\": \"free\"\n}".to_owned()), ..owner() },
        )
        .with(Refusal::MetadataChanged),
        page("console.user.refused_address", owner()).at("email", Refusal::AddressTaken),
        page("console.user.refused_password", owner()).at("new_password", Fault::TooCommon),
        page("console.user.not_confirmed", owner()).at("confirmation", Refusal::NotConfirmed),
        page("console.user.not_allowed", owner()).with(Refusal::NotAllowed),
        page("console.user.operator_protected", owner()).with(Refusal::OperatorProtected),
        page("console.user.last_owner", owner()).with(Refusal::LastOwner),
        page("console.user.changed", owner()).with(Refusal::Changed),
    ];
    states.extend(obstacles(person));
    states.extend(limited(person));
    states.extend(notices(person));
    states
}

fn full(person: &Person, role: Role) -> UserPage {
    UserPage {
        id: user_id(0),
        email: person.email.clone(),
        name: Some(person.name.clone()),
        state: AccountState::Verified,
        can_sign_in: true,
        obstacles: Vec::new(),
        operator: None,
        created: ago(24 * 70),
        last_sign_in: Some(ago(3)),
        ways: ways(person, role),
        sessions: (0..10).map(|index| session(person, index, role)).collect(),
        session_count: 37,
        all_sessions: "/console/sessions?user=ada".to_owned(),
        profile: Some(profile(person)),
        metadata: METADATA.to_owned(),
        metadata_seen: "0".repeat(32),
        metadata_now: None,
        mails: mails::rows(person, role >= Role::Support),
        limits: ["password sign-in, per account over all addresses", "mails per day"]
            .map(|name| LimitRow { name: name.to_owned(), until: Some(later(1)) })
            .to_vec(),
        all_mails: Some("/console/mails?to=ada%40example.org".to_owned()),
        sign_ins: events::sign_ins(person),
        all_sign_ins: "/console/audit?user=ada&event=sign_in".to_owned(),
        all_failures: "/console/audit?user=ada&event=sign_in_failed".to_owned(),
        events: events::rows(person, 10, false),
        all_events: "/console/audit?user=ada".to_owned(),
        acts: acts(role),
    }
}

fn empty(person: &Person) -> UserPage {
    UserPage {
        name: None,
        state: AccountState::Pending,
        can_sign_in: false,
        obstacles: vec![Obstacle::Unverified { since: ago(30) }],
        last_sign_in: None,
        ways: Ways {
            has_password: false,
            two_step: None,
            passkeys: Vec::new(),
            apps: Vec::new(),
            recovery_codes: 0,
            identities: Vec::new(),
            remove: None,
        },
        sessions: Vec::new(),
        session_count: 0,
        profile: None,
        metadata: "{}".to_owned(),
        mails: Vec::new(),
        all_mails: None,
        limits: Vec::new(),
        sign_ins: Vec::new(),
        events: Vec::new(),
        ..full(person, Role::Owner)
    }
}

const fn operator(role: Role, is_protected: bool) -> OperatorMark {
    OperatorMark { role, is_protected }
}

fn protected(person: &Person) -> UserPage {
    UserPage {
        operator: Some(operator(Role::Owner, true)),
        acts: UserActs::default(),
        ..full(person, Role::Viewer)
    }
}

fn act(role: Role, least: Role, name: &str) -> Option<Form> {
    (role >= least).then(|| form(&format!("/console/users/{}?act={name}", user_id(0))))
}

/// Returns the acts of the table of roles.
fn acts(role: Role) -> UserActs {
    UserActs {
        end_sessions: act(role, Role::Support, "end-sessions"),
        send_verification: act(role, Role::Support, "send-verification"),
        send_reset: act(role, Role::Support, "send-reset"),
        lift_limits: act(role, Role::Support, "lift-limits"),
        ban: act(role, Role::Support, "ban"),
        unban: None,
        keep: None,
        remove_profile_text: act(role, Role::Support, "remove-profile-text"),
        mark_verified: act(role, Role::Admin, "mark-verified"),
        change_address: act(role, Role::Admin, "change-address")
            .map(|form| ChangeAddress { form, email: String::new() }),
        set_password: act(role, Role::Admin, "set-password").map(|form| SetPassword { form, rules: rules() }),
        save_metadata: act(role, Role::Admin, "save-metadata"),
        remove_factors: act(role, Role::Admin, "remove-factors"),
        delete: act(role, Role::Admin, "delete"),
    }
}

fn ways(person: &Person, role: Role) -> Ways {
    let added = |index: u8| ago(u64::from(index) * 90 + 5);
    let passkey = |index: u8| FactorRow {
        id: PasskeyId::new(NOW, [100 + index; 10]),
        name: person.thing.clone(),
        added: added(index),
        used: (index == 0).then(|| ago(3)),
    };
    let app = FactorRow {
        id: FactorId::new(NOW, [120; 10]),
        name: person.thing.clone(),
        added: added(3),
        used: None,
    };
    let identity = |name: &String| IdentityRow {
        provider: name.clone(),
        email: Some(person.email.clone()),
        unlink: act(role, Role::Admin, "unlink"),
    };
    Ways {
        has_password: true,
        two_step: Some(ago(200)),
        passkeys: vec![passkey(0), passkey(1)],
        apps: vec![app],
        recovery_codes: 7,
        identities: person.providers.iter().map(identity).collect(),
        remove: act(role, Role::Admin, "remove-passkey"),
    }
}

fn session(person: &Person, index: u8, role: Role) -> UserSession {
    let hours = u64::from(index) * u64::from(index);
    UserSession {
        id: SessionId::new(NOW, [index; 10]),
        name: (index == 1).then(|| person.thing.clone()),
        client: client(person),
        is_pages: index.is_multiple_of(3),
        opened: ago(hours * 5 + 20),
        last_seen: ago(hours),
        end: act(role, Role::Support, "end-one-session"),
    }
}

fn profile(person: &Person) -> PublicProfile {
    PublicProfile {
        username: Some(person.username.clone()),
        bio: Some(person.bio.clone()),
        avatar: Some(Avatar {
            host: person.app.clone(),
            href: Address::parse("https://example.org/ada.png"),
        }),
        custom: Some("{\n  \"team\": \"engines\"\n}".to_owned()),
        private: Some("{\n  \"theme\": \"dark\"\n}".to_owned()),
    }
}

fn obstacles(person: &Person) -> Vec<State> {
    let state = |name, state, can_sign_in, obstacles| {
        let mut view = UserPage { state, can_sign_in, obstacles, ..full(person, Role::Owner) };
        view.acts.unban = (state == AccountState::Banned).then(|| form("/console/users/1?act=unban"));
        view.acts.ban = if state == AccountState::Banned { None } else { view.acts.ban };
        view.acts.keep = (state == AccountState::Deletion).then(|| form("/console/users/1?act=keep"));
        State::inside(name, person, Place::Users, view).under(Place::Users)
    };
    let (since, until) = (ago(31), later(24 * 9));
    let limited = Obstacle::Limited { until: later(1) };
    vec![
        state("console.user.banned", AccountState::Banned, false, vec![Obstacle::Banned { since }]),
        state(
            "console.user.unverified",
            AccountState::Unverified,
            false,
            vec![Obstacle::UnverifiedMailed { since, mailed: ago(30) }, limited],
        ),
        state(
            "console.user.by_mail",
            AccountState::Unverified,
            true,
            vec![Obstacle::UnverifiedMailed { since, mailed: ago(30) }],
        ),
        state(
            "console.user.mail_dead",
            AccountState::Unverified,
            false,
            vec![Obstacle::UnverifiedMailDead { since, failed: ago(30) }],
        ),
        state(
            "console.user.mail_queued",
            AccountState::Pending,
            false,
            vec![Obstacle::UnverifiedMailQueued { since, written: ago(1) }],
        ),
        state(
            "console.user.must_enroll",
            AccountState::Verified,
            true,
            vec![Obstacle::MustEnroll, Obstacle::LimitedOpen],
        ),
        state("console.user.deletion", AccountState::Deletion, true, vec![Obstacle::Deletion { until }]),
        state(
            "console.user.no_way",
            AccountState::Verified,
            false,
            vec![Obstacle::NoWay, Obstacle::NoFactor],
        ),
    ]
}

/// Accounts that limits close, or leave one way.
fn limited(person: &Person) -> Vec<State> {
    let limit = || "mails, per recipient (sign in)".to_owned();
    let state = |name, can_sign_in, obstacles| {
        let view = UserPage { can_sign_in, obstacles, ..full(person, Role::Owner) };
        State::inside(name, person, Place::Users, view).under(Place::Users)
    };
    vec![
        state(
            "console.user.limited",
            false,
            vec![
                Obstacle::LimitedAll { limit: limit(), until: later(1) },
                Obstacle::LimitedAllOpen { limit: limit() },
            ],
        ),
        state(
            "console.user.limited_mail",
            true,
            vec![Obstacle::LimitedMail { limit: limit(), until: later(1) }],
        ),
    ]
}

fn notices(person: &Person) -> Vec<State> {
    let all = [
        ("console.user.created", Notice::AccountCreated),
        ("console.user.after_ban", Notice::AccountBanned),
        ("console.user.after_unban", Notice::AccountUnbanned),
        ("console.user.after_address", Notice::AddressChanged),
        ("console.user.after_verified", Notice::AddressVerified),
        ("console.user.after_password", Notice::PasswordReplaced),
        ("console.user.after_end", Notice::AllSessionsEnded),
        ("console.user.after_end_one", Notice::OneSessionEnded),
        ("console.user.after_mail", Notice::MailSent { email: person.email.clone() }),
        ("console.user.after_limits", Notice::LimitsLifted),
        ("console.user.after_factors", Notice::FactorsRemoved),
        ("console.user.after_factor", Notice::FactorRemoved),
        ("console.user.after_identity", Notice::IdentityRemoved),
        ("console.user.after_profile", Notice::ProfileTextRemoved),
        ("console.user.after_metadata", Notice::MetadataSaved),
        ("console.user.after_keep", Notice::DeletionStopped),
    ];
    // What the page shows beside the notice is short, because the other states show all of it.
    let page = |(name, notice)| {
        State::inside(name, person, Place::Users, empty(person)).under(Place::Users).after(notice)
    };
    all.map(page).into()
}
