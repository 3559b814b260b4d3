//! Sample states of the pages of mailed codes and links.

use super::{Person, State, code, form, providers, rules, seconds, send_again};
use crate::message::{Fault, Notice};
use crate::views::{
    App, CodeForm, Forgot, Invitation, InvitationStep, MailCode, MailCodeStep, Reset, ResetStep, SendAgain,
    Verified, Verify, VerifyBy,
};

const SIGN_IN: &str = "/auth/sign-in?flow=c2VhbGVk";

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = verify(person);
    states.extend(reset(person));
    states.extend(mail_code(person));
    states.extend(invitation(person));
    states
}

fn verify(person: &Person) -> Vec<State> {
    let by = |by| Verify { by, is_own: false, change: "/auth/sign-up?flow=c2VhbGVk".to_owned() };
    let plain = || by(VerifyBy::Code { code: code(person) });
    let unsent = || {
        let form = form("/auth/verify");
        Verify { is_own: true, ..by(VerifyBy::Unsent { email: person.email.clone(), form }) }
    };
    let waiting = || {
        let send: SendAgain = send_again(Some(55));
        by(VerifyBy::Code { code: CodeForm { send, ..code(person) } })
    };
    let verified = |is_verified, app: Option<&str>| Verified {
        is_verified,
        next: SIGN_IN.to_owned(),
        is_signed_in: false,
        forgot: is_verified.then(|| "/auth/forgot".to_owned()),
        app: app.map(|host| App { host: host.to_owned(), leave: None }),
    };
    vec![
        State::new("verify", plain()).ending(),
        State::new("verify.unsent", unsent()),
        State::new("verify.no_mail", unsent()).with(Fault::NoMail),
        State::new("verify.wrong", plain()).at("code", Fault::InvalidCode),
        State::new("verify.sent_again", waiting()).after(Notice::CodeSent),
        State::new("verify.throttled", waiting()).with(Fault::Throttled { wait: seconds(1_700) }),
        State::new("verify.link", by(VerifyBy::Link { email: person.email.clone(), send: send_again(None) })),
        State::new("verified", verified(true, None)),
        State::new("verified.app", verified(true, Some(&person.app))),
        State::new("verified.own", Verified { is_signed_in: true, forgot: None, ..verified(true, None) }),
        State::new("verified.dead", verified(false, None)),
    ]
}

fn reset(person: &Person) -> Vec<State> {
    let forgot = |email: &str| Forgot {
        form: Some(form("/auth/forgot")),
        email: email.to_owned(),
        sign_in: SIGN_IN.to_owned(),
    };
    let by = |step| Reset { step };
    let password = || {
        by(ResetStep::Password { form: form("/auth/reset"), account: person.masked.clone(), rules: rules() })
    };
    vec![
        State::new("forgot", forgot("")),
        State::new("forgot.off", Forgot { form: None, ..forgot("") }),
        State::new("forgot.no_mail", forgot(&person.email)).with(Fault::NoMail),
        State::new("forgot.invalid", forgot(&person.email)).at("email", Fault::InvalidEmail),
        State::new("forgot.throttled", forgot(&person.email)).with(Fault::Throttled { wait: seconds(3_000) }),
        State::new("reset.code", by(ResetStep::Code { code: code(person) })),
        State::new("reset.code_wrong", by(ResetStep::Code { code: code(person) }))
            .at("code", Fault::InvalidCode),
        State::new(
            "reset.link",
            by(ResetStep::Link { email: person.email.clone(), send: send_again(Some(30)) }),
        ),
        State::new("reset.password", password()).ending_for_good(),
        State::new("reset.password_weak", password()).at("password", Fault::TooCommon),
        State::new("reset.dead", by(ResetStep::Dead { forgot: "/auth/forgot".to_owned() })),
        State::new("reset.done", by(ResetStep::Done { sign_in: SIGN_IN.to_owned() })),
    ]
}

fn mail_code(person: &Person) -> Vec<State> {
    let by = |step| MailCode { step, sign_in: SIGN_IN.to_owned() };
    let typed =
        || by(MailCodeStep::Code { code: code(person), change: "/auth/mail-code?flow=c2VhbGVk".to_owned() });
    vec![
        State::new(
            "mail_code",
            by(MailCodeStep::Email { form: form("/auth/mail-code"), email: String::new() }),
        ),
        State::new("mail_code.off", by(MailCodeStep::Off)),
        State::new("mail_code.off_since", by(MailCodeStep::Off)).with(Fault::FeatureDisabled),
        State::new("mail_code.code", typed()),
        State::new("mail_code.wrong", typed()).at("code", Fault::InvalidCode),
        State::new(
            "mail_code.link",
            by(MailCodeStep::Link { form: form("/auth/mail-code"), email: person.masked.clone() }),
        ),
        State::new("mail_code.elsewhere", by(MailCodeStep::Elsewhere)),
        State::new("mail_code.dead", by(MailCodeStep::Dead { again: "/auth/mail-code".to_owned() })),
    ]
}

fn invitation(person: &Person) -> Vec<State> {
    let by = |step| Invitation { step };
    let open = |inviter: Option<&str>| {
        by(InvitationStep::Open {
            form: form("/auth/invitation"),
            without_password: inviter.map(|_| form("/auth/invitation-without-password")),
            email: person.email.clone(),
            name: person.name.clone(),
            inviter: inviter.map(str::to_owned),
            rules: rules(),
            providers: inviter.map(|_| providers(person)).unwrap_or_default(),
        })
    };
    let sign_in = || SIGN_IN.to_owned();
    vec![
        State::new("invitation", open(Some(&person.name))),
        State::new("invitation.unnamed", open(None)),
        State::new("invitation.weak", open(None)).at("password", Fault::TooShort { least: 8 }),
        State::new("invitation.expired", by(InvitationStep::Expired)),
        State::new("invitation.used", by(InvitationStep::Used { sign_in: sign_in() })),
        State::new("invitation.revoked", by(InvitationStep::Revoked)),
        State::new(
            "invitation.exists",
            by(InvitationStep::Exists { email: person.email.clone(), sign_in: sign_in() }),
        ),
    ]
}
