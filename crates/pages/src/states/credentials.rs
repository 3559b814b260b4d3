//! Sample states of the pages about ways to sign in: address, password, passkeys, two-step sign-in,
//! sessions, providers.

use super::account::sessions;
use super::factors::setup;
use super::{Person, State, ago, form, later, passkey, providers, rules, send_again};
use crate::message::{Fault, Notice};
use crate::views::{
    AddPasskey, ChangeEmail, ChangePassword, LinkedProvider, Passkey, Passkeys, PendingEmail, Providers,
    Sessions, Totp, TwoStep, TwoStepState,
};

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = email(person);
    states.extend(password(person));
    states.extend(passkeys(person));
    states.extend(two_step(person));
    states.extend(session_list(person));
    states.extend(linked(person));
    states.into_iter().map(|state| state.of(person)).collect()
}

fn email(person: &Person) -> Vec<State> {
    let plain = || ChangeEmail {
        email: person.email.clone(),
        is_verified: true,
        form: Some(form("/auth/account/email")),
        new_email: String::new(),
        pending: None,
    };
    let pending_in = |confirm, needs_current| ChangeEmail {
        pending: Some(PendingEmail {
            new_email: person.email.clone(),
            form: confirm,
            needs_new: true,
            needs_current,
            expires: later(1),
            send: needs_current.then(|| send_again(Some(50))),
            cancel: form("/auth/account/email?act=cancel"),
        }),
        ..plain()
    };
    let pending = |needs_current| pending_in(Some(form("/auth/account/email?act=confirm")), needs_current);
    vec![
        State::new("email", plain()),
        State::new("email.off", ChangeEmail { form: None, ..plain() }),
        State::new("email.unverified", ChangeEmail { is_verified: false, ..plain() }),
        State::new("email.same", ChangeEmail { new_email: person.email.clone(), ..plain() })
            .at("email", Fault::SameEmail),
        State::new("email.pending", pending(true)),
        State::new("email.pending_elsewhere", pending_in(None, true)),
        State::new("email.pending_one", pending(false)).at("new_code", Fault::InvalidCode),
        State::new("email.pending_wrong", pending(true))
            .at("new_code", Fault::InvalidCode)
            .at("current_code", Fault::InvalidCode),
    ]
}

fn password(person: &Person) -> Vec<State> {
    let page = |has_password| ChangePassword {
        form: form("/auth/account/password"),
        email: person.email.clone(),
        has_password,
        rules: rules(),
    };
    vec![
        State::new("password", page(true)),
        State::new("password.wrong", page(true)).at("current_password", Fault::WrongPassword),
        State::new("password.none", page(false)),
    ]
}

