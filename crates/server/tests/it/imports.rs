//! Tests of imports over HTTP, for an admin.

use latchkey_domain::operator::Role;
use latchkey_testkit::{PASSWORD, TestApp, Value, both_stores, days, json};

use crate::described::assert_successes_are_described;
use crate::operators::grant;

const IMPORT: &str = "/api/auth/import";
/// Hash of `password`, from the tests of the reference implementation of argon2.
const HASH: &str = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

/// Uploads records, and returns the import once it has ended.
async fn import(app: &TestApp, query: &str, records: &[Value]) -> Value {
    import_lines(app, query, &records.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")).await
}

/// Uploads lines, and returns the import once it has ended.
pub(crate) async fn import_lines(app: &TestApp, query: &str, lines: &str) -> Value {
    let lines = lines.to_owned();
    let path = format!("{IMPORT}?from=latchkey{query}");
    let begun =
        app.admin().request("POST", &path).raw("application/x-ndjson", lines).send().await.expect(202);
    ended(app, &begun["job"]).await
}

pub(crate) async fn ended(app: &TestApp, job: &Value) -> Value {
    let path = format!("{IMPORT}/{}", job["id"].as_str().unwrap());
    loop {
        let job = app.admin().get(&path).send().await.expect(200)["job"].clone();
        if job["state"] != "running" {
            return job;
        }
    }
}

pub(crate) async fn report(app: &TestApp, job: &Value) -> Vec<Value> {
    let path = format!("{IMPORT}/{}/report", job["id"].as_str().unwrap());
    let answer = app.admin().get(&path).send().await;
    assert_eq!(answer.status, 200);
    answer.text().lines().map(|line| line.parse().unwrap()).collect()
}

fn ada() -> Value {
    json!({"id": "0199a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b", "email": "ada@example.org", "emailVerified": true,
        "passwordHash": HASH, "name": "Ada", "username": "ada", "metadata": {"plan": "pro"},
        "createdAt": "2020-01-02T03:04:05.000Z"})
}

both_stores! {
    async fn identity_that_stands_with_its_issuer_and_without_is_one(app) {
        let identities = json!([
            {"provider": "google", "subject": "1"},
            {"provider": "google", "subject": "1", "issuer": "https://accounts.google.com"},
            {"provider": "acme", "subject": "1"},
            {"provider": "acme", "subject": "1", "issuer": "?"},
        ]);
        let record = json!({"email": "ada@example.org", "emailVerified": true, "identities": identities});
        let other = json!({"email": "eve@example.org", "emailVerified": true, "identities": identities});

        let tried = import(&app, "&dryRun=true", &[record.clone(), other.clone()]).await;
        let job = import(&app, "", &[record, other]).await;

        for job in [tried, job] {
            assert_eq!((&job["state"], &job["created"], &job["refused"]), (&json!("done"), &json!(1), &json!(1)), "{job}");
            assert_eq!(job["problems"]["identity_taken"], 1);
        }
    }

    async fn imported_account_signs_in_with_its_old_password(app) {
        let job = import(&app, "", &[ada(), json!({"email": "ada"})]).await;

        assert_eq!(job["state"], "done");
        assert_eq!((&job["read"], &job["created"], &job["refused"]), (&json!(2), &json!(1), &json!(1)));
        assert_eq!(job["problems"], json!({"email_invalid": 1}));
        let session = app.anon().sign_in("ada@example.org", "password").send().await.expect(200);
        assert_eq!(session["user"]["id"], ada()["id"]);
        assert_eq!(session["user"]["createdAt"], "2020-01-02T03:04:05.000Z");
        assert_eq!(session["user"]["metadata"], json!({"plan": "pro"}));
        let found = app.anon().search("ada").send().await.expect(200);
        assert_eq!(found[0]["username"], "ada");
        assert_eq!(app.mail().total(), 0, "nobody gets a mail");
    }

    async fn report_has_a_line_for_each_problem_and_each_new_id(app) {
        let odd = json!({"id": "user_7", "email": "bob@example.org", "username": "a b"});
        let job = import(&app, "", &[json!({"email": "x"}), odd]).await;

        let lines = report(&app, &job).await;
        assert_eq!(lines.len(), 3);
        assert_eq!((&lines[0]["line"], &lines[0]["code"], &lines[0]["outcome"]), (&json!(1), &json!("email_invalid"), &json!("refused")));
        assert_eq!((&lines[1]["line"], &lines[1]["code"], &lines[1]["field"]), (&json!(2), &json!("field_dropped"), &json!("username")));
        assert_eq!(lines[2]["importedId"], "user_7");
        let user = format!("/api/auth/users/{}", lines[2]["id"].as_str().unwrap());
        assert_eq!(app.admin().get(&user).send().await.expect(200)["metadata"]["importedId"], "user_7");
    }

    async fn number_as_imported_id_does_not_break_the_report(app) {
        let records = [
            json!({"email": "ada@example.org", "metadata": {"importedId": 42}}),
            json!({"id": "user_7", "email": "bob@example.org"}),
        ];
        let job = import(&app, "", &records).await;

        let lines = report(&app, &job).await;
        assert_eq!((lines.len(), &lines[0]["importedId"]), (1, &json!("user_7")), "{lines:?}");
    }

    async fn dry_run_tells_of_too_many_signer_keys_too(app) {
        let record = |number: u8| {
            let key = format!("{}AAAAA=", format!("{number:02}").repeat(19));
            let hash = format!("$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk={key}$42xEC+ixf3L2lw==${key}");
            json!({"email": format!("p{number}@example.org"), "passwordHash": hash})
        };
        let records: Vec<Value> = (0..18).chain([16, 3]).map(record).enumerate().map(|(at, mut record)| {
            record["email"] = json!(format!("p{at}@example.org"));
            record
        }).collect();

        let tried = import(&app, "&dryRun=true", &records).await;
        let job = import(&app, "", &records).await;

        assert_eq!((&job["created"], &job["problems"]), (&json!(20), &json!({"hash_unknown": 3})), "{job}");
        assert_eq!((&tried["created"], &tried["problems"]), (&job["created"], &job["problems"]));
    }

    async fn dry_run_reports_and_writes_nothing(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let job = import(&app, "&dryRun=true", &[ada(), json!({"email": "bob@example.org"})]).await;

        assert_eq!((&job["dryRun"], &job["created"], &job["skipped"]), (&json!(true), &json!(1), &json!(1)));
        assert_eq!(report(&app, &job).await[0]["code"], "email_taken");
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(users["pagination"]["total"], 1);
    }

    async fn policy_fail_ends_at_the_first_clash(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let records = [json!({"email": "bob@example.org"}), ada(), json!({"email": "eve@example.org"})];
        let job = import(&app, "&onConflict=fail", &records).await;

        assert_eq!((&job["state"], &job["read"], &job["created"]), (&json!("failed"), &json!(1), &json!(1)));
        let told = report(&app, &job).await;
        assert_eq!((&told[0]["line"], &told[0]["code"]), (&json!(2), &json!("email_taken")), "why it ended");
    }

    async fn unverified_account_needs_its_proof(app) {
        import(&app, "", &[json!({"email": "ada@example.org", "passwordHash": HASH})]).await;
        let session = app.anon().sign_in("ada@example.org", "password").send().await.expect(200);
        assert_eq!(session["user"]["emailVerified"], false);
    }

    async fn undo_deletes_accounts_that_are_not_in_use(app) {
        let job = import(&app, "", &[ada(), json!({"email": "bob@example.org"})]).await;
        app.anon().sign_in("ada@example.org", "password").send().await.expect(200);
        let undo = format!("{IMPORT}/{}/undo", job["id"].as_str().unwrap());

        let undone = app.admin().request("POST", &undo).send().await.expect(200);

        assert_eq!(undone, json!({"deleted": 1, "signedIn": 1, "changed": 0, "gone": 0}));
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(users["data"][0]["email"], "ada@example.org");
        app.admin().request("POST", &undo).send().await.refused(409, "IMPORT_NOT_UNDOABLE");
        let kinds = app.admin().get("/api/auth/audit").send().await.expect(200);
        let kinds: Vec<_> = kinds["data"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
        for kind in ["import_started", "user_imported", "user_deleted", "import_undone"] {
            assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
        }
    }

    async fn undo_is_possible_for_30_days(app) {
        let job = import(&app, "", &[json!({"email": "bob@example.org"})]).await;
        app.clock.advance(days(30));
        let undo = format!("{IMPORT}/{}/undo", job["id"].as_str().unwrap());
        app.admin().request("POST", &undo).send().await.refused(409, "IMPORT_NOT_UNDOABLE");
    }

    async fn unknown_format_policy_or_import_is_refused(app) {
        let admin = app.admin();
        let post = |query: &str| admin.request("POST", &format!("{IMPORT}{query}")).raw("text/csv", "email\na@b.example\n");
        post("?from=excel").send().await.refused(400, "FORMAT_UNKNOWN");
        post("").send().await.refused(400, "VALIDATION_ERROR");
        post("?from=csv&onConflict=merge").send().await.refused(400, "VALIDATION_ERROR");
        post("?from=csv&dryrun=true").send().await.refused(400, "VALIDATION_ERROR");
        let empty = app.admin().request("POST", &format!("{IMPORT}?from=csv")).raw("text/csv", "").send().await;
        empty.refused(400, "VALIDATION_ERROR");
        app.admin().get(&format!("{IMPORT}/x")).send().await.refused(404, "NOT_FOUND");
        let unknown = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
        app.admin().get(&format!("{IMPORT}/{unknown}/report")).send().await.refused(404, "NOT_FOUND");
    }

    async fn realm_is_named_by_a_query_parameter(app) {
        let realm = |name: &str| json!({"realm": name, "users": [{"email": format!("ada@{name}.example")}]});
        let file = json!([realm("dev"), realm("prod")]).to_string();
        let post = |query: &str| {
            let path = format!("{IMPORT}?from=keycloak{query}");
            app.admin().request("POST", &path).raw("application/json", file.clone())
        };
        post("").send().await.refused(400, "VALIDATION_ERROR");
        let begun = post("&realm=prod").send().await.expect(202);
        assert_eq!(ended(&app, &begun["job"]).await["created"], 1);
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(users["data"][0]["email"], "ada@prod.example");
    }

    async fn file_over_the_limit_is_refused(app) {
        let path = format!("{IMPORT}?from=latchkey");
        let large = "x".repeat(10 * 1024 * 1024 + 1);
        app.admin().request("POST", &path).raw("application/x-ndjson", large).send().await.refused(413, "PAYLOAD_TOO_LARGE");
    }

    with(|b| b.verification_by_code())
    async fn account_of_an_operator_is_not_changed(app) {
        let ada = app.user("ada").await;
        let _ = grant(&app, &ada, Role::Viewer).await;
        let record = json!({"email": ada.email, "emailVerified": true, "metadata": {"admin": true}});
        let job = import(&app, "&onConflict=update", &[record]).await;

        assert_eq!(job["problems"], json!({"operator_protected": 1}));
    }

    async fn responses_are_described(app) {
        let upload = |text: &str| app.admin().request("POST", &format!("{IMPORT}?from=csv")).raw("text/csv", text);
        let begun = upload("email\nada@example.org\n").send().await;
        let job = ended(&app, &begun.expect(202)["job"]).await;
        let path = format!("{IMPORT}/{}", job["id"].as_str().unwrap());
        assert_successes_are_described(&app, [
            ("POST /api/auth/import", upload("email\nbob@example.org\n")),
            ("GET /api/auth/import/{id}", app.admin().get(&path)),
            ("GET /api/auth/import/{id}/report", app.admin().get(&format!("{path}/report"))),
            ("POST /api/auth/import/{id}/undo", app.admin().request("POST", &format!("{path}/undo"))),
        ]).await;
    }
}
