//! The operator's templates in place of ours.

use std::fs;

use latchkey_pages::{Languages, Pages, Theme};
use tempfile::TempDir;

use crate::support::site;

const SIGN_OUT: &str = include_str!("../../templates/sign_out.html");
const SHARED: &str = include_str!("../../templates/ui.html");

fn folder(name: &str, source: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), source).unwrap();
    folder
}

fn load(folder: &TempDir) -> Result<Pages, String> {
    Pages::with_templates(site(), &Theme::default(), Languages::built_in(), folder.path())
        .map_err(|e| e.to_string())
}

fn refusal(name: &str, source: &str) -> String {
    load(&folder(name, source)).err().unwrap_or_else(|| panic!("{name} was taken: {source}"))
}

#[test]
fn a_file_of_the_same_name_replaces_a_template() {
    let folder = folder("sign_out.html", &SIGN_OUT.replace("<p class=\"lead\">", "<p class=\"ours\">"));
    fs::write(folder.path().join(".notes"), "hidden").unwrap();
    let pages = load(&folder).unwrap();
    let states = latchkey_pages::all_states(&latchkey_pages::Person::plain());
    let state = states.iter().find(|state| state.name == "sign_out").unwrap();
    let html = pages.render(pages.languages().choose(["en"]), &state.frame, state.view.as_ref()).unwrap();
    assert!(html.contains("<p class=\"ours\">"));
}

#[test]
fn faults_name_file_and_line() {
    for (source, expected) in [
        (SIGN_OUT.replace("view.email", "view.mail"), "sign_out.html line 9"),
        (SIGN_OUT.replace("sign_out.done\"", "sign_out.unknown\""), "sign_out.html line 6"),
        (SIGN_OUT.replace("{% endif %}", ""), "sign_out.html line"),
        (SIGN_OUT.replace("view.email)", "view.email|safe)"), "sign_out.html line 9"),
        (
            SIGN_OUT.replace(
                "{{ begin(view.form) }}",
                "<form method=\"post\" action=\"{{ view.form.action }}\">",
            ),
            "sign_out.html line 10: a form that acts lacks the field form_token",
        ),
        (
            "{% for x in range(100000) %}{% for y in range(1000) %}.{% endfor %}{% endfor %}".to_owned(),
            "sign_out.html",
        ),
    ] {
        let refusal = refusal("sign_out.html", &source);
        assert!(refusal.contains(expected), "{expected}: {refusal}");
    }
}

/// The form of `sign_out.html` in place of [`SIGN_OUT`]'s, with these head and field.
fn with_form(head: &str, field: &str) -> String {
    SIGN_OUT.replacen("{{ begin(view.form) }}", &format!("{head}\n{field}"), 1)
}

#[test]
fn form_that_acts_needs_its_token_however_it_is_written() {
    const POST: &str = "<form method=\"post\" action=\"{{ view.form.action }}\">";
    const FIELD: &str = "<input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\">";
    for (head, field) in [
        (POST, ""),
        ("<form method=post action='{{ view.form.action }}'>", ""),
        ("<FORM METHOD=\"POST\" ACTION=\"{{ view.form.action }}\">", ""),
        ("<form\tmethod = ' Post' action=\"{{ view.form.action }}\">", ""),
        ("<form/method='post'/action=\"{{ view.form.action }}\">", ""),
        ("<form action=\"{{ view.form.action }}\"><button formmethod=\"post\">Go</button>", ""),
        ("<form action=\"{{ view.form.action }}\"><input type=submit formmethod=POST>", ""),
        ("<button form=f formmethod=post>Go</button><form id=f action=\"{{ view.form.action }}\">", ""),
        (POST, "<!-- <input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\"> -->"),
        (
            POST,
            "<textarea><input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\"></textarea>",
        ),
        (
            POST,
            "<template><input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\"></template>",
        ),
        (
            POST,
            "<noscript><input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\"></noscript>",
        ),
        (POST, "<p title='<input type=hidden name=form_token value={{ view.form.token }}>'>"),
        (POST, "<input type=\"hidden\" name=\"form_token\" value=\"\">"),
        (POST, "<input type=\"hidden\" name=\"form_token\">"),
        (POST, "<input type=\"hidden\" name=\"form_token\" value=\"a\">"),
        (POST, "<input type=\"hidden\" name=\"form_token\" value=\"x{{ view.form.token }}\">"),
        (POST, "<input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.action }}\">"),
        (POST, "<input type=\"checkbox\" name=\"form_token\" value=\"{{ view.form.token }}\">"),
        (POST, "<input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\" disabled>"),
        (POST, "<input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\" form=\"other\">"),
        (POST, "<input type=\"hidden\" name=\"FORM_TOKEN\" value=\"{{ view.form.token }}\">"),
        ("<form method=\"post\" action=\"/auth/account/data?act=delete\">", FIELD),
        (POST, "</form><input type=\"hidden\" name=\"form_token\" value=\"{{ view.form.token }}\">"),
    ] {
        let refusal = refusal("sign_out.html", &with_form(head, field));
        assert!(refusal.contains("sign_out.html line"), "{head} {field}: {refusal}");
        assert!(refusal.contains("a form that acts lacks the field form_token"), "{head} {field}: {refusal}");
    }
    for (head, field) in [
        (POST, FIELD),
        (
            "<FORM METHOD=post ACTION='{{ view.form.action }}'>",
            "<INPUT value='{{ view.form.token }}' TYPE=HIDDEN name=form_token>",
        ),
        ("<!-- <form method=post> -->{{ begin(view.form) }}", ""),
        ("<form method=dialog></form><form></form>{{ begin(view.form) }}", ""),
        (
            "<input form=f type=hidden name=form_token value={{ view.form.token }}><form id=f method=post action=\"{{ view.form.action }}\">",
            "",
        ),
    ] {
        let source = with_form(head, field);
        assert!(load(&folder("sign_out.html", &source)).is_ok(), "{source}");
    }
}

