//! Sample states of sign-in, sign-up, return to the app, sign-out, errors and the start page.

use super::{Person, State, app, form, passkey, providers, rules, seconds};
use crate::frame::Address;
use crate::message::{Fault, Notice};
use crate::views::{
    Continue, ContinueStep, ErrorCause, ErrorPage, ProviderOutcome, ProviderReturn, Resume, SignIn, SignOut,
    SignUp, Start,
};

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = sign_in(person);
    states.extend(sign_up(person));
    states.extend(returns(person));
    states.extend(sign_out(person));
    states.extend(errors());
    states.push(State::new("start", start()));
    states
}

fn plain_sign_in(person: &Person) -> SignIn {
    SignIn {
        form: Some(form("/auth/sign-in")),
        email: String::new(),
        is_kept: false,
        providers: providers(person),
        passkey: Some(passkey("/auth/passkey")),
        forgot: Some("/auth/forgot?flow=c2VhbGVk".to_owned()),
        mail_code: Some("/auth/mail-code?flow=c2VhbGVk".to_owned()),
        sign_up: Some("/auth/sign-up?flow=c2VhbGVk".to_owned()),
        verify: None,
        resume: None,
        app: Some(app(person)),
    }
}

fn sign_in(person: &Person) -> Vec<State> {
    let plain = || plain_sign_in(person);
    let typed = || SignIn { email: person.email.clone(), is_kept: true, ..plain() };
    let only_password =
        SignIn { providers: Vec::new(), passkey: None, mail_code: None, sign_up: None, app: None, ..plain() };
    let no_mail = SignIn { forgot: None, ..plain() };
    let resume = Resume {
        form: form("/auth/sign-in"),
        email: person.email.clone(),
        other: "/auth/sign-in?flow=c2VhbGVk&other=1".to_owned(),
    };
    vec![
        State::new("sign_in", plain()).ending(),
        State::new("sign_in.hinted", typed()),
        State::new("sign_in.wrong", typed()).with(Fault::InvalidCredentials),
        State::new("sign_in.empty", plain()).at("email", Fault::Required).at("password", Fault::Required),
        State::new(
            "sign_in.unverified",
            SignIn { verify: Some("/auth/verify?flow=c2VhbGVk".to_owned()), ..typed() },
        )
        .with(Fault::EmailNotVerified),
        State::new("sign_in.banned", typed()).with(Fault::Banned),
        State::new("sign_in.throttled", typed()).with(Fault::Throttled { wait: seconds(42) }),
        State::new("sign_in.busy", typed()).with(Fault::Busy { wait: seconds(2) }),
        State::new("sign_in.passkey_refused", plain()).with(Fault::InvalidPasskey),
        State::new("sign_in.passkey_unknown", plain()).with(Fault::UnknownPasskey),
        State::new("sign_in.password_only", only_password),
        State::new("sign_in.no_mail", no_mail),
        State::new(
            "sign_in.provider_only",
            SignIn { form: None, passkey: None, mail_code: None, sign_up: None, ..plain() },
        ),
        State::new("sign_in.resume", SignIn { resume: Some(resume), ..plain() }),
        State::new("sign_in.other_left", plain())
            .after(Notice::OtherAccountLeft { email: person.email.clone() }),
    ]
}

fn sign_up(person: &Person) -> Vec<State> {
    let plain = || SignUp {
        form: Some(form("/auth/sign-up")),
        name: String::new(),
        email: String::new(),
        is_email_fixed: false,
        rules: rules(),
        providers: providers(person),
        sign_in: "/auth/sign-in?flow=c2VhbGVk".to_owned(),
        app: Some(app(person)),
    };
    let typed = || SignUp { name: person.name.clone(), email: person.email.clone(), ..plain() };
    let mut strict = plain();
    strict.rules = crate::views::PasswordRules {
        least: 15,
        number: true,
        lowercase: true,
        uppercase: true,
        special: true,
    };
    let weak = [
        ("sign_up.too_short", Fault::TooShort { least: 8 }),
        ("sign_up.too_long", Fault::TooLong { most: 128 }),
        ("sign_up.too_common", Fault::TooCommon),
        ("sign_up.contains_email", Fault::ContainsEmail),
        ("sign_up.contains_service", Fault::ContainsServiceName),
        ("sign_up.missing_number", Fault::MissingNumber),
        ("sign_up.missing_lowercase", Fault::MissingLowercase),
        ("sign_up.missing_uppercase", Fault::MissingUppercase),
        ("sign_up.missing_special", Fault::MissingSpecialChar),
    ];
    let mut states: Vec<State> = vec![
        State::new("sign_up", plain()).ending(),
        State::new("sign_up.strict", strict),
        State::new("sign_up.invited", SignUp { is_email_fixed: true, providers: Vec::new(), ..typed() }),
        State::new("sign_up.disabled", SignUp { form: None, ..plain() }),
        State::new("sign_up.closed", plain()).with(Fault::SignUpDisabled),
        State::new("sign_up.invalid", typed())
            .at("name", Fault::InvalidCharacters)
            .at("email", Fault::InvalidEmail)
            .at("password", Fault::Required),
        State::new("sign_up.taken", typed()).at("email", Fault::EmailTaken),
        State::new("sign_up.throttled", typed()).with(Fault::Throttled { wait: seconds(1_400) }),
    ];
    states.extend(weak.map(|(name, fault)| State::new(name, typed()).at("password", fault)));
    states
}

