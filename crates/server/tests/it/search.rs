//! GET /api/profiles/search.

use latchkey_testkit::{both_stores, json};

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
            assert_eq!(found[0].get("metadata"), None, "{q}");
            assert_eq!(answer.number("x-total-count"), 1, "{q}");
        }
    }

    async fn pages_are_counted_in_headers(app) {
        for name in ["lina", "linb", "linc", "lind", "line"] {
            app.user(name).await;
        }

        let answer = app.anon().search("lin").query("limit", "2").query("offset", "2").send().await;

        assert_eq!(answer.expect(200).as_array().unwrap().len(), 2);
        let counts = ["x-total-count", "x-page", "x-page-size"].map(|name| answer.number(name));
        assert_eq!(counts, [5, 2, 2]);
    }

    async fn page_size_is_twenty_unless_told_and_a_hundred_at_most(app) {
        let default = app.anon().search("ada").send().await;
        let most = app.anon().search("ada").query("limit", "101").send().await;

        assert_eq!(default.expect(200), json!([]));
        assert_eq!((default.number("x-page-size"), default.number("x-page")), (20, 1));
        most.expect(200);
        assert_eq!(most.number("x-page-size"), 100);
    }

    async fn search_without_a_text_is_refused(app) {
        for path in ["/api/profiles/search", "/api/profiles/search?q=", "/api/profiles/search?q=%20"] {
            app.anon().get(path).send().await.refused(400, "MISSING_QUERY");
        }
    }

    async fn limit_and_offset_are_plain_integers(app) {
        for (name, value) in [("limit", "0"), ("limit", "-1"), ("limit", "1.5"), ("offset", "-1"), ("offset", "ten")] {
            let answer = app.anon().search("ada").query(name, value).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
    }
}
