//! Tests of GET /api/auth/users: order, pages by offset and by cursor, search.

use latchkey_testkit::{PASSWORD, TestApp, Value, both_stores, days, json, seconds};

const USERS: &str = "/api/auth/users";
/// A cursor with U+0000 where the address would be: `\0@x.` and an id.
pub(crate) const NO_ADDRESS: &str = "AEB4LjAxODkwYTVkLWFjOTYtNzc0Yi1iY2NlLWIzMDIwOTlhODA1Nw";

/// Creates a user per name, one second apart.
async fn people(app: &TestApp, names: &[&str]) {
    for name in names {
        let body = json!({"email": format!("{name}@example.org"), "password": PASSWORD, "name": name});
        app.admin().post(USERS, body).send().await.expect(200);
        app.clock.advance(seconds(1));
    }
}

fn emails(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|user| user["email"].as_str().unwrap()).collect()
}

both_stores! {
    async fn list_is_newest_first_with_its_numbers(app) {
        people(&app, &["ada", "bob", "cay"]).await;

        let list = app.admin().get(USERS).send().await.expect(200);

        assert_eq!(emails(&list), ["cay@example.org", "bob@example.org", "ada@example.org"]);
        assert_eq!(list["pagination"], json!({"offset": 0, "limit": 20, "total": 3}));
        let id = list["data"][0]["id"].as_str().unwrap();
        assert_eq!(list["data"][0], app.admin().get(&format!("{USERS}/{id}")).send().await.expect(200));
    }

    async fn list_never_shows_a_password(app) {
        people(&app, &["ada"]).await;

        let list = app.admin().get(USERS).send().await.expect(200).to_string();

        assert!(!list.contains("argon2") && !list.to_lowercase().contains("password"), "{list}");
    }

    async fn offset_pages_are_counted(app) {
        people(&app, &["ada", "bob", "cay", "dot", "eve"]).await;

        let page = app.admin().get(USERS).query("limit", "2").query("offset", "2").send().await.expect(200);
        let last = app.admin().get(USERS).query("limit", "2").query("offset", "4").send().await.expect(200);
        let beyond = app.admin().get(USERS).query("offset", "9223372036854775807").send().await.expect(200);

        assert_eq!(emails(&page), ["cay@example.org", "bob@example.org"]);
        assert_eq!((&page["pagination"]["offset"], &page["pagination"]["limit"]), (&json!(2), &json!(2)));
        assert_eq!(emails(&last), ["ada@example.org"]);
        assert_eq!(last["pagination"].get("nextCursor"), None);
        assert_eq!((emails(&beyond).len(), &beyond["pagination"]["total"]), (0, &json!(5)));
    }

    async fn cursor_visits_every_user_once_despite_changes(app) {
        people(&app, &["ada", "bob", "cay", "dot", "eve"]).await;
        let first = app.admin().get(USERS).query("limit", "2").send().await.expect(200);
        people(&app, &["new"]).await;
        let ids = json!({"userIds": [first["data"][1]["id"]]});
        app.admin().delete(USERS).json(&ids).send().await.expect(200);

        let mut walked: Vec<String> = emails(&first).into_iter().map(str::to_owned).collect();
        let mut cursor = first["pagination"]["nextCursor"].as_str().map(str::to_owned);
        while let Some(next) = cursor {
            let page =
                app.admin().get(USERS).query("limit", "2").query("cursor", &next).send().await.expect(200);
            walked.extend(emails(&page).into_iter().map(str::to_owned));
            cursor = page["pagination"]["nextCursor"].as_str().map(str::to_owned);
        }

        assert_eq!(walked, ["eve", "dot", "cay", "bob", "ada"].map(|name| format!("{name}@example.org")));
    }

    async fn users_of_one_moment_are_on_one_page_each(app) {
        for n in 0..7 {
            let body = json!({"email": format!("u{n}@example.org"), "password": PASSWORD});
            app.admin().post(USERS, body).send().await.expect(200);
        }
        let all = app.admin().get(USERS).send().await.expect(200);

        let mut walked = Vec::new();
        for offset in ["0", "3", "6"] {
            let page =
                app.admin().get(USERS).query("limit", "3").query("offset", offset).send().await.expect(200);
            walked.extend(page["data"].as_array().unwrap().clone());
        }

        assert_eq!(Value::from(walked), all["data"]);
    }

    async fn parameters_of_the_list_are_validated(app) {
        for query in [
            "limit=0",
            "limit=x",
            "limit=+1",
            "limit=",
            "limit=101",
            "offset=-1",
            "offset=1e2",
            "limit=1&limit=2",
            "cursor=x",
            "cursor=",
            "search=a&search=b",
            "state=happy",
            "sort=name",
            "createdAfter=yesterday",
            "createdBefore=",
        ] {
            let answer = app.admin().get(&format!("{USERS}?{query}")).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
        let most = app.admin().get(USERS).query("limit", "100").send().await.expect(200);
        assert_eq!(most["pagination"]["limit"], 100);
    }

    async fn search_finds_the_beginning_of_an_address_words_of_a_name_or_a_whole_id(app) {
        people(&app, &["ada", "bob", "cay"]).await;
        let bob = app.admin().get(USERS).query("search", "bob").send().await.expect(200);
        let id = bob["data"][0]["id"].as_str().unwrap();

        for (search, found) in
            [("BOB@", 1), ("bob@example.org", 1), ("example", 0), ("cay", 1), (id, 1), ("%", 0), ("_", 0), ("nobody", 0), ("'", 0)]
        {
            let list = app.admin().get(USERS).query("search", search).send().await.expect(200);

            assert_eq!(emails(&list).len(), found, "{search}");
            assert_eq!(list["pagination"]["total"], found, "{search}");
        }
    }

    async fn search_goes_with_pages_and_cursors(app) {
        people(&app, &["ann1", "bob", "ann2", "ann3"]).await;

        let first =
            app.admin().get(USERS).query("search", "ann").query("limit", "2").send().await.expect(200);
        let cursor = first["pagination"]["nextCursor"].as_str().unwrap();
        let next =
            app.admin().get(USERS).query("search", "ann").query("cursor", cursor).send().await.expect(200);

        assert_eq!(emails(&first), ["ann3@example.org", "ann2@example.org"]);
        assert_eq!(emails(&next), ["ann1@example.org"]);
        assert_eq!((&first["pagination"]["total"], &next["pagination"]["total"]), (&json!(3), &json!(3)));
    }

    async fn states_are_filters(app) {
        people(&app, &["ada", "bob", "cay"]).await;
        let all = app.admin().get(USERS).send().await.expect(200);
        let id = |n: usize| all["data"][n]["id"].as_str().unwrap().to_owned();
        app.admin().patch(&format!("{USERS}/{}", id(0)), json!({"banned": true})).send().await.expect(200);
        app.admin().patch(&format!("{USERS}/{}", id(1)), json!({"emailVerified": true})).send().await.expect(200);
        app.admin().delete(&format!("{USERS}/{}/profile", id(2))).send().await.expect(200);

        for (state, found) in [
            ("banned", vec!["cay@example.org"]),
            ("verified", vec!["bob@example.org"]),
            ("unverified", vec!["ada@example.org"]),
            ("no-profile", vec!["ada@example.org"]),
            ("pending", vec![]),
            ("deletion", vec![]),
            ("operator", vec![]),
        ] {
            let list = app.admin().get(USERS).query("state", state).send().await.expect(200);

            assert_eq!(emails(&list), found, "{state}");
            assert_eq!(list["pagination"]["total"], found.len(), "{state}");
        }
    }

    async fn time_of_creation_is_a_range(app) {
        people(&app, &["ada", "bob", "cay"]).await;
        let all = app.admin().get(USERS).send().await.expect(200);
        let created = all["data"][1]["createdAt"].as_str().unwrap();

        let after = app.admin().get(USERS).query("createdAfter", created).send().await.expect(200);
        let before = app.admin().get(USERS).query("createdBefore", created).send().await.expect(200);
        let day = app.admin().get(USERS).query("createdBefore", &created[..10]).send().await.expect(200);

        assert_eq!(emails(&after), ["cay@example.org", "bob@example.org"]);
        assert_eq!(emails(&before), ["ada@example.org"]);
        assert_eq!((emails(&day).len(), &day["pagination"]["total"]), (0, &json!(0)));
    }

    async fn time_of_the_last_sign_in_is_a_range_and_never_is_before_all(app) {
        people(&app, &["ada", "bob"]).await;
        app.imported_user("cay", "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u").await;
        app.clock.advance(days(3));
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
        let ada = app.admin().get(USERS).query("search", "ada@example.org").send().await.expect(200);
        let at = ada["data"][0]["lastSignInAt"].as_str().unwrap();

        let after = app.admin().get(USERS).query("signedInAfter", at).send().await.expect(200);
        let before = app.admin().get(USERS).query("signedInBefore", at).query("sort", "email").send().await.expect(200);
        let both = app.admin().get(USERS).query("signedInBefore", at).query("state", "imported-hash").send().await.expect(200);

        assert_eq!((emails(&after), &after["pagination"]["total"]), (vec!["ada@example.org"], &json!(1)));
        assert_eq!((emails(&before), &before["pagination"]["total"]), (vec!["bob@example.org", "cay@example.org"], &json!(2)));
        assert_eq!(emails(&both), ["cay@example.org"]);
        app.admin().get(USERS).query("signedInAfter", "lately").send().await.refused(400, "VALIDATION_ERROR");
    }

    async fn imported_password_is_a_state_until_it_is_used(app) {
        people(&app, &["ada"]).await;
        // Of the password `tangerine-9-trees`.
        app.imported_user("bob", "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u").await;
        let list = async || {
            let list = app.admin().get(USERS).query("state", "imported-hash").send().await.expect(200);
            (emails(&list).join(" "), list["pagination"]["total"].clone())
        };
        assert_eq!(list().await, ("bob@example.org".to_owned(), json!(1)));

        app.anon().sign_in("bob@example.org", "tangerine-9-trees").send().await.expect(200);

        assert_eq!(list().await, (String::new(), json!(0)));
    }

    async fn list_is_sorted_by_address_and_by_last_sign_in_with_cursors(app) {
        people(&app, &["cay", "ada", "bob"]).await;
        for name in ["bob", "cay"] {
            app.anon().sign_in(&format!("{name}@example.org"), PASSWORD).send().await.expect(200);
            app.clock.advance(seconds(1));
        }

        for (sort, order) in [("email", ["ada", "bob", "cay"]), ("lastSignIn", ["cay", "bob", "ada"])] {
            let order = order.map(|name| format!("{name}@example.org"));
            let list = app.admin().get(USERS).query("sort", sort).send().await.expect(200);
            assert_eq!(emails(&list), order, "{sort}");

            let mut walked: Vec<String> = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let mut ask = app.admin().get(USERS).query("sort", sort).query("limit", "1");
                if let Some(cursor) = &cursor {
                    ask = ask.query("cursor", cursor);
                }
                let page = ask.send().await.expect(200);
                walked.extend(emails(&page).into_iter().map(str::to_owned));
                cursor = page["pagination"]["nextCursor"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(walked, order, "{sort}");
        }
    }

    async fn cursor_of_another_sort_is_refused(app) {
        people(&app, &["ada", "bob"]).await;
        let page = app.admin().get(USERS).query("limit", "1").send().await.expect(200);
        let cursor = page["pagination"]["nextCursor"].as_str().unwrap();

        let answer = app.admin().get(USERS).query("sort", "email").query("cursor", cursor).send().await;

        answer.refused(400, "VALIDATION_ERROR");
    }

    async fn cursor_that_is_no_address_is_refused(app) {
        people(&app, &["ada"]).await;

        let request = app.admin().get(USERS).query("sort", "email").query("cursor", NO_ADDRESS);

        request.send().await.refused(400, "VALIDATION_ERROR");
    }

    async fn last_sign_in_is_shown(app) {
        people(&app, &["ada"]).await;
        let before = app.admin().get(USERS).send().await.expect(200);
        let time = app.service().now().to_rfc3339();
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);

        let after = app.admin().get(USERS).send().await.expect(200);

        assert_eq!(before["data"][0].get("lastSignInAt"), None);
        assert_eq!(after["data"][0]["lastSignInAt"], json!(time));
    }

    async fn banned_and_pending_users_are_found_by_name(app) {
        people(&app, &["zoe"]).await;
        let list = app.admin().get(USERS).query("search", "zo").send().await.expect(200);
        let id = list["data"][0]["id"].as_str().unwrap();
        let named = json!({"banned": true, "email": "other@example.org"});
        app.admin().patch(&format!("{USERS}/{id}"), named).send().await.expect(200);

        let found = app.admin().get(USERS).query("search", "ZOE").send().await.expect(200);

        assert_eq!(emails(&found), ["other@example.org"]);
    }
}