#[test]
fn template_cannot_switch_escaping_off() {
    for block in [
        "{% autoescape false %}",
        "{%- autoescape none -%}",
        "{%+autoescape \"none\"%}",
        "{%\nautoescape true %}",
    ] {
        let source = SIGN_OUT
            .replace("<p class=\"lead\">", &format!("{block}{{% endautoescape %}}<p class=\"lead\">"));
        let refusal = refusal("sign_out.html", &source);
        assert!(
            refusal.contains("sign_out.html line 9: ") && refusal.contains("autoescape"),
            "{block}: {refusal}"
        );
    }
    let source =
        SIGN_OUT.replace("<p class=\"lead\">", "{# {% autoescape false %} #}<p class=\"lead\">autoescape");
    assert!(load(&folder("sign_out.html", &source)).is_ok());
}

#[test]
fn template_shows_the_form_of_its_page() {
    for source in ["hello", "{% extends \"layout.html\" %}{% block title %}x{% endblock %}"] {
        let refusal = refusal("sign_in.html", source);
        assert!(refusal.contains("sign_in.html: ") && refusal.contains("form"), "{refusal}");
    }
    let refusal = refusal("layout.html", "<title>{{ page.here }}</title>");
    assert!(refusal.contains("layout.html: "), "{refusal}");
    assert!(load(&folder("error.html", "hello")).is_ok());
}

#[test]
fn missing_token_of_a_shared_template_is_told_at_its_own_line() {
    let field = "<input type=\"hidden\" name=\"form_token\" value=\"{{ form.token }}\">\n";
    assert!(SHARED.contains(field));
    let folder = folder("ui.html", &SHARED.replace(field, ""));
    fs::write(folder.path().join("sign_in.html"), include_str!("../../templates/sign_in.html")).unwrap();
    fs::write(
        folder.path().join("sign_out.html"),
        SIGN_OUT.replace("<p class=\"lead\">", "<p class=\"ours\">"),
    )
    .unwrap();

    let refusal = load(&folder).err().unwrap();

    let line = SHARED.lines().position(|line| line.starts_with("<form method=\"post\"")).unwrap() + 1;
    let expected = format!("ui.html line {line}: a form that acts lacks the field form_token");
    assert!(refusal.contains(&expected), "{refusal}");
}

#[test]
fn unknown_files_are_refused() {
    let refusal = refusal("signout.html", SIGN_OUT);
    assert!(refusal.contains("signout.html") && refusal.contains("sign_out.html"), "{refusal}");
    let refusal = self::refusal("sign_out.html", &" ".repeat(300 * 1024));
    assert!(refusal.contains("longer than 256 KiB"), "{refusal}");
}

#[test]
fn no_template_of_ours_turns_escaping_off() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
    let mut count = 0;
    let files = [folder.to_owned(), format!("{folder}/console")].map(|folder| fs::read_dir(folder).unwrap());
    for path in files.into_iter().flatten().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let source = fs::read_to_string(path).unwrap();
        let words: Vec<&str> = source.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        assert!(!words.contains(&"safe") && !words.contains(&"autoescape"));
        count += 1;
    }
    assert!(count > 25);
}
