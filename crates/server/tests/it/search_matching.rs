//! Tests of search matching and order: folding, words, special characters, ranks, and freshness.

use latchkey_testkit::{TestApp, User, Value, both_stores, json, seconds};

const ME: &str = "/api/profiles/me";

/// Creates a user whose profile has these fields. The address is `user{n}@example.org`.
async fn profile(app: &TestApp, n: usize, fields: Value) -> User {
    let user = app.user(&format!("user{n}")).await;
    user.patch(ME, fields).send().await.expect(200);
    user
}

/// Creates a profile per name.
async fn named(app: &TestApp, names: &[&str]) {
    for (n, name) in names.iter().enumerate() {
        profile(app, n, json!({"name": name})).await;
    }
}

/// Names that a search finds, in order. Asserts that the header has the same number.
async fn found(app: &TestApp, q: &str) -> Vec<String> {
    let answer = app.anon().search(q).query("limit", "100").send().await;
    let hits = answer.expect(200);
    let names: Vec<_> =
        hits.as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(answer.number("x-total-count"), names.len() as u64, "{q}");
    names
}

async fn finds(app: &TestApp, q: &str, names: &[&str]) {
    let mut hits = found(app, q).await;
    hits.sort_unstable();
    let mut names = names.to_vec();
    names.sort_unstable();
    assert_eq!(hits, names, "{q:?}");
}

/// Names with characters that are special in a search engine, each with a query that finds only that name.
const PLAIN: &[(&str, &str)] = &[
    ("100%", "00%"),
    ("under_score", "r_s"),
    ("a*b*c", "*b*"),
    ("say\"hi\"x", "\"hi\""),
    ("o'neil", "o'n"),
    ("x^2^y", "^2^"),
    ("well-known", "l-k"),
    ("c++lang", "c++"),
    ("(in)side", "in)"),
    ("(out", "(o"),
    ("one:two", "e:t"),
    ("back\\slash", "k\\s"),
    ("semi;colon", "i;c"),
    ("a&b|c", "&b|"),
    ("[set]", "[se"),
    ("{near}", "{n"),
    ("~tilde", "~"),
    ("-- drop", "--"),
    ("plain words", "plain"),
];
/// Queries that would match something if one of their characters were special.
const NOT_THERE: &[&str] = &[
    "%",
    "___",
    "_",
    "***",
    "*",
    "\"",
    "\"\"",
    "'",
    "^",
    "+",
    ":",
    "a%c",
    "p_ain",
    "pl*",
    "name:one",
    "^plain",
    "\\",
    "-plain",
    "\"plain words\"",
    "plain OR one",
    "plain NOT one",
    "(plain)",
];

/// Groups of texts that fold to the same text.
const ALIKE: &[&[&str]] = &[
    &["Éva", "eva", "EVA", "E\u{301}va", "ＥＶＡ", "e\u{200b}v\u{ad}a", "𝔈𝔳𝔞", "\u{feff}Eva\u{202e}"],
    &["Straße", "STRASSE", "strasse", "STRAẞE", "ſtraße"],
    &["İstanbul", "ISTANBUL", "istanbul", "i\u{307}stanbul"],
    &["ﬁnley", "FINLEY", "finley", "Ｆinley"],
    &["Σίσυφος", "ΣΊΣΥΦΟΣ", "σισυφοσ"],
    &["Ёлка", "елка", "ЕЛКА", "е\u{308}лка"],
    &["①②③", "123", "１２３", "¹²³"],
    &["ガス", "ｶﾞｽ", "カス", "㋕ス"],
    &["Ångström", "angstrom", "A\u{30a}NGSTRO\u{308}M", "Å\u{6e}gström"],
    &["한국어", "\u{1112}\u{1161}\u{11ab}국어"],
];

