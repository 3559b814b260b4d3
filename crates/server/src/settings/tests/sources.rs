//! Tests of the sources: their precedence, pinned keys, and the messages about unknown keys and wrong types.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::super::Sources;
use super::{OTHER_SECRET, SECRET, assert_says, development, load, problem, problems};

const FILE: &str = "
    [auth]
    redirect_param_prefix = 'file'
    [mail.smtp]
    host = 'file.example.com'
";

fn file(text: &str) -> Sources {
    Sources::none().with_file("latchkey.toml", text)
}

#[test]
fn the_file_wins_over_the_default() {
    let settings = load(file(FILE));
    assert_eq!(settings.auth.redirect_param_prefix, "file");
    assert_eq!(settings.smtp.host, "file.example.com");
}

#[test]
fn the_environment_wins_over_the_file() {
    let settings = load(file(FILE).with_environment([("LATCHKEY__MAIL__SMTP__HOST", "env.example.com")]));
    assert_eq!(settings.smtp.host, "env.example.com");
    assert_eq!(settings.auth.redirect_param_prefix, "file");
}

#[test]
fn the_command_line_wins_over_all_and_its_last_word_counts() {
    let settings = load(
        file(FILE)
            .with_environment([("LATCHKEY__AUTH__REDIRECT_PARAM_PREFIX", "env")])
            .with_override("auth.redirect_param_prefix=first")
            .with_override("auth.redirect_param_prefix=last"),
    );
    assert_eq!(settings.auth.redirect_param_prefix, "last");
}

#[test]
fn every_source_but_the_default_pins() {
    let settings = load(
        file("[auth]\ndisable_sign_up = false")
            .with_environment([("LATCHKEY__PASSWORDS__MIN_LENGTH", "12")])
            .with_override("auth.verify_email_method=link"),
    );
    let pinned: Vec<_> = settings.pinned_keys().map(|(key, _)| key).collect();
    let expected = ["auth.verify_email_method", "auth.disable_sign_up", "passwords.min_length"];
    assert_eq!(pinned, expected);
    assert!(!settings.pinned("auth.require_email_verification"));
    assert!(!settings.pinned("no.such_key"));
}

#[test]
fn lists_are_comma_separated_or_an_array() {
    let targets = ["https://a.example/x", "https://b.example/y"];
    for text in [
        "https://a.example/x,https://b.example/y",
        " https://a.example/x , https://b.example/y ,",
        r#"["https://a.example/x", "https://b.example/y"]"#,
    ] {
        let sources = Sources::none().with_environment([("LATCHKEY__AUTH__ALLOWED_REDIRECT_URLS", text)]);
        assert_eq!(load(sources).editable.allowed_redirect_urls, targets, "{text}");
    }
    let empty = Sources::none().with_environment([("LATCHKEY__AUTH__ALLOWED_REDIRECT_URLS", "")]);
    assert!(load(empty).editable.allowed_redirect_urls.is_empty());
}

#[test]
fn an_empty_text_unsets_what_a_lower_source_set() {
    let settings = load(
        file(
            "[server]\npublic_url = 'https://a.example'\n[auth]\ndefault_redirect_url = 'http://localhost/x'",
        )
        .with_environment([
            ("LATCHKEY__AUTH__DEFAULT_REDIRECT_URL", ""),
            ("LATCHKEY__SERVER__PUBLIC_URL", ""),
        ]),
    );
    assert_eq!(settings.editable.default_redirect_url, None);
    assert!(settings.pinned("auth.default_redirect_url"));
    assert_eq!(settings.server.public_url.as_str(), "http://localhost:8700/");
}

