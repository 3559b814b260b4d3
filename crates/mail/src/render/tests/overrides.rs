//! Facts about files of the operator in place of ours.

use super::*;

#[test]
fn a_file_of_the_operator_replaces_ours() {
    let templates = override_with("verify_code.txt", "Servus, {{ code }} für {{ service_name }}\n").unwrap();
    let mail = templates.render(VERIFY_CODE, &[], &sample(true)).map_err(|error| error.to_string()).unwrap();
    assert_eq!(mail.text, "Servus, 123456 für Latchkey\n");
    assert!(mail.html.contains("Verify your email address"));
}

#[test]
fn a_layout_of_the_operator_holds_our_contents() {
    let layout = "<html lang=\"de\"><h1>{% block heading %}{% endblock %}</h1>{% if code %}{{ code }}{% endif %}</html>";
    let templates = override_with("layout.html", layout).unwrap();
    let mail = templates.render(RESET_CODE, &[], &sample(true)).map_err(|error| error.to_string());
    assert_eq!(mail.unwrap().html, "<html lang=\"de\"><h1>Set a new password</h1>123456</html>\n");
}

#[test]
fn markdown_of_the_operator_makes_all_three_parts() {
    let source = "# Hej\n## Kod\n### Din kod\n\nSkriv **koden**:\n\n    {{ code }}\n\n> Varning & mer.\n";
    let templates = override_with("verify_code.md", source).unwrap();
    let mail = templates.render(VERIFY_CODE, &[], &sample(false)).map_err(|error| error.to_string()).unwrap();
    assert_eq!(mail.subject, "Hej");
    let ending = "-- \nSent by Latchkey, https://accounts.example.org\n";
    assert_eq!(mail.text, format!("Hello,\n\nSkriv koden:\n\n    123456\n\nVarning & mer.\n\n{ending}"));
    for part in ["Skriv <strong>koden</strong>:", "class=\"warning\"", ">123456</p>", ">Din kod</div>"] {
        assert!(mail.html.contains(part), "{part}: {}", mail.html);
    }
}

#[test]
fn a_language_of_the_operator_is_complete_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let swedish = folder.path().join("sv-SE");
    std::fs::create_dir(&swedish).unwrap();
    for (name, content) in
        [("words.md", include_str!("../../../texts/en/words.md")), ("act.md", "- Tid: {{ time }}\n")]
    {
        std::fs::write(swedish.join(name), content).unwrap();
    }
    let error = Templates::load(folder.path()).err().unwrap().to_string();
    assert!(error.contains("sv-SE/verify_code.subject.txt"), "{error}");

    for name in crate::template::names().filter(|name| !["words", "act"].contains(name)) {
        let english = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("texts/en/{name}.md"));
        std::fs::copy(english, swedish.join(format!("{name}.md"))).unwrap();
    }
    std::fs::write(swedish.join("password_set.subject.txt"), "Nytt lösenord").unwrap();
    let templates = Templates::load(folder.path()).unwrap();
    let template = Template::of(MailKind::PasswordSet, false);
    let locale = |tag| Locale::parse(tag).unwrap();
    let mail = templates
        .render(template, &[&locale("sv-SE")], &sample(true))
        .map_err(|error| error.to_string())
        .unwrap();
    assert_eq!(mail.subject, "Nytt lösenord");
    assert!(mail.text.contains("\nTid: 2026-03-02 10:04 UTC\n"), "{}", mail.text);
    assert!(
        mail.html.contains("<html lang=\"sv-SE\">")
            && mail.html.contains("Tid: <span style=\"white-space:nowrap;\">2026-03-02 10:04 UTC</span>")
    );
    let mail = templates.render(template, &[&locale("sv")], &sample(true)).map_err(|error| error.to_string());
    assert!(mail.unwrap().text.contains("\nTime: 2026"));
}

#[test]
fn a_phrase_that_a_language_lacks_is_an_error_that_names_it() {
    let error = override_with("words.md", "- greeting: Hi\n").err().unwrap().to_string();
    assert!(error.contains("words/minutes"), "{error}");
}

#[test]
fn a_folder_that_is_no_language_is_an_error() {
    for name in ["en", "DE", "my texts"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(name)).unwrap();
        assert!(matches!(Templates::load(folder.path()), Err(TemplateError::UnknownFile { .. })), "{name}");
    }
}

#[test]
fn a_variable_that_may_be_missing_must_be_asked_for() {
    let error =
        override_with("reset_link.txt", "Hello {{ recipient_name }}, {{ link }}").err().unwrap().to_string();
    assert!(error.contains("reset_link.txt line 1") && error.contains("without an if"), "{error}");
}

#[test]
fn an_unknown_file_is_an_error_that_names_it() {
    let error = override_with("verify-code.txt", "x").err().unwrap().to_string();
    assert!(error.contains("verify-code.txt") && error.contains("verify_code"), "{error}");
}

#[test]
fn hidden_files_are_passed_over() {
    assert!(override_with(".gitkeep", "{{").is_ok());
}

#[test]
fn a_syntax_error_is_an_error_that_names_file_and_line() {
    let error = override_with("reset_link.html", "<p>\n{% if %}\n").err().unwrap().to_string();
    assert!(error.contains("reset_link.html line 2"), "{error}");
}

#[test]
fn an_unknown_variable_is_an_error_at_load() {
    for content in ["{{ nmae }}", "x{% if contested %}{{ nmae }}{% endif %}", "{{ service_name.nmae }}"] {
        let error = override_with("sign_up_attempt.txt", content).err().unwrap().to_string();
        assert!(error.contains("sign_up_attempt.txt line 1"), "{error}");
    }
}

#[test]
fn an_unknown_variable_in_an_included_file_names_that_file() {
    let error = override_with("verify_notes.html", "\n{{ nmae }}").err().unwrap().to_string();
    assert!(error.contains("verify_notes.html line 2"), "{error}");
}

#[test]
fn an_empty_mail_is_an_error_at_load() {
    let error = override_with("reset_code.subject.txt", " \n").err().unwrap().to_string();
    assert!(error.contains("reset_code.subject.txt: is empty"), "{error}");
}

#[test]
fn an_endless_template_runs_out_of_fuel() {
    let content = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
    assert!(matches!(override_with("verify_code.txt", content), Err(TemplateError::Broken { .. })));
}

#[test]
fn text_that_is_not_utf8_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("layout.html"), b"\xff").unwrap();
    let error = Templates::load(folder.path()).err().unwrap().to_string();
    assert!(error.contains("layout.html"), "{error}");
    assert!(Templates::load(&folder.path().join("gone")).err().unwrap().to_string().contains("gone"));
}

#[test]
fn a_failure_with_real_data_quotes_none_of_it() {
    // Passes the trial rendering, but fails with this mail's data.
    let source = "{% if recipient_name and recipient_name != 'Ada Lovelace' %}{{ code|int + recipient_name }}{% endif %}x";
    let templates = override_with("verify_code.txt", source).unwrap();
    let context = MailContext { code: Some("654321".to_owned()), ..named("Mallory") };
    let error = templates.render(VERIFY_CODE, &[], &context).err().unwrap().to_string();
    assert!(!error.contains("654321") && !error.contains("Mallory"), "{error}");
    assert!(error.contains("verify_code.txt"), "{error}");
}