fn returns(person: &Person) -> Vec<State> {
    let host = || person.app.clone();
    let target = |query: &str| Address::parse(&format!("https://app.example.org/done{query}"));
    let steps = [
        (
            "continue",
            target("?service_code=c2VydmljZV9jb2Rl&state=a%26b")
                .map(|target| ContinueStep::Go { target, host: host() }),
        ),
        ("continue.shown", target("").map(|target| ContinueStep::Shown { target, host: host() })),
        ("continue.foreign", Some(ContinueStep::Foreign)),
    ];
    let outcomes = [
        ("provider.denied", ProviderOutcome::Denied),
        ("provider.unverified", ProviderOutcome::Unverified),
        ("provider.down", ProviderOutcome::Down),
        ("provider.expired", ProviderOutcome::Expired),
    ];
    let provider = |outcome| ProviderReturn {
        provider: person.providers.first().cloned().unwrap_or_default(),
        outcome,
        retry: (outcome != ProviderOutcome::Unverified).then(|| "/auth/provider/example".to_owned()),
        link: (outcome == ProviderOutcome::Unverified).then(|| "/auth/sign-in?flow=bGluaw".to_owned()),
        is_link: false,
        other: "/auth/sign-in?flow=c2VhbGVk".to_owned(),
    };
    let link = ProviderReturn {
        is_link: true,
        other: "/auth/account/providers".to_owned(),
        ..provider(ProviderOutcome::Denied)
    };
    let steps = steps.into_iter().filter_map(|(name, step)| Some(State::new(name, Continue { step: step? })));
    let outcomes = outcomes.map(|(name, outcome)| State::new(name, provider(outcome)));
    steps.chain(outcomes).chain([State::new("provider.link_denied", link)]).collect()
}

fn sign_out(person: &Person) -> Vec<State> {
    let ask = SignOut {
        form: Some(form("/auth/sign-out")),
        everywhere: Some(form("/auth/sign-out-everywhere")),
        email: person.email.clone(),
        sign_in: "/auth/sign-in".to_owned(),
        app: Some(app(person)),
    };
    let done = SignOut { form: None, everywhere: None, ..ask.clone() };
    vec![State::new("sign_out", ask), State::new("sign_out.done", done)]
}

fn errors() -> Vec<State> {
    let causes = [
        ("error.not_found", ErrorCause::NotFound),
        ("error.bad_request", ErrorCause::BadRequest),
        ("error.bad_target", ErrorCause::BadTarget),
        ("error.bad_flow", ErrorCause::BadFlow),
        ("error.expired", ErrorCause::Expired),
        ("error.stale_form", ErrorCause::StaleForm),
        ("error.forbidden", ErrorCause::Forbidden),
        ("error.wrong_host", ErrorCause::WrongHost),
        ("error.throttled", ErrorCause::Throttled { wait: seconds(90) }),
        ("error.busy", ErrorCause::Busy { wait: seconds(5) }),
        ("error.internal", ErrorCause::Internal),
    ];
    let page = |(name, cause): (_, ErrorCause)| {
        let next = (cause != ErrorCause::BadFlow).then(|| "/auth/account".to_owned());
        State::new(name, ErrorPage { cause, request_id: "01jt-4m9x-2f3k".to_owned(), next })
    };
    causes.map(page).into()
}

fn start() -> Start {
    let links = [
        ("pages", "/auth/sign-in"),
        ("account", "/auth/account"),
        ("console", "/console"),
        ("inbox", "/dev/mail"),
        ("api", "/docs"),
    ];
    let command = "curl http://localhost:8700/api/auth/users \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"email\":\"ada@example.org\",\"password\":\"correct horse battery\"}'";
    Start { links: links.map(|(name, href)| (name, href.to_owned())).into(), command: command.to_owned() }
}
