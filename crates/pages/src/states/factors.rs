//! Sample states of the pages of second factors.

use latchkey_domain::challenge::ChallengePurpose;

use super::{Person, State, code, form, later, passkey};
use crate::message::{Fault, Notice};
use crate::views::{
    Another, Challenge, ChallengeStep, CodesLeft, Enroll, EnrollStep, Next, RecoveryCodes, TotpSetup,
};

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = challenge(person);
    let go_on = || Next::Act(form("/auth/challenge"));
    let choose = EnrollStep::Choose {
        passkey: Some(passkey("/auth/challenge")),
        totp: form("/auth/challenge"),
        cancel: "/auth/sign-in".to_owned(),
    };
    states.extend([
        State::new("enroll", Enroll { step: choose }),
        State::new("enroll.totp", Enroll { step: EnrollStep::Totp { setup: setup(person) } }),
        State::new("enroll.totp_wrong", Enroll { step: EnrollStep::Totp { setup: setup(person) } })
            .at("code", Fault::InvalidSecondFactor),
        State::new("recovery_codes", recovery_codes(go_on())),
        State::new("recovery_codes.account", recovery_codes(Next::Link("/auth/account/two-step".to_owned())))
            .of(person)
            .after(Notice::TwoStepOn),
        State::new("codes_left", CodesLeft { left: 3, next: go_on() }),
        State::new("codes_left.one", CodesLeft { left: 1, next: go_on() }),
    ]);
    states
}

fn challenge(person: &Person) -> Vec<State> {
    let all = ["passkey", "totp", "recovery_code"];
    let reauthenticate = ["password", "email_code"];
    let others = |kinds: &[&'static str], shown: &str| {
        let others = kinds.iter().filter(|kind| **kind != shown);
        others.map(|kind| Another { kind, href: format!("/auth/challenge?kind={kind}") }).collect()
    };
    let by = |purpose, step, others| Challenge { purpose, step, others, cancel: "/auth/sign-in".to_owned() };
    let sign_in = |step, shown| by(ChallengePurpose::SignIn, step, others(&all, shown));
    let confirm = |step, shown| by(ChallengePurpose::Reauthenticate, step, others(&reauthenticate, shown));
    let totp = || sign_in(ChallengeStep::Totp { form: form("/auth/challenge") }, "totp");
    let recovery = || sign_in(ChallengeStep::RecoveryCode { form: form("/auth/challenge") }, "recovery_code");
    let password = || {
        confirm(
            ChallengeStep::Password { form: form("/auth/challenge"), email: person.email.clone() },
            "password",
        )
    };
    let email_code =
        |is_sent| confirm(ChallengeStep::EmailCode { code: code(person), is_sent }, "email_code");
    let passkey = || sign_in(ChallengeStep::Passkey { passkey: passkey("/auth/challenge") }, "passkey");
    let restore = ChallengeStep::Restore { form: form("/auth/challenge"), deletes: later(220) };
    let reset = ChallengeStep::Totp { form: form("/auth/challenge") };
    vec![
        State::new("challenge.passkey", passkey()).ending(),
        State::new("challenge.passkey_refused", passkey()).with(Fault::InvalidPasskey),
        State::new("challenge.totp", totp()),
        State::new("challenge.totp_wrong", totp()).at("code", Fault::InvalidSecondFactor),
        State::new("challenge.recovery_code", recovery()),
        State::new("challenge.recovery_code_wrong", recovery()).at("code", Fault::InvalidRecoveryCode),
        State::new("challenge.password", password()).of(person),
        State::new("challenge.password_wrong", password()).of(person).at("password", Fault::WrongPassword),
        State::new("challenge.email_code", email_code(true)).of(person),
        State::new("challenge.email_code_unsent", email_code(false)).of(person),
        State::new("challenge.reset", by(ChallengePurpose::Reset, reset, others(&all, "totp"))),
        State::new("challenge.restore", by(ChallengePurpose::SignIn, restore, Vec::new())),
        State::new(
            "challenge.over",
            by(
                ChallengePurpose::SignIn,
                ChallengeStep::Over { start: "/auth/sign-in".to_owned() },
                Vec::new(),
            ),
        ),
    ]
}

pub(super) fn setup(person: &Person) -> TotpSetup {
    let email: String = person.email.chars().filter(char::is_ascii_graphic).collect();
    TotpSetup {
        form: form("/auth/totp"),
        uri: format!(
            "otpauth://totp/Example:{email}?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example&algorithm=SHA1&digits=6&period=30"
        ),
        secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP".to_owned(),
        back: "/auth/account/two-step".to_owned(),
    }
}

fn recovery_codes(next: Next) -> RecoveryCodes {
    let code =
        |number: u32| format!("{:04x}-7k2m-{:04x}-qw9z", number * 40_503 % 65_536, number * 30_011 % 65_536);
    RecoveryCodes { codes: (1..=10).map(code).collect(), next }
}
