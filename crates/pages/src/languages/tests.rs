use super::*;

#[test]
fn every_built_in_language_is_complete() {
    for (tag, source) in BUILT_IN {
        let faults = catalogue::checked(tag, source, english()).err().unwrap_or_default();
        assert!(faults.is_empty(), "{tag}: {}", list(&faults));
    }
}

#[test]
fn no_built_in_language_repeats_english_sentences() {
    for (tag, source) in &BUILT_IN[1..] {
        let own = Catalogue::parse(tag, source).unwrap();
        let same = english().keys().filter(|key| *key != "time.moment").filter(|key| {
            let texts = [english(), &own]
                .map(|words| words.text(key).map(|text| text.form("en", Some(2)).to_owned()));
            texts[0] == texts[1] && texts[0].as_ref().is_some_and(|text| text.split(' ').count() > 3)
        });
        assert_eq!(same.collect::<Vec<_>>(), Vec::<&str>::new(), "{tag}");
    }
}

#[test]
fn names_are_read_without_the_texts() {
    let languages = Languages::built_in().with_pseudo();
    let names: Vec<&str> = languages.all().iter().map(|language| language.name.as_str()).collect();
    assert_eq!(
        names[..8],
        ["English", "Deutsch", "Français", "Español", "Italiano", "Português", "日本語", "中文"]
    );
    for language in languages.all() {
        assert_eq!(language.name, language.catalogue().name);
    }
}

#[test]
fn the_pseudo_language_is_longer_accented_and_mirrored() {
    let languages = Languages::built_in().with_pseudo();
    let pseudo = languages.choose([PSEUDO]).catalogue();
    assert_eq!(pseudo.direction(), "rtl");
    let text = pseudo.text("app.to").unwrap().form(PSEUDO, None);
    assert!(text.contains("{host}") && !text.contains("continue"), "{text}");
    assert!(text.chars().count() > 1 + "to continue to {host}".chars().count() * 5 / 4, "{text}");
    assert_eq!(catalogue::differences(pseudo, english()), Vec::new());
}

#[test]
fn tags_fall_back_to_their_language_and_then_to_english() {
    let languages = Languages::built_in();
    for (tags, expected) in
        [(vec!["xx", "EN-gb-oed"], "en"), (vec![], "en"), (vec!["tlh-Latn"], "en"), (vec![PSEUDO], "en")]
    {
        assert_eq!(languages.choose(tags.iter().copied()).tag, expected, "{tags:?}");
    }
}

#[test]
fn accepted_languages_are_ordered_by_weight() {
    assert_eq!(accepted("fr;q=0.5, de-AT, en;q=0.8, *;q=0.1"), ["de-AT", "en", "fr"]);
    assert_eq!(accepted("de;q=0, en;q=2, fr;q=0.1234, it;q=x, <b>, , ja; q=0.05"), ["ja"]);
    assert_eq!(accepted(""), Vec::<&str>::new());
}

#[test]
fn times_and_numbers_follow_the_language() {
    const HOUR: u64 = 60 * 60;
    let (languages, minute) = (Languages::built_in(), std::time::Duration::from_mins(1));
    let at = latchkey_domain::time::Timestamp::from_millis(1_777_888_920_000);
    for (tag, moment, distance, wait, number) in [
        ("en", "4 May 2026, 10:02 UTC", "2 days ago", "30 seconds", "1,000"),
        ("de", "4. Mai 2026, 10:02 UTC", "vor 2 Tagen", "30 Sekunden", "1.000"),
        ("fr", "4 mai 2026 à 10:02 UTC", "il y a 2 jours", "30 secondes", "1\u{202f}000"),
        ("ja", "2026年5月4日 10:02 UTC", "2日前", "30秒", "1,000"),
    ] {
        let words = languages.choose([tag]).catalogue();
        assert_eq!(words.moment(at), moment);
        assert_eq!(words.distance(at, at.plus(minute * 60 * 50)), distance);
        assert_eq!(words.duration(30), wait);
        assert_eq!(words.number(1000), number);
    }
    let english = languages.choose(["en"]).catalogue();
    assert_eq!(english.distance(at.plus(minute), at), "in 1 minute");
    assert_eq!(english.distance(at, at), "just now");
    for (seconds, words) in [
        (14 * 24 * HOUR - 1, "in 14 days"),
        (36 * HOUR + 60, "in 2 days"),
        (24 * HOUR - 60, "in 1 day"),
        (12 * HOUR - 60, "in 12 hours"),
        (90 * 60 - 1, "in 1 hour"),
        (HOUR - 1, "in 1 hour"),
        (20, "just now"),
    ] {
        let after = std::time::Duration::from_secs(seconds);
        assert_eq!(english.distance(at.plus(after), at), words, "{seconds}");
    }
    assert_eq!(english.duration(1_400), "24 minutes");
    assert_eq!(english.number(1_234_567), "1,234,567");
}

#[test]
fn the_folder_of_the_operator_adds_and_replaces_languages() {
    let folder = tempfile::tempdir().unwrap();
    let english = BUILT_IN[0].1;
    std::fs::write(folder.path().join("en.toml"), english.replace("Create an account", "Join us")).unwrap();
    std::fs::write(
        folder.path().join("ar.toml"),
        english.replacen("name = \"English\"", "name = \"العربية\"\nright_to_left = true", 1),
    )
    .unwrap();
    std::fs::write(folder.path().join(".hidden"), "x").unwrap();

    let languages = Languages::built_in().with_folder(folder.path()).unwrap();

    assert_eq!(languages.all().len(), BUILT_IN.len() + 1);
    let text = languages.choose(["en"]).catalogue().text("sign_up.title").unwrap();
    assert_eq!(text.form("en", None), "Join us");
    let arabic = languages.choose(["ar-EG"]);
    assert_eq!((arabic.name.as_str(), arabic.catalogue().direction()), ("العربية", "rtl"));
}

#[test]
fn an_incomplete_language_of_the_operator_is_refused_with_every_fault() {
    let folder = tempfile::tempdir().unwrap();
    let english = BUILT_IN[0].1;
    let broken = english
        .replace("to = \"to continue to {host}\"", "to = \"to continue to {app}\"")
        .replace("skip = ", "skipp = ")
        .replace("days = { one = \"{count} day\", ", "days = { ");
    std::fs::write(folder.path().join("pl.toml"), broken).unwrap();

    let error = Languages::built_in().with_folder(folder.path()).unwrap_err().to_string();

    for part in [
        "pl.toml",
        "app.to has the placeholders {app}, and in English {host}",
        "frame.skip is missing",
        "frame.skipp is not known",
    ] {
        assert!(error.contains(part), "{part} is missing in {error}");
    }
    assert!(!error.contains("days"), "a language needs no form but the last: {error}");

    std::fs::write(folder.path().join("pl.toml"), "name = \"Polski\"\n\n[x\n").unwrap();
    let error = Languages::built_in().with_folder(folder.path()).unwrap_err().to_string();
    assert!(error.contains("line 3"), "{error}");

    std::fs::rename(folder.path().join("pl.toml"), folder.path().join("polish language.toml")).unwrap();
    assert!(matches!(Languages::built_in().with_folder(folder.path()), Err(LanguageError::Name { .. })));
}
