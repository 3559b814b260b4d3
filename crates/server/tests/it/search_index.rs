//! Tests of the in-memory search index: every write is found at once, on this and on another instance, and both search
//! engines return the same.

use latchkey_service::search::SearchEngine;
use latchkey_testkit::{TestApp, both_stores, json, seconds};

const ME: &str = "/api/profiles/me";

/// Names that a search finds, best first. Asserts that both instances return the same.
async fn found(apps: [&TestApp; 2], q: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for app in apps {
        let answer = app.anon().search(q).query("limit", "100").send().await;
        let hits = answer.expect(200);
        let names = hits.as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap().to_owned());
        let names: Vec<String> = names.collect();
        assert_eq!(answer.number("x-total-count"), names.len() as u64, "{q}");
        answers.push(names);
    }
    assert_eq!(answers[0], answers[1], "{q}");
    answers.remove(0)
}

both_stores! {
    async fn edit_is_found_on_every_instance(app) {
        let other = app.beside().await;
        let ada = app.user("ada").await;
        assert!(app.service().search.is_loaded() && other.service().search.is_loaded());

        for (number, name) in ["Ada King", "Countess", "Ada King"].into_iter().enumerate() {
            ada.patch(ME, json!({"name": name, "bio": format!("edit{number}")})).send().await.expect(200);

            assert_eq!(found([&app, &other], name).await, [name]);
            assert_eq!(found([&app, &other], &format!("edit{number}")).await, [name]);
        }
        assert_eq!(found([&app, &other], "countess").await, Vec::<String>::new());
    }

    async fn set_profile_and_new_accounts_are_found_on_every_instance(app) {
        let other = app.beside().await;
        let ada = app.user("ada").await;
        ada.patch("/api/auth/profiles/current", json!({"name": "Lovelace"})).send().await.expect(200);
        let made = json!({"email": "bo@example.org", "password": latchkey_testkit::PASSWORD, "name": "Lovely Bo"});
        app.clock.advance(seconds(1));
        app.admin().post("/api/auth/users", made).send().await.expect(200);

        assert_eq!(found([&other, &app], "love").await, ["Lovely Bo", "Lovelace"]);
    }

    async fn banned_and_deleted_are_hidden_on_every_instance(app) {
        let other = app.beside().await;
        let (ada, bo) = (app.user("ada").await, app.user("bo").await);
        for (user, name) in [(&ada, "Lin Ada"), (&bo, "Lin Bo")] {
            user.patch(ME, json!({"name": name})).send().await.expect(200);
        }
        assert_eq!(found([&app, &other], "lin").await.len(), 2);

        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);
        assert_eq!(found([&app, &other], "lin").await, ["Lin Bo"]);
        app.admin().patch(&path, json!({"banned": false})).send().await.expect(200);
        assert_eq!(found([&app, &other], "lin").await.len(), 2);
        app.admin().delete(&format!("{path}/profile")).send().await.expect(200);
        assert_eq!(found([&app, &other], "lin").await, ["Lin Bo"]);
        let ids = json!({"userIds": [bo.id]});
        app.admin().request("DELETE", "/api/auth/users").json(&ids).send().await.expect(200);
        assert_eq!(found([&app, &other], "lin").await, Vec::<String>::new());
    }

    with(|b| b.verification_by_code())
    async fn pending_account_is_found_after_its_verification(app) {
        let other = app.beside().await;
        app.anon().sign_up("ada@example.org", latchkey_testkit::PASSWORD).send().await.expect(200);
        assert_eq!(found([&app, &other], "lin").await, Vec::<String>::new());

        let code = app.mail_to("ada@example.org").await.code();
        let session = app.anon().verify("ada@example.org", &code).send().await;
        let ada = app.with_session(&latchkey_testkit::Session::of(&session));
        ada.patch(ME, json!({"name": "Lin"})).send().await.expect(200);

        assert_eq!(found([&app, &other], "lin").await, ["Lin"]);
    }

    async fn both_engines_answer_alike(app) {
        let bios = ["", "one two", "two three of them", "a-b %_ c", "Ⅷ viii", "計算機 科学"];
        for number in 0..30 {
            let user = app.user(&format!("u{number}")).await;
            let bio = bios[number % bios.len()];
            let fields = json!({"name": format!("Lin {}", number % 7), "bio": bio, "username": format!("lin.{number}")});
            user.patch(ME, fields).send().await.expect(200);
            if number % 3 == 0 {
                app.clock.advance(seconds(1));
            }
        }
        let mut app = app;
        let queries = ["lin", "lin 3", "l", "tw", "two", "wo t", "%", "a-b", "viii", "算", "lin.1", "nobody"];
        let pages = [("1", "0"), ("7", "3"), ("100", "0"), ("20", "29"), ("5", "1000")];
        let mut answers = Vec::new();
        for engine in [SearchEngine::Memory, SearchEngine::Database] {
            app.restart_with(|b| b.config(|config| config.search_engine = engine)).await;
            assert_eq!(app.service().search.is_loaded(), engine == SearchEngine::Memory);
            let mut of_engine = Vec::new();
            for q in queries {
                for (limit, offset) in pages {
                    let answer = app.anon().search(q).query("limit", limit).query("offset", offset).send().await;
                    of_engine.push((q, answer.number("x-total-count"), answer.expect(200)));
                }
            }
            answers.push(of_engine);
        }
        assert!(answers[0].iter().any(|(_, total, _)| *total == 30));
        assert_eq!(answers[0], answers[1]);
    }
}