fn passkeys(person: &Person) -> Vec<State> {
    let one = |index: u64| Passkey {
        id: format!("019a2b3c-4d5e-7f60-8a9b-{index:012}"),
        name: person.thing.clone(),
        created: ago(2_000 + index),
        last_used: (index.is_multiple_of(2)).then(|| ago(index)),
        is_usable: index != 3,
    };
    let page = |count| Passkeys {
        add: (count < 20)
            .then(|| AddPasskey::Ready { passkey: passkey("/auth/account/passkeys"), is_asked: false }),
        list: (0..count).map(one).collect(),
        rename: form("/auth/account/passkeys/rename"),
        remove: form("/auth/account/passkeys/remove"),
        edited: None,
        accepted: Some(r#"{"rpId":"localhost","userId":"dXNlcg","allAcceptedCredentialIds":[]}"#.to_owned()),
    };
    let first = || Passkeys {
        add: Some(AddPasskey::Begin { form: form("/auth/account/passkeys") }),
        accepted: None,
        ..page(0)
    };
    let disabled = |count| Passkeys { add: Some(AddPasskey::Off), ..page(count) };
    let edited = || Passkeys { edited: Some(one(1).id), ..page(3) };
    vec![
        State::new("passkeys", page(2)),
        State::new("passkeys.none", first()),
        State::new("passkeys.off", disabled(1)),
        State::new("passkeys.off_since", disabled(0)).with(Fault::FeatureDisabled),
        State::new("passkeys.full", page(20)).with(Fault::TooManyFactors),
        State::new("passkeys.rename", edited()),
        State::new("passkeys.rename_wrong", edited()).at("name", Fault::TooLong { most: 64 }),
        State::new("passkeys.added", page(4)).after(Notice::PasskeyAdded),
        State::new("passkeys.removed", page(1)).after(Notice::PasskeyRemoved),
        State::new("passkeys.exists", page(1)).with(Fault::PasskeyExists),
        State::new("passkeys.last", page(1)).with(Fault::LastSignInMethod),
    ]
}

fn two_step(person: &Person) -> Vec<State> {
    let page = |state| TwoStep { state };
    let off = |has_passkey: bool| {
        let turn_on = has_passkey.then(|| form("/auth/account/two-step/on"));
        page(TwoStepState::Off { totp: Some(form("/auth/account/two-step/totp")), turn_on })
    };
    let disabled = || page(TwoStepState::Off { totp: None, turn_on: None });
    let app = |index: u64| Totp {
        id: format!("019a2b3c-4d5e-7f60-8a9b-{index:012}"),
        name: person.thing.clone(),
        created: ago(500),
        last_used: (index > 0).then(|| ago(30)),
    };
    let on = |apps: u64, may_turn_off: bool| {
        page(TwoStepState::On {
            totp: (0..apps).map(app).collect(),
            remove: form("/auth/account/two-step/remove"),
            add: (apps < 2).then(|| form("/auth/account/two-step/totp")),
            codes_left: 7,
            renew: form("/auth/account/two-step/codes"),
            off: may_turn_off.then(|| form("/auth/account/two-step/off")),
        })
    };
    let set_up = || page(TwoStepState::Setup { setup: setup(person) });
    vec![
        State::new("two_step.off", off(false)),
        State::new("two_step.off_with_passkey", off(true)),
        State::new("two_step.disabled", disabled()),
        State::new("two_step.turned_off", off(false)).after(Notice::TwoStepOff),
        State::new("two_step.setup", set_up()),
        State::new("two_step.setup_wrong", set_up()).at("code", Fault::InvalidSecondFactor),
        State::new("two_step.on", on(1, true)),
        State::new("two_step.on_by_passkey", on(0, true)).after(Notice::TotpRemoved),
        State::new("two_step.full", on(2, false)).after(Notice::TotpAdded),
        State::new("two_step.last", on(1, true)).with(Fault::LastSecondFactor),
    ]
}

fn session_list(person: &Person) -> Vec<State> {
    let page = |count| Sessions {
        list: sessions(person, count),
        end: form("/auth/account/sessions/end"),
        end_others: (count > 1).then(|| form("/auth/account/sessions/end-others")),
        more: (count > 20).then(|| "/auth/account/sessions?after=1".to_owned()),
    };
    vec![
        State::new("sessions", page(5)),
        State::new("sessions.one", page(1)).after(Notice::SessionsEnded),
        State::new("sessions.many", page(21)).after(Notice::SessionEnded),
    ]
}

fn linked(person: &Person) -> Vec<State> {
    let one = |(index, name): (usize, &String)| LinkedProvider {
        key: format!("provider-{index}"),
        subject: format!("subject-{index}"),
        name: name.clone(),
        email: (index == 0).then(|| person.email.clone()),
    };
    let page = |count| Providers {
        linked: person.providers.iter().enumerate().take(count).map(one).collect(),
        available: providers(person),
        confirm: None,
        unlink: form("/auth/account/providers/unlink"),
    };
    let stale = Providers { confirm: Some(form("/auth/account/providers?act=confirm")), ..page(1) };
    let provider = || person.providers.first().cloned().unwrap_or_default();
    vec![
        State::new("providers", page(2)),
        State::new("providers.none", page(0)).after(Notice::ProviderUnlinked { provider: provider() }),
        State::new("providers.linked", page(1)).after(Notice::ProviderLinked { provider: provider() }),
        State::new("providers.confirm", stale),
        State::new("providers.last", page(1)).with(Fault::LastSignInMethod),
        State::new("providers.taken", page(1)).with(Fault::IdentityTaken),
    ]
}
