//! Tests of GET /api/profiles/search: parameters, headers and pages. Matching and order are in `search_matching`, a
//! comparison with a full scan in `search_oracle`.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json};

const SEARCH: &str = "/api/profiles/search";

/// Creates this many users at the same time, all found by the query `lin`.
async fn lins(app: &TestApp, count: usize) {
    for n in 0..count {
        let body =
            json!({"email": format!("u{n}@example.org"), "password": PASSWORD, "name": format!("Lin {n}")});
        app.admin().post("/api/auth/users", body).send().await.expect(200);
    }
}

async fn page(app: &TestApp, limit: &str, offset: &str) -> Answer {
    app.anon().search("lin").query("limit", limit).query("offset", offset).send().await
}

fn ids(answer: &Answer) -> Vec<String> {
    let found = answer.expect(200);
    found.as_array().unwrap().iter().map(|profile| profile["id"].as_str().unwrap().to_owned()).collect()
}

/// Values of `X-Total-Count`, `X-Page` and `X-Page-Size`.
fn counts(answer: &Answer) -> [u64; 3] {
    ["x-total-count", "x-page", "x-page-size"].map(|name| answer.number(name))
}

both_stores! {
    async fn profile_is_found_by_name_bio_and_username(app) {
        let ada = app.user("ada").await;
        let changes = json!({"bio": "First programmer", "username": "countess"});
        ada.patch("/api/profiles/me", changes).send().await.expect(200);

        for q in ["Ada", "program", "COUNTESS", "ada first"] {
            let answer = app.anon().search(q).send().await;

            let found = answer.expect(200);
            assert_eq!(found.as_array().unwrap().len(), 1, "{q}");
            assert_eq!(found[0]["auth_id"], ada.id, "{q}");
            assert_eq!(answer.number("x-total-count"), 1, "{q}");
        }
    }

    async fn hit_is_exactly_the_public_profile(app) {
        let ada = app.user("ada").await;
        let fields =
            json!({"username": "countess", "metadata": {"a": 1}, "avatar_url": "https://example.org/a"});
        ada.patch("/api/profiles/me", fields).send().await.expect(200);
        ada.patch("/api/auth/profiles/current", json!({"colour": "red"})).send().await.expect(200);

        let found = app.anon().search("ada").send().await.expect(200);

        let public = app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await.expect(200);
        assert_eq!(found, json!([public]));
        let keys: Vec<_> = public.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.len(), 7, "{keys:?}");
    }

    async fn search_without_a_text_is_refused(app) {
        for path in
            [SEARCH.to_owned(), format!("{SEARCH}?q"), format!("{SEARCH}?q="), format!("{SEARCH}?limit=5")]
        {
            app.anon().get(&path).send().await.refused(400, "MISSING_QUERY");
        }
    }

    async fn search_for_white_space_alone_is_refused(app) {
        for q in
            [" ", "\t", "\n", "\r\n", "\u{85}", "\u{a0}", "\u{1680}", "\u{2003}\u{2028}", "\u{3000} \u{202f}"]
        {
            app.anon().search(q).send().await.refused(400, "MISSING_QUERY");
        }
    }

    async fn search_for_marks_and_format_characters_alone_is_refused(app) {
        for q in ["\u{301}", "\u{301}\u{308} \u{200b}", "\u{ad}", "\u{200d}\u{feff}", "\u{fe0f}", "\u{202e}"]
        {
            app.anon().search(q).send().await.refused(400, "MISSING_QUERY");
        }
    }

    async fn search_text_has_at_most_100_characters(app) {
        for piece in ["a", "é", "🙂", "\u{3000}a"] {
            let longest: String = piece.chars().cycle().take(100).collect();
            app.anon().search(&longest).send().await.expect(200);

            let answer = app.anon().search(&format!("{longest}a")).send().await;

            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert!(refusal["message"].as_str().unwrap().contains('q'), "{refusal}");
        }
    }

    async fn search_text_that_is_no_text_is_refused(app) {
        for q in ["%", "%4", "%zz", "%ff", "%ed%a0%80", "%00", "a%00b"] {
            let answer = app.anon().get(&format!("{SEARCH}?q={q}")).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn limit_and_offset_are_plain_integers(app) {
        let no_integers = [
            "", " ", "-1", "-0", "+1", "1.5", "1.0", "1e2", " 5", "5 ", "0x10", "ten", "1_000", "1,000", "٣",
            "１", "NaN", "null", "1;2", "--1", "1'", "\u{a0}1",
        ];
        for name in ["limit", "offset"] {
            for value in no_integers {
                let answer = app.anon().search("ada").query(name, value).send().await;

                let refusal = answer.refused(400, "VALIDATION_ERROR");
                assert!(refusal["message"].as_str().unwrap().contains(name), "{value:?}: {refusal}");
            }
        }
    }

    async fn unescaped_plus_before_a_number_is_a_space_and_refused(app) {
        for query in ["limit=+5", "offset=+5"] {
            let answer = app.anon().get(&format!("{SEARCH}?q=ada&{query}")).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn limit_of_nothing_is_refused(app) {
        for limit in ["0", "00"] {
            app.anon().search("ada").query("limit", limit).send().await.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn parameter_given_twice_is_refused(app) {
        for query in ["q=a&q=a", "q=a&limit=1&limit=1", "q=a&offset=0&offset=0", "q=a&%71=b", "q=&q=a"] {
            let answer = app.anon().get(&format!("{SEARCH}?{query}")).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn unknown_parameters_are_ignored(app) {
        app.anon().get(&format!("{SEARCH}?q=ada&x=1&x=2&page=-1&%ff=%zz")).send().await.expect(200);
    }

    async fn search_ignores_a_stale_or_wrong_bearer(app) {
        app.bearing("nonsense").search("ada").send().await.expect(200);
    }

    async fn default_page_size_is_twenty(app) {
        lins(&app, 21).await;

        let answer = app.anon().search("lin").send().await;

        assert_eq!(ids(&answer).len(), 20);
        assert_eq!(counts(&answer), [21, 1, 20]);
    }

    async fn limit_above_100_is_taken_as_100(app) {
        lins(&app, 101).await;

        for limit in ["100", "101", "4294967297", "18446744073709551616", &"9".repeat(400)] {
            let answer = page(&app, limit, "0").await;

            assert_eq!(ids(&answer).len(), 100, "{limit}");
            assert_eq!(counts(&answer), [101, 1, 100], "{limit}");
        }
    }

    async fn page_number_is_offset_by_limit_floored_plus_one(app) {
        lins(&app, 5).await;

        for (limit, offset, number, found) in [
            (2, 0, 1, 2),
            (2, 1, 1, 2),
            (2, 2, 2, 2),
            (2, 4, 3, 1),
            (3, 2, 1, 3),
            (1, 4, 5, 1),
            (7, 6, 1, 0),
            (5, 5, 2, 0),
        ] {
            let answer = page(&app, &limit.to_string(), &offset.to_string()).await;

            assert_eq!(ids(&answer).len(), found, "{limit} {offset}");
            assert_eq!(counts(&answer), [5, number, limit], "{limit} {offset}");
        }
    }

    async fn total_is_exact_at_any_offset(app) {
        lins(&app, 5).await;

        for offset in [
            "0",
            "4",
            "5",
            "1000",
            "2147483648",
            "9223372036854775807",
            "18446744073709551616",
            &"9".repeat(99),
        ] {
            let answer = page(&app, "3", offset).await;

            answer.expect(200);
            assert_eq!(answer.number("x-total-count"), 5, "{offset}");
        }
    }

    async fn search_that_finds_nothing_is_an_empty_list(app) {
        let answer = app.anon().search("nobody").send().await;

        assert_eq!(answer.expect(200), json!([]));
        assert_eq!(counts(&answer), [0, 1, 20]);
    }

    async fn pages_of_one_moment_are_disjoint_and_complete(app) {
        lins(&app, 23).await;
        let all = ids(&page(&app, "100", "0").await);

        for limit in [1, 2, 5, 7, 22, 23] {
            let mut walked = Vec::new();
            for offset in (0..23).step_by(limit) {
                walked.extend(ids(&page(&app, &limit.to_string(), &offset.to_string()).await));
            }

            assert_eq!(walked, all, "{limit}");
        }
        assert_eq!(all.len(), 23);
    }
}
