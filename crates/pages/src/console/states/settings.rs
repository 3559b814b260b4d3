//! Sample states of settings, theme and providers.

use latchkey_domain::identity::ProviderKind;

use super::users::choices;
use super::{State, form};
use crate::console::views::{
    Adjusted, DiffKind, DiffLine, Provider, ProviderTest, Providers, RedirectOutcome, RedirectTester,
    Setting, SettingChange, SettingField, SettingGroup, Settings, Source, ThemePage,
};
use crate::console::{Notice, Place, Refusal, Role};
use crate::states::Person;
use crate::theme::{Colour, ColourScheme, Theme};

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = settings(person);
    states.extend(changes(person));
    states.extend(themes(person));
    states.extend(providers(person));
    states
}

fn settings(person: &Person) -> Vec<State> {
    let full = |outcome: Option<RedirectOutcome>| Settings {
        groups: groups(person),
        tester: RedirectTester {
            url: if outcome.is_some() { person.avatar_url.clone() } else { String::new() },
            outcome,
        },
        theme: "/console/settings/theme".to_owned(),
        change: Some(form("/console/settings/change?ask=1")),
    };
    let allowed = RedirectOutcome::Allowed { entry: "https://app.example.org/**".to_owned() };
    let refused = RedirectOutcome::Refused { reason: person.thing.clone() };
    let page = |name, view| State::inside(name, person, Place::Settings, view);
    vec![
        page("console.settings", full(None)),
        page("console.settings.allowed", full(Some(allowed))),
        page("console.settings.refused", full(Some(refused))),
        page("console.settings.saved", full(None)).after(Notice::SettingsSaved),
        page("console.settings.reset", full(None)).after(Notice::SettingsReset),
        page("console.settings.read_only", Settings { change: None, ..full(None) }).by(person, Role::Admin),
    ]
}

fn groups(person: &Person) -> Vec<SettingGroup> {
    let setting = |key: &str, field, source| Setting {
        key: key.to_owned(),
        about: "Whether people may create accounts by themselves.".to_owned(),
        field,
        default: "true".to_owned(),
        reset: matches!(source, Source::Stored)
            .then(|| "/console/settings/change?key=auth.disable_sign_up&default=1".to_owned()),
        source,
    };
    let text = || SettingField::Text { value: person.app.clone() };
    let choice = || {
        let filter = choices("second_factor", &["optional", "required"], "required");
        SettingField::Choice { choices: filter.choices }
    };
    let lines =
        || SettingField::List { lines: format!("https://app.example.org/**\nhttps://{}/done", person.app) };
    let number = || SettingField::Number { value: "90".to_owned() };
    let file = || Source::File { path: "/etc/latchkey.toml".to_owned() };
    let group = |name: &str, settings| SettingGroup { name: name.to_owned(), settings };
    vec![
        group(
            "auth",
            vec![
                setting("auth.sign_up", SettingField::Switch { is_on: true }, Source::Default),
                setting("auth.redirect_urls", lines(), Source::Stored),
                setting("auth.default_redirect_url", text(), Source::Stored),
                setting("auth.second_factor", choice(), file()),
                setting("auth.providers_only", SettingField::Switch { is_on: false }, Source::CommandLine),
            ],
        ),
        group(
            "sessions",
            vec![
                setting("sessions.days", number(), Source::Default),
                setting(
                    "sessions.grace",
                    number(),
                    Source::Environment { name: "LATCHKEY_SESSIONS_GRACE".to_owned() },
                ),
                setting("sessions.domains", lines(), file()),
                setting("sessions.kind", choice(), Source::Default),
            ],
        ),
    ]
}

fn changes(person: &Person) -> Vec<State> {
    let line = |kind, text: &str| DiffLine { kind, text: text.to_owned() };
    let list = SettingField::List { lines: "https://app.example.org/**".to_owned() };
    let change = || SettingChange {
        key: "auth.redirect_urls".to_owned(),
        about: "Addresses to which apps may be redirected. A path may end in `/**`.".to_owned(),
        field: list.clone(),
        lines: vec![
            line(DiffKind::Same, "https://app.example.org/**"),
            line(DiffKind::Removed, "http://localhost:3000/**"),
            line(DiffKind::Added, &person.avatar_url),
        ],
        form: Some(form("/console/settings/change")),
        question: Some(form("/console/settings/change?ask=1")),
        seen: "0".repeat(32),
        value: "https://app.example.org/**".to_owned(),
        warnings: vec![person.thing.clone()],
        cancel: "/console/settings".to_owned(),
    };
    let page = |name, view| State::inside(name, person, Place::Settings, view).under(Place::Settings);
    let refused = Refusal::InvalidSetting { rule: person.thing.clone() };
    vec![
        page("console.change", change()),
        page("console.change.outdated", change()).with(Refusal::SettingChanged),
        page("console.change.pinned", SettingChange { form: None, ..change() }).with(Refusal::SettingPinned),
        page("console.change.same", SettingChange { form: None, warnings: Vec::new(), ..change() }),
        page("console.change.refused", SettingChange { form: None, ..change() }).at("value", refused),
    ]
}

fn themes(person: &Person) -> Vec<State> {
    let yellow = Theme { accent: Colour::new(0x00ff_e14d), ..Theme::default() };
    let of = |theme: &Theme| ThemePage {
        accent: theme.accent.to_string(),
        accent_dark: String::new(),
        background: String::new(),
        radius: "8px".to_owned(),
        samples: theme.samples(),
        adjustments: theme.adjustments().iter().map(Adjusted::from).collect(),
        toml: format!("[pages.theme]\naccent = \"{}\"\nradius = \"8px\"", theme.accent),
    };
    let page = |name, view| State::inside(name, person, Place::Settings, view).under(Place::Settings);
    vec![
        page("console.theme", of(&Theme::default())),
        page("console.theme.pale", of(&yellow)),
        page("console.theme.dark", of(&Theme { colour_scheme: ColourScheme::Dark, ..yellow })),
    ]
}

fn providers(person: &Person) -> Vec<State> {
    let provider = |(index, name): (u64, &String)| Provider {
        key: format!("provider-{index}"),
        name: name.clone(),
        kind: if index == 0 { ProviderKind::Custom } else { ProviderKind::BuiltIn },
        is_on: index != 1,
        redirect_uri: format!("https://auth.example.org/api/auth/oauth/callback/provider-{index}"),
        linked: 812 * index,
        source: if index == 0 {
            Source::File { path: "/etc/latchkey.toml".to_owned() }
        } else {
            Source::Stored
        },
        test: Some(form("/console/providers?act=test")),
        result: match index {
            0 => Some(ProviderTest::Failed { reason: person.thing.clone() }),
            1 => Some(ProviderTest::Good { count: 3 }),
            _ => None,
        },
    };
    let full = || Providers {
        configured: (0..).zip(&person.providers).map(provider).collect(),
        available: ["Apple", "Discord", "Facebook", "GitLab", "Microsoft"].map(str::to_owned).to_vec(),
        help: "https://example.org/latchkey/providers",
    };
    let page = |name, view| State::inside(name, person, Place::Providers, view);
    vec![
        page("console.providers", full()),
        page("console.providers.none", Providers { configured: Vec::new(), ..full() }),
    ]
}
