//! Tests of the fallback to the storage engine when the search's change feed is unreadable or wrong.

use latchkey_testkit::{TestApp, both_stores, json};

const ME: &str = "/api/profiles/me";

/// Runs statements directly on the database.
fn run(app: &TestApp, sql: &str) {
    if let Some(database) = app.database() {
        database.run(sql);
    } else {
        let file = rusqlite::Connection::open(app.folder().join("latchkey.db")).unwrap();
        file.execute_batch(sql).unwrap();
    }
}

async fn found(app: &TestApp, q: &str) -> u64 {
    let answer = app.anon().search(q).send().await;
    let hits = answer.expect(200).as_array().unwrap().len() as u64;
    assert_eq!(answer.number("x-total-count"), hits, "{q}");
    hits
}

both_stores! {
    async fn search_is_answered_where_the_feed_cannot_be_read(app) {
        let ada = app.user("ada").await;
        run(&app, "ALTER TABLE search_feed_state RENAME TO hidden_away");
        ada.patch(ME, json!({"name": "Countess"})).send().await.expect(200);

        for _ in 0..3 {
            assert_eq!(found(&app, "countess").await, 1);
        }
        assert!(app.service().search.follow().await.is_err());
        assert_eq!(found(&app, "countess").await, 1);

        run(&app, "ALTER TABLE hidden_away RENAME TO search_feed_state");
        app.service().search.follow().await.unwrap();
        assert!(app.service().search.is_loaded());
        assert_eq!(found(&app, "countess").await, 1);
    }

    async fn index_that_missed_a_change_is_rebuilt(app) {
        let (ada, bo) = (app.user("ada").await, app.user("bo").await);
        for (user, name) in [(&ada, "Lin Ada"), (&bo, "Lin Bo")] {
            user.patch(ME, json!({"name": name})).send().await.expect(200);
        }
        assert_eq!(found(&app, "lin").await, 2);
        let silenced = if app.database().is_some() {
            "ALTER TABLE profiles DISABLE TRIGGER profiles_feed_updated"
        } else {
            "DROP TRIGGER profiles_feed_updated"
        };
        run(&app, &format!("{silenced}; UPDATE profiles SET searchable = FALSE WHERE name = 'Lin Bo'"));

        assert_eq!(found(&app, "lin").await, 1);
        assert!(!app.service().search.is_loaded());

        app.service().search.follow().await.unwrap();
        assert!(app.service().search.is_loaded());
        assert_eq!(found(&app, "lin").await, 1);
    }

    async fn index_of_a_lost_feed_is_made_anew(app) {
        let ada = app.user("ada").await;
        ada.patch(ME, json!({"name": "Countess"})).send().await.expect(200);
        run(&app, "UPDATE search_feed_state SET purged = 4000000000000000");
        ada.patch(ME, json!({"name": "Ada"})).send().await.expect(200);

        assert_eq!((found(&app, "countess").await, found(&app, "ada").await), (0, 1));
        assert!(!app.service().search.is_loaded());

        run(&app, "UPDATE search_feed_state SET purged = 0");
        app.service().search.follow().await.unwrap();
        assert!(app.service().search.is_loaded());
        ada.patch(ME, json!({"name": "Lovelace"})).send().await.expect(200);
        assert_eq!((found(&app, "ada").await, found(&app, "lovelace").await), (0, 1));
        assert!(app.service().search.is_loaded());
    }
}
