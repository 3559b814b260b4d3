//! Sample states of the ways in.

use super::{State, form, passkey, providers, seconds};
use crate::console::Refusal;
use crate::console::views::{Activate, ActivateStep, Confirm, ConfirmStep, ConfirmWay, Purpose, SignIn};
use crate::message::Fault;
use crate::states::Person;
use crate::views::{PasswordRules, SendAgain, TotpSetup};

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = sign_in(person);
    states.extend(confirm());
    states.extend(activate(person));
    states
}

fn sign_in(person: &Person) -> Vec<State> {
    let plain = || SignIn {
        passkey: Some(passkey("/console/sign-in")),
        form: form("/console/sign-in"),
        email: String::new(),
        providers: Vec::new(),
        kept: None,
        is_lost: false,
    };
    let kept = Some("c2VhbGVkLWZvcm0".to_owned());
    let typed = || SignIn { email: person.email.clone(), ..plain() };
    vec![
        State::outside("console.sign_in", plain()),
        State::outside("console.sign_in.no_passkeys", SignIn { passkey: None, ..plain() }),
        State::outside("console.sign_in.providers", SignIn { providers: providers(person), ..plain() }),
        State::outside("console.sign_in.kept", SignIn { kept, ..plain() }),
        State::outside("console.sign_in.lost", SignIn { is_lost: true, ..plain() }),
        State::outside("console.sign_in.denied", plain()).with(Refusal::ProviderDenied),
        State::outside("console.sign_in.expired", plain()).with(Refusal::ProviderExpired),
        State::outside("console.sign_in.down", plain()).with(Refusal::ProviderDown),
        State::outside("console.sign_in.wrong", typed()).with(Fault::InvalidCredentials),
        State::outside("console.sign_in.throttled", typed()).with(Fault::Throttled { wait: seconds(40) }),
    ]
}

fn way(kind: &'static str) -> ConfirmWay {
    ConfirmWay { kind, form: form("/console/confirm") }
}

fn confirm() -> Vec<State> {
    let of = |purpose, step| Confirm {
        purpose,
        step,
        others: vec![way("passkey"), way("totp"), way("recovery_code")],
        kept: None,
        lacks_file: false,
        cancel: "/console".to_owned(),
    };
    let totp = || ConfirmStep::Totp { form: form("/console/confirm") };
    let ceremony = || ConfirmStep::Passkey { passkey: passkey("/console/confirm") };
    let kept = |step| Confirm { kept: Some("c2VhbGVkLWZvcm0".to_owned()), ..of(Purpose::StepUp, step) };
    let code = || ConfirmStep::RecoveryCode { form: form("/console/confirm") };
    let password =
        || ConfirmStep::Password { form: form("/console/confirm"), email: "ada@example.org".to_owned() };
    let over = || ConfirmStep::Over { start: "/console/sign-in".to_owned() };
    vec![
        State::outside("console.confirm", of(Purpose::SignIn, totp())),
        State::outside("console.confirm.wrong", of(Purpose::SignIn, totp()))
            .at("code", Fault::InvalidSecondFactor),
        State::outside("console.confirm.recovery_code", of(Purpose::SignIn, code())),
        State::outside("console.confirm.over", Confirm { others: Vec::new(), ..of(Purpose::SignIn, over()) }),
        State::outside("console.confirm.kept", Confirm { purpose: Purpose::SignIn, ..kept(totp()) }),
        State::outside("console.confirm.step_up", kept(ceremony())),
        State::outside("console.confirm.step_up_totp", kept(totp())),
        State::outside("console.confirm.step_up_file", Confirm { lacks_file: true, ..kept(totp()) }),
        State::outside("console.confirm.step_up_code", kept(code())),
        State::outside("console.confirm.step_up_password", kept(password())),
        State::outside("console.confirm.activate", of(Purpose::Activate, ceremony())),
    ]
}

fn activate(person: &Person) -> Vec<State> {
    let at = |step| Activate { step };
    let setup = TotpSetup {
        form: form("/console/activate"),
        uri: "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example".to_owned(),
        secret: "JBSW Y3DP EHPK 3PXP".to_owned(),
        back: "/console/activate".to_owned(),
    };
    let enroll = ActivateStep::Enroll {
        passkey: Some(passkey("/console/activate")),
        totp: form("/console/activate?act=totp"),
    };
    let sign_in = |email: &str| ActivateStep::SignIn {
        passkey: Some(passkey("/console/activate")),
        form: form("/console/activate"),
        email: email.to_owned(),
    };
    let create = ActivateStep::Create {
        email: person.email.clone(),
        form: form("/console/activate?act=create"),
        rules: PasswordRules { least: 8, number: true, lowercase: true, uppercase: true, special: true },
        sign_in: "/console/activate?at=sign-in".to_owned(),
    };
    let verify = ActivateStep::Verify {
        email: person.email.clone(),
        form: form("/console/activate?act=verify"),
        send: SendAgain { form: form("/console/activate?act=again"), wait: Some(seconds(40)) },
        sign_in: "/console/activate?at=sign-in".to_owned(),
    };
    let codes = ActivateStep::Codes {
        codes: (0..10).map(|_| "abcd-efgh-jkmn-pqrs".to_owned()).collect(),
        next: form("/console/activate?act=noted"),
    };
    vec![
        State::outside("console.activate", at(sign_in(""))),
        State::outside("console.activate.wrong", at(sign_in(&person.email))).with(Fault::InvalidCredentials),
        State::outside("console.activate.create", at(create)),
        State::outside("console.activate.verify", at(verify)),
        State::outside("console.activate.enroll", at(enroll)),
        State::outside("console.activate.totp", at(ActivateStep::Totp { setup })),
        State::outside("console.activate.codes", at(codes)),
        State::outside("console.activate.dead", at(ActivateStep::Dead)),
    ]
}