#[test]
fn a_secret_can_come_from_a_file_named_in_the_environment() {
    let read = |path: &Path| match path.to_str() {
        Some("/run/secrets/latchkey") => Ok(format!("{SECRET}\n")),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let name = "LATCHKEY__SERVER__SECRET_FILE";
    let sources = |path| Sources::none().with_read_file(read).with_environment([(name, path)]);
    let settings = load(sources("/run/secrets/latchkey"));
    assert_eq!(settings.server.secret.as_ref().unwrap().reveal(), SECRET);
    assert!(settings.pinned("server.secret"));

    assert_says(&problem(sources("/nowhere")), &[name, "/nowhere", "cannot be read"]);
}

#[test]
fn a_secret_and_its_file_do_not_go_together() {
    let read = |_: &Path| Ok(SECRET.to_owned());
    let variables =
        [("LATCHKEY__ADMIN__API_KEY", OTHER_SECRET), ("LATCHKEY__ADMIN__API_KEY_FILE", "/run/key")];
    let text = problem(Sources::none().with_read_file(read).with_environment(variables));
    assert_says(&text, &["LATCHKEY__ADMIN__API_KEY_FILE", "LATCHKEY__ADMIN__API_KEY is set too"]);
}

#[test]
fn a_settings_file_names_the_file_of_a_secret_beside_it() {
    let read = |path: &Path| match path.to_str() {
        Some("/etc/latchkey/server-secret" | "/run/acme") => Ok(format!("{SECRET}\n")),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let with =
        |text: &str| Sources::none().with_read_file(read).with_file("/etc/latchkey/latchkey.toml", text);

    let settings = load(with("[server]\nsecret_file = 'server-secret'"));
    assert_eq!(settings.server.secret.as_ref().unwrap().reveal(), SECRET);
    let files: Vec<_> = settings.secret_files().into_iter().collect();
    assert_eq!(files, [(Path::new("/etc/latchkey/server-secret"), vec!["server.secret"])]);
    load(with("[oauth.providers.google]\nclient_id = 'c'\nclient_secret_file = '/run/acme'"));

    let missing = problem(with("[server]\nsecret_file = 'gone'"));
    assert_says(&missing, &["server.secret_file", "/etc/latchkey/gone", "cannot be read"]);
    let both = problem(with(&format!("[server]\nsecret_file = 'server-secret'\nsecret = '{SECRET}'")));
    assert_says(&both, &["server.secret_file", "server.secret is set too"]);
    assert_says(&problem(with("[server]\nbind_file = 'x'")), &["server.bind_file", "no such setting"]);
}

#[test]
fn an_empty_name_of_a_file_is_not_set() {
    let unset = [("LATCHKEY__SERVER__SECRET_FILE", ""), ("LATCHKEY__STORAGE__URL_FILE", "")];
    let settings = load(Sources::none().with_environment(unset));
    assert!(settings.server.secret.is_none() && !settings.pinned("server.secret"));
    let both = [("LATCHKEY__ADMIN__API_KEY", OTHER_SECRET), ("LATCHKEY__ADMIN__API_KEY_FILE", "")];
    let settings = load(Sources::none().with_environment(both));
    assert_eq!(settings.admin.api_key.as_ref().unwrap().reveal(), OTHER_SECRET);
}

#[test]
fn an_empty_secret_and_its_file_go_together() {
    let read = |_: &Path| Ok(SECRET.to_owned());
    let variables = [("LATCHKEY__ADMIN__API_KEY", ""), ("LATCHKEY__ADMIN__API_KEY_FILE", "/run/key")];
    let settings = load(Sources::none().with_read_file(read).with_environment(variables));
    assert_eq!(settings.admin.api_key.as_ref().unwrap().reveal(), SECRET);
}

#[test]
fn files_with_secrets_are_known_with_what_they_hold() {
    let read = |_: &Path| Ok(SECRET.to_owned());
    let text =
        format!("[admin]\napi_key = '{OTHER_SECRET}'\n[mail.smtp]\npassword = ''\n[log]\nlevel = 'info'\n");
    let sources = file(&text).with_read_file(read);
    let settings = load(sources.with_environment([("LATCHKEY__SERVER__SECRET_FILE", "/run/key")]));
    let files: Vec<_> = settings.secret_files().into_iter().collect();
    let wanted =
        [(Path::new("/run/key"), vec!["server.secret"]), (Path::new("latchkey.toml"), vec!["admin.api_key"])];
    assert_eq!(files, wanted);
    assert!(load(file("[log]\nlevel = 'info'")).secret_files().is_empty());
}

#[test]
fn a_variable_with_one_underscore_is_told_with_the_right_name() {
    let text = problem(Sources::none().with_environment([("LATCHKEY_SERVER_MODE", "production")]));
    assert_says(
        &text,
        &["LATCHKEY_SERVER_MODE: ", "did you mean LATCHKEY__SERVER__MODE?", "Two underscores"],
    );
    let text = problem(Sources::none().with_environment([("LATCHKEY__SERVER_MODE", "production")]));
    assert_says(&text, &["did you mean LATCHKEY__SERVER__MODE?"]);
}

#[test]
fn the_file_suffix_is_for_secrets_alone() {
    let text = problem(Sources::none().with_environment([("LATCHKEY__SERVER__BIND_FILE", "/run/bind")]));
    assert_says(&text, &["LATCHKEY__SERVER__BIND_FILE", "no such setting", "LATCHKEY__SERVER__BIND?"]);
}

#[test]
fn file_of_a_secret_on_the_command_line_is_told_where_it_belongs() {
    let text = problem(development(&["server.secret_file=/run/secret"]));
    assert_says(&text, &["server.secret_file (--set)", "settings file", "LATCHKEY__SERVER__SECRET_FILE"]);
    assert!(!text.contains("secret_next"), "{text}");
}

#[test]
fn unknown_keys_are_named_with_their_source_and_the_nearest_key() {
    let text = problem(file("[server]\nbnid = '127.0.0.1:1'"));
    assert_says(&text, &["server.bnid", "file latchkey.toml", "did you mean server.bind?"]);
    let text = problem(Sources::none().with_environment([("LATCHKEY__MAIL__SMTP__HOTS", "x")]));
    assert_says(&text, &["LATCHKEY__MAIL__SMTP__HOTS", "did you mean LATCHKEY__MAIL__SMTP__HOST?"]);
    let text = problem(development(&["auth.min_length=9"]));
    assert_says(&text, &["auth.min_length", "--set", "did you mean passwords.min_length?"]);
    let text = problem(file("[quite]\nelse = 1"));
    assert_says(&text, &["quite", "no such setting", "config print"]);
}

#[test]
fn variables_of_container_systems_are_no_settings() {
    load(Sources::none().with_environment([
        ("LATCHKEY_PORT", "tcp://10.0.0.1:8700"),
        ("LATCHKEY_SERVICE_HOST", "10.0.0.1"),
        ("PATH", "/bin"),
    ]));
}

#[test]
fn names_of_variables_are_upper_case() {
    let text = problem(Sources::none().with_environment([("LATCHKEY__server__bind", "127.0.0.1:1")]));
    assert_says(&text, &["LATCHKEY__server__bind", "did you mean LATCHKEY__SERVER__BIND?"]);
}

#[test]
fn a_value_that_is_not_utf8_is_named() {
    let bad = (OsString::from("LATCHKEY__LOG__LEVEL"), OsString::from_vec(vec![0xff]));
    let mut sources = Sources::none();
    sources.environment.push(bad);
    assert_says(&problem(sources), &["LATCHKEY__LOG__LEVEL", "not UTF-8"]);
}

#[test]
fn wrong_types_name_what_was_found_and_what_is_wanted() {
    let cases = [
        ("[limits]\nenabled = 'yes'", "limits.enabled", "the text \"yes\"", "true or false"),
        ("[passwords]\nmin_length = '8'", "passwords.min_length", "the text \"8\"", "from 8 to 128"),
        ("[passwords]\nmin_length = 7", "passwords.min_length", "\"7\"", "from 8 to 128"),
        ("[passwords]\nmin_length = -8", "passwords.min_length", "\"-8\"", "from 8 to 128"),
        ("[server]\nbind = 8700", "server.bind", "the number 8700", "a text"),
        ("[server]\ncors_origins = 'x'", "server.cors_origins", "the text \"x\"", "a list of texts"),
        ("[server]\ncors_origins = [1]", "server.cors_origins", "the number 1 in the list", "a list"),
        ("[server]\nmode = 'prod'", "server.mode", "the text \"prod\"", "\"development\" or \"production\""),
        ("[auth]\ncode_ttl = 10", "auth.code_ttl", "the number 10", "a duration"),
        ("[auth]\ncode_ttl = '0s'", "auth.code_ttl", "the text \"0s\"", "a duration above zero"),
        ("[limits]\nsign_up_per_address = '20'", "limits.sign_up_per_address", "the text \"20\"", "a rate"),
        ("[server.bind]\nx = 1", "server.bind", "a section", "a text"),
    ];
    for (text, key, found, wanted) in cases {
        let said = problem(file(text));
        assert_says(&said, &[key, "(file latchkey.toml)", &format!("found {found}"), "wanted", wanted]);
    }
}

#[test]
fn a_key_in_the_place_of_a_section_is_told() {
    assert_says(&problem(file("mail = 'smtp'")), &["mail (file latchkey.toml)", "[mail]"]);
}

#[test]
fn a_file_that_is_not_toml_is_told_by_line_without_its_text() {
    let text = problem(file("[admin]\n\napi_key = 'hunter2hunter2\n"));
    assert_says(&text, &["file latchkey.toml", "line 3"]);
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn values_of_secrets_are_never_repeated() {
    let said = problems(file("[server]\nsecret = 4711\n[admin]\napi_key = 'hunter2'")).join("\n");
    assert_says(&said, &["server.secret", "admin.api_key"]);
    assert!(!said.contains("4711") && !said.contains("hunter2"), "{said}");
    let said = problem(development(&["server.secret:hunter2"]));
    assert_says(&said, &["--set, number 1", "section.key=value"]);
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn all_problems_are_told_at_once() {
    let said = problems(
        file("[server]\nbnid = 1\nbind = 'x'\n[auth]\ncode_ttl = 1")
            .with_environment([("LATCHKEY__LOG__FORMAT", "xml")])
            .with_override("limits.enabled=maybe"),
    );
    assert_eq!(said.len(), 5, "{said:#?}");
}
