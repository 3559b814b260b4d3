//! A dry run says what the import then does, also about records that have a value of an earlier one.

use latchkey_testkit::{PASSWORD, TestApp, Value, both_stores, json};

use crate::imports::import_lines;

/// More than a batch.
const MANY: usize = 600;

/// Imports two records dry, then really, in one batch and in two, and asserts that both say this: the numbers of created,
/// updated, skipped and refused records, and the problems. The records must have addresses and ids of their own each time.
async fn assert_agree(
    app: &TestApp,
    query: &str,
    records: impl Fn(&str) -> [Value; 2],
    said: (&Value, &Value),
) {
    for (name, between) in [("near", 0), ("far", MANY)] {
        let [first, last] = records(name).map(|record| record.to_string());
        let lines = [vec![first], vec!["nonsense".to_owned(); between], vec![last]].concat().join("\n");
        for dry in ["&dryRun=true", ""] {
            let mut job = import_lines(app, &format!("{query}{dry}"), &lines).await;
            let nonsense = job["problems"].as_object_mut().unwrap().remove("json_invalid");
            assert_eq!(nonsense.and_then(|count| count.as_u64()).unwrap_or_default(), between as u64);
            let refused = job["refused"].as_u64().unwrap() - between as u64;
            let counts = json!([job["created"], job["updated"], job["skipped"], refused]);
            assert_eq!((&counts, &job["problems"]), said, "{name} {dry}: {job}");
        }
    }
}

fn google(subject: &str) -> Value {
    json!([{"provider": "google", "subject": subject}])
}

both_stores! {
    async fn identity_of_a_skipped_record_is_free(app) {
        app.anon().sign_up("ex1@example.org", PASSWORD).send().await.expect(200);
        let records = |name: &str| [
            json!({"email": "ex1@example.org", "identities": google(name)}),
            json!({"email": format!("n2-{name}@example.org"), "identities": google(name)}),
        ];
        let problems = json!({"email_taken": 1, "provider_not_configured": 2});
        assert_agree(&app, "", records, (&json!([1, 0, 1, 0]), &problems)).await;
    }

    async fn id_and_username_of_a_skipped_record_are_free(app) {
        app.anon().sign_up("ex1@example.org", PASSWORD).send().await.expect(200);
        let records = |name: &str| {
            let id = if name == "near" { "0199a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b" } else { "0199a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5c" };
            [
                json!({"email": "ex1@example.org", "id": id, "username": name}),
                json!({"email": format!("n2-{name}@example.org"), "id": id, "username": name}),
            ]
        };
        assert_agree(&app, "", records, (&json!([1, 0, 1, 0]), &json!({"email_taken": 1}))).await;
    }

    async fn address_of_a_refused_record_is_free(app) {
        let ada = app.anon().sign_up("ada@example.org", PASSWORD).send().await;
        assert_eq!(ada.status, 200);
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        let id = users["data"][0]["id"].clone();
        let records = |name: &str| {
            let email = format!("n4-{name}@example.org");
            [json!({"email": email, "id": id}), json!({"email": email})]
        };
        assert_agree(&app, "", records, (&json!([1, 0, 0, 1]), &json!({"id_taken": 1}))).await;
    }

    async fn identity_that_an_update_did_not_link_is_free(app) {
        app.anon().sign_up("ex1@example.org", PASSWORD).send().await.expect(200);
        let records = |name: &str| [
            json!({"email": "ex1@example.org", "identities": google(name), "metadata": {name: 1}}),
            json!({"email": format!("n2-{name}@example.org"), "identities": google(name)}),
        ];
        let problems = json!({"not_trusted": 1, "provider_not_configured": 2});
        assert_agree(&app, "&onConflict=update", records, (&json!([1, 1, 0, 0]), &problems)).await;
    }

    async fn values_of_a_created_record_are_taken(app) {
        let records = |name: &str| [
            json!({"email": format!("n1-{name}@example.org"), "identities": google(name)}),
            json!({"email": format!("n2-{name}@example.org"), "identities": google(name)}),
        ];
        let problems = json!({"identity_taken": 1, "provider_not_configured": 2});
        assert_agree(&app, "", records, (&json!([1, 0, 0, 1]), &problems)).await;
    }

    async fn second_record_of_an_address_is_a_duplicate(app) {
        app.anon().sign_up("ex1@example.org", PASSWORD).send().await.expect(200);
        let twice = |email: &str| [json!({"email": email}), json!({"email": email})];
        let problems = json!({"email_taken": 1, "duplicate_in_file": 1});
        assert_agree(&app, "", |_| twice("ex1@example.org"), (&json!([0, 0, 1, 1]), &problems)).await;
        let records = |name: &str| twice(&format!("n1-{name}@example.org"));
        assert_agree(&app, "", records, (&json!([1, 0, 0, 1]), &json!({"duplicate_in_file": 1}))).await;
    }

    async fn duplicate_is_a_clash_that_ends_an_import(app) {
        for (name, dry) in [("ada", "&dryRun=true"), ("ada", "")] {
            let line = json!({"email": format!("{name}@example.org")});
            let job = import_lines(&app, &format!("&onConflict=fail{dry}"), &format!("{line}\n{line}\n")).await;
            assert_eq!((&job["state"], &job["created"]), (&json!("failed"), &json!(1)), "{job}");
        }
    }
}