both_stores! {
    async fn folded_texts_are_one_text(app) {
        for (n, spellings) in ALIKE.iter().enumerate() {
            let user = profile(&app, n, json!({})).await;
            for stored in *spellings {
                user.patch(ME, json!({"name": stored})).send().await.expect(200);
                for q in *spellings {
                    finds(&app, q, &[stored]).await;
                }
            }
        }
    }

    async fn letters_that_only_look_alike_stay_apart(app) {
        named(&app, &["Ærø", "ısı", "Ада", "łódź"]).await;

        finds(&app, "ærø", &["Ærø"]).await;
        for q in ["aero", "aro", "isi", "ada", "lodz"] {
            finds(&app, q, &[]).await;
        }
        finds(&app, "łodz", &["łódź"]).await;
    }

    async fn word_of_three_characters_is_found_anywhere_in_a_word(app) {
        named(&app, &["Lovelace", "Ada Byron", "計算機科学"]).await;

        for (q, name) in [("vel", "Lovelace"), ("ace", "Lovelace"), ("LOV", "Lovelace"), ("yro", "Ada Byron")]
        {
            finds(&app, q, &[name]).await;
        }
        finds(&app, "算機科", &["計算機科学"]).await;
    }

    async fn word_of_one_or_two_characters_is_found_only_at_the_start_of_a_word(app) {
        named(&app, &["Lovelace", "Ada Byron", "計算機科学", "Ulla Éva"]).await;

        for (q, names) in [
            ("l", &["Lovelace"][..]),
            ("lo", &["Lovelace"]),
            ("by", &["Ada Byron"]),
            ("計算", &["計算機科学"]),
        ] {
            finds(&app, q, names).await;
        }
        for q in ["ov", "ce", "yr", "n", "da", "算機", "学"] {
            finds(&app, q, &[]).await;
        }
        finds(&app, "é", &["Ulla Éva"]).await;
    }

    async fn length_of_a_word_is_counted_after_folding(app) {
        named(&app, &["Weiss", "Coffin", "Preﬃx"]).await;

        finds(&app, "iß", &["Weiss"]).await; // "iss"
        finds(&app, "ﬃ", &["Coffin", "Preﬃx"]).await; // "ffi"
        finds(&app, "is\u{301}", &[]).await; // "is"
    }

    async fn word_does_not_span_white_space(app) {
        named(&app, &["Ada Lovelace"]).await;

        for q in ["adalovelace", "dalov", "a\u{200b}dal"] {
            finds(&app, q, &[]).await;
        }
    }

    async fn white_space_of_any_kind_separates_words(app) {
        named(&app, &["Ada\u{3000}King\u{a0}of\u{2003}Lovelace"]).await;

        for q in
            ["lo", "ki lo", "of\u{2028}ada", "KING\u{3000}\u{3000}LOVE", "\tada\n", "ada king of lovelace"]
        {
            assert_eq!(found(&app, q).await.len(), 1, "{q:?}");
        }
    }

    async fn punctuation_stays_in_its_word(app) {
        named(&app, &["O'Neil-Smith"]).await;

        for q in ["o'", "o'n", "neil-smi", "l-s", "O'NEIL-SMITH"] {
            finds(&app, q, &["O'Neil-Smith"]).await;
        }
        for q in ["oneil", "ne", "sm", "neil smith x", "-s"] {
            finds(&app, q, &[]).await;
        }
    }

    async fn wildcards_quotes_and_operators_are_plain_characters(app) {
        let names: Vec<_> = PLAIN.iter().map(|(name, _)| *name).collect();
        named(&app, &names).await;

        for (name, q) in PLAIN {
            finds(&app, q, &[name]).await;
        }
        for q in NOT_THERE {
            finds(&app, q, &[]).await;
        }
    }

    async fn special_characters_are_plain_too(app) {
        let bio = "x\u{1}abc\u{1f}y \u{e000}def \u{fdd0}ghi\u{ffff} \u{10ffff}jkl \u{378}mno";
        profile(&app, 1, json!({"name": "Strange", "bio": bio})).await;

        for q in [
            "\u{1}abc",
            "c\u{1f}y",
            "\u{e000}",
            "\u{e000}de",
            "\u{fdd0}g",
            "ghi\u{ffff}",
            "\u{10ffff}",
            "\u{378}mno",
        ] {
            finds(&app, q, &["Strange"]).await;
        }
        for q in ["\u{1}", "abc y", "\u{e001}", "\u{ffff}ghi", "\u{1f}"] {
            finds(&app, q, &[]).await;
        }
    }

    async fn longest_and_most_crowded_texts_are_answered(app) {
        let words: String =
            ('a'..='z').chain('0'..='9').chain('α'..='ξ').flat_map(|c| [c, ' ']).take(100).collect();
        let texts = [
            words.as_str(),
            &"ﷺ".repeat(100),
            &"\" ".repeat(50),
            &"a*".repeat(50),
            &"\u{1f600}".repeat(100),
            &"x".repeat(100),
        ];
        for (n, text) in texts.iter().enumerate() {
            profile(&app, n, json!({"name": text})).await;
        }

        for text in texts {
            finds(&app, text, &[text]).await;
        }
    }

    async fn operators_are_words(app) {
        named(&app, &["Ada", "Eve", "Ada AND Eve", "NEAR Ada", "NOT Eve", "Eve OR"]).await;

        finds(&app, "ada AND eve", &["Ada AND Eve"]).await;
        finds(&app, "ada OR eve", &[]).await;
        finds(&app, "NOT eve", &["NOT Eve"]).await;
        finds(&app, "NEAR ada", &["NEAR Ada"]).await;
        finds(&app, "NEAR(ada eve)", &[]).await;
        finds(&app, "OR", &["Eve OR"]).await;
    }

    async fn every_word_must_occur_in_any_field_and_any_order(app) {
        let fields = json!({"name": "Ada Byron", "username": "countess", "bio": "First programmer"});
        profile(&app, 1, fields).await;
        profile(&app, 2, json!({"name": "Ada Other", "bio": "Second"})).await;

        for q in ["byron ada", "prog count", "first ada countess", "ada ada byron", "coun ess", "FIRST byr"] {
            finds(&app, q, &["Ada Byron"]).await;
        }
        for q in ["ada second countess", "byron other", "ada byron nobody"] {
            finds(&app, q, &[]).await;
        }
    }

    async fn emails_ids_metadata_and_custom_fields_are_never_searched(app) {
        let ada = profile(&app, 1, json!({"name": "Plain", "metadata": {"hidden": "private"}})).await;
        let custom = json!({"colour": "crimson", "avatar_url": "https://pictures.example/face"});
        ada.patch("/api/auth/profiles/current", custom).send().await.expect(200);
        let record = ada.get(ME).send().await.expect(200);

        let id = record["id"].as_str().unwrap();
        for q in [
            "user1",
            "example.org",
            "user1@example.org",
            "hidden",
            "private",
            "colour",
            "crimson",
            "pictures",
            &ada.id,
            id,
        ] {
            finds(&app, q, &[]).await;
        }
    }

    async fn whole_name_or_username_ranks_first_then_prefixes_then_the_rest(app) {
        let fields = [
            json!({"name": "Xenia Ada"}),
            json!({"name": "Ada Byron"}),
            json!({"name": "ÁDA"}),
            json!({"name": "Other", "username": "ada"}),
            json!({"name": "Another", "username": "ada.b"}),
            json!({"name": "Bio", "bio": "Ada"}),
        ];
        for (n, fields) in fields.into_iter().enumerate() {
            profile(&app, n, fields).await;
            app.clock.advance(seconds(1));
        }

        let names = found(&app, "ada").await;

        assert_eq!(names, ["Other", "ÁDA", "Another", "Ada Byron", "Bio", "Xenia Ada"]);
    }

    async fn ranks_compare_the_whole_query(app) {
        for (n, name) in
            ["Byron Ada", "Ada Byron", "Ada Byronic", "Ada X Byron", "ada  BYRON"].iter().enumerate()
        {
            profile(&app, n, json!({"name": name})).await;
            app.clock.advance(seconds(1));
        }

        let names = found(&app, "ada byron").await;

        assert_eq!(names, ["ada  BYRON", "Ada Byron", "Ada Byronic", "Ada X Byron", "Byron Ada"]);
    }

    async fn ties_are_newest_first_by_creation_not_by_change(app) {
        let mut users = Vec::new();
        for n in 0..3 {
            users.push(profile(&app, n, json!({"name": format!("Lin {n}")})).await);
            app.clock.advance(seconds(1));
        }

        users[0].patch(ME, json!({"bio": "changed last"})).send().await.expect(200);

        assert_eq!(found(&app, "lin").await, ["Lin 2", "Lin 1", "Lin 0"]);
    }

    async fn write_is_found_at_once(app) {
        let ada = app.user("ada").await;
        finds(&app, "ada", &["Ada"]).await;

        ada.patch(ME, json!({"name": "Grace"})).send().await.expect(200);
        finds(&app, "ada", &[]).await;
        finds(&app, "grace", &["Grace"]).await;
        ada.patch("/api/auth/profiles/current", json!({"bio": "compilers"})).send().await.expect(200);
        finds(&app, "compilers", &["Grace"]).await;
        ada.patch(ME, json!({"bio": null, "username": "hopper"})).send().await.expect(200);
        finds(&app, "compilers", &[]).await;
        finds(&app, "hopper", &["Grace"]).await;
        ada.patch(ME, json!({"username": null})).send().await.expect(200);
        finds(&app, "hopper", &[]).await;
    }

    async fn deleted_profile_and_deleted_user_are_not_found_any_more(app) {
        let (one, two) =
            (profile(&app, 1, json!({"name": "Lin"})).await, profile(&app, 2, json!({"name": "Lin"})).await);

        app.admin().delete(&format!("/api/auth/users/{}/profile", one.id)).send().await.expect(200);
        finds(&app, "lin", &["Lin"]).await;
        app.admin().delete("/api/auth/users").json(&json!({"userIds": [two.id]})).send().await.expect(200);

        finds(&app, "lin", &[]).await;
    }

    async fn write_is_found_on_another_instance(app) {
        let other = app.beside().await;

        let ada = app.user("ada").await;
        finds(&other, "ada", &["Ada"]).await;
        ada.patch(ME, json!({"name": "Grace"})).send().await.expect(200);

        finds(&other, "grace", &["Grace"]).await;
        finds(&other, "ada", &[]).await;
    }
}
