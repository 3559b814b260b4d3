//! `/console/import`: upload, trial, progress, report and undo.

use latchkey_domain::operator::Role;
use latchkey_service::imports::ImportPosition;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, PASSWORD, TestApp, Value, both_stores, json, minutes, seconds};

use crate::audit::events;
use crate::console_calls::{operator, verified};
use crate::console_user_calls::{Desk, desk, desk_of};

const IMPORT: &str = "/console/import";
const NEW: &str = "/console/import/new";
const BOUNDARY: &str = "----latchkey";

/// A form with a file, as a browser sends it.
struct Form<'a> {
    token: String,
    fields: Vec<(&'a str, &'a str)>,
    file: Option<(&'a str, Vec<u8>)>,
}

impl<'a> Form<'a> {
    fn new(desk: &Desk<'_>, file: &'a str, text: &str) -> Self {
        let fields = vec![("from", "latchkey"), ("mode", "import"), ("conflict", "skip")];
        Self { token: desk.token(NEW), fields, file: Some((file, text.into())) }
    }

    fn with(mut self, name: &'a str, value: &'a str) -> Self {
        self.fields.retain(|(known, _)| *known != name);
        self.fields.push((name, value));
        self
    }

    fn body(&self) -> Vec<u8> {
        let part = |head: &str| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}");
        let mut body = Vec::new();
        for (name, value) in [("form_token", self.token.as_str())].iter().chain(&self.fields) {
            body.extend(part(&format!("name=\"{name}\"\r\n\r\n{value}\r\n")).into_bytes());
        }
        let (name, bytes) =
            self.file.as_ref().map_or(("", &[][..]), |(name, bytes)| (name, bytes.as_slice()));
        let name = name.replace('"', "%22");
        body.extend(
            part(&format!("name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n"))
                .into_bytes(),
        );
        body.extend(bytes);
        body.extend(format!("\r\n--{BOUNDARY}--\r\n").into_bytes());
        body
    }

    async fn send(&self, desk: &Desk<'_>) -> Answer {
        let content = format!("multipart/form-data; boundary={BOUNDARY}");
        desk.browser.send(desk.forced(NEW, "", &[]).raw(&content, self.body())).await
    }

    /// Sends the form, and returns the page of the import once it has ended.
    async fn ended(&self, desk: &Desk<'_>) -> Answer {
        let begun = self.send(desk).await;
        loop {
            let page = desk.browser.follow(&begun).await;
            if !page.hosted(200).contains("Records are being read.") {
                return page;
            }
        }
    }
}

fn lines(records: &[Value]) -> String {
    records.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Number of all imports.
async fn imports(app: &TestApp) -> u64 {
    app.service().imports.list(ImportPosition::First, 1).await.unwrap().total
}

async fn total(app: &TestApp) -> Value {
    app.admin().get("/api/auth/users").send().await.expect(200)["pagination"]["total"].clone()
}

both_stores! {
    with(|b| verified(b).console())
    async fn admin_tries_a_file_imports_it_and_undoes_it(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let people = lines(&[json!({"email": "ada@example.org", "name": "Ada"}), json!({"email": "x"}), json!({"email": "olive@example.org"})]);
        let empty = desk.browser.get(IMPORT).await;
        assert!(empty.hosted(200).contains("No accounts were imported"), "{empty:?}");

        let tried = Form::new(&desk, "people.jsonl", &people).with("mode", "dry").ended(&desk).await;
        for text in ["people.jsonl", "Nothing was written", "No valid email address", "An account has the address"] {
            assert!(tried.text().contains(text), "{text}: {tried:?}");
        }
        assert_eq!(total(&app).await, 1);
        assert!(link(&tried, "/undo").is_none());

        let done = Form::new(&desk, "people.jsonl", &people).ended(&desk).await;
        assert!(done.text().contains("All records were read."), "{done:?}");
        assert_eq!(total(&app).await, 2);
        let report = desk.browser.get(&link(&done, "/report").unwrap()).await;
        assert_eq!(report.header("content-type"), Some("application/x-ndjson"));
        assert_eq!(report.text().lines().count(), 2, "{report:?}");
        let list = desk.browser.get(IMPORT).await;
        assert_eq!(list.hosted(200).matches("people.jsonl").count(), 2, "{list:?}");

        let undo = desk.browser.get(&link(&done, "/undo").unwrap()).await;
        let wrong = desk.browser.submit(&undo, "/undo", &[("confirmation", "Latch")]).await;
        wrong.hosted(400);
        assert_eq!(total(&app).await, 2);
        let undone = desk.browser.submit(&undo, "/undo", &[("confirmation", "Latchkey")]).await;
        let page = desk.browser.follow(&undone).await;
        assert!(page.hosted(200).contains("Accounts that are deleted: 1."), "{page:?}");
        assert!(link(&page, "/undo").is_none() && page.text().contains("Undone"));
        assert_eq!(total(&app).await, 1);
        for event in events(&app).await.iter().filter(|event| ["import_started", "user_imported", "import_undone"].contains(&event["event"].as_str().unwrap())) {
            assert_eq!((&event["actor"], &event["operatorId"]), (&json!("operator"), &json!(desk.id)), "{event}");
        }
    }

    with(|b| verified(b).console())
    async fn overview_names_an_import_and_what_preceded_it_but_no_single_account(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        desk.browser.get(&format!("/console/users/{}", desk.id)).await.hosted(200);
        for (file, count) in [("few.jsonl", 12), ("many.jsonl", 1_020)] {
            let people: Vec<_> = (0..count).map(|n| json!({"email": format!("{n}@{file}.example.org")})).collect();
            Form::new(&desk, file, &lines(&people)).ended(&desk).await;

            let page = desk.browser.get("/console").await;

            let text = page.hosted(200);
            assert!(text.contains("Import begun") && text.contains("Page of the user opened"), "{text}");
            assert!(!text.contains("Account moved here"), "{text}");
        }
    }

    with(|b| verified(b).console())
    async fn choices_of_the_form_are_those_of_the_command(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let md5 = "5f4dcc3b5aa765d61d8327deb882cf99";
        let text = format!("email,verified,password,plan\nada@example.org,yes,{md5},pro\n");
        let form = Form::new(&desk, "people.csv", &text).with("from", "csv");
        let page = form.with("unverified", "on").with("weak", "on").with("rest", "on").ended(&desk).await;

        assert!(page.text().contains("There were no problems."), "{page:?}");
        let found = app.admin().get("/api/auth/users?search=ada@example.org").send().await.expect(200);
        let ada = &found["data"][0];
        assert_eq!((&ada["emailVerified"], &ada["metadata"]["imported"]["plan"]), (&json!(false), &json!("pro")), "{found}");
    }

    with(|b| verified(b).console())
    async fn parameters_of_firebase_come_with_the_form(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let config = json!({
            "base64_signer_key":
                "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
            "base64_salt_separator": "Bw==", "rounds": 8, "mem_cost": 14,
        }).to_string();
        let users = json!({"users": [{
            "localId": "k1", "email": "ada@example.org", "emailVerified": true, "salt": "42xEC+ixf3L2lw==",
            "passwordHash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
        }]}).to_string();
        let form = |config| Form::new(&desk, "users.json", &users).with("from", "firebase").with("hash_config", config);

        let refused = form("hello").send(&desk).await;
        assert!(refused.hosted(400).contains("base64_signer_key is missing"), "{refused:?}");
        assert!(!refused.text().contains("hello"), "what may be secret is not shown again");
        form(&config).ended(&desk).await;

        app.anon().sign_in("ada@example.org", "user1password").send().await.expect(200);
    }

    with(|b| verified(b).console())
    async fn upload_waits_for_a_recent_factor(app) {
        let olive = operator(&app, "olive", Role::Admin).await;
        let desk = desk_of(&app, &olive).await;
        app.clock.advance(minutes(11));

        let page = desk.browser.get(NEW).await;
        assert!(page.hosted(200).contains("Confirm and go on") && !page.text().contains("type=\"file\""), "{page:?}");
        let asked = Form::new(&desk, "people.jsonl", "{}").with("from", "auth0").send(&desk).await;
        assert!(asked.hosted(403).contains("This act needs a fresh proof."), "{asked:?}");
        assert!(asked.text().contains("but not the file: choose it again"), "{asked:?}");
        let code = olive.authenticator.code();
        let again = desk.browser.submit(&asked, "/console/confirm", &[("code", &code)]).await;
        assert!(again.hosted(400).contains("Choose the file."), "{again:?}");
        assert!(again.text().contains("value=\"auth0\" selected"), "the choices are kept");

        app.clock.advance(minutes(11));
        let asked = desk.browser.submit(&desk.browser.get(NEW).await, NEW, &[]).await;
        let code = olive.authenticator.code();
        let done = desk.browser.submit(&asked, "/console/confirm", &[("code", &code)]).await;
        let page = desk.browser.follow(&done).await;
        assert!(page.hosted(200).contains("type=\"file\""), "{page:?}");
        assert_eq!(total(&app).await, 1);
    }

    with(|b| verified(b).console())
    async fn upload_after_the_end_of_the_session_is_not_lost_without_a_word(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let people = lines(&[json!({"email": "ada@example.org"})]);
        app.clock.advance(minutes(31));

        let answer = Form::new(&desk, "people.jsonl", &people).send(&desk).await;

        let text = answer.hosted(401);
        assert!(text.contains("what you entered could not be kept") && text.contains("next="), "{text}");
        assert_eq!(imports(&app).await, 0);
    }

    with(|b| verified(b).console())
    async fn form_from_elsewhere_uploads_nothing(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let people = lines(&[json!({"email": "ada@example.org"})]);
        let content = format!("multipart/form-data; boundary={BOUNDARY}");
        let good = Form::new(&desk, "people.jsonl", &people);
        let request = || desk.forced(NEW, "", &[]).raw(&content, good.body());
        for request in [
            request().header("origin", "https://evil.example").header("sec-fetch-site", "cross-site"),
            request().header("origin", "null"),
            desk.forced(NEW, "", &[]).raw(&content, Form { token: desk.token(IMPORT), ..Form::new(&desk, "people.jsonl", &people) }.body()),
            desk.forced(NEW, "", &[]).raw(&content, Form { token: String::new(), ..Form::new(&desk, "people.jsonl", &people) }.body()),
        ] {
            desk.browser.send(request).await.hosted(403);
        }
        assert_eq!(total(&app).await, 1);
        assert_eq!(imports(&app).await, 0);
    }

    with(|b| verified(b).console())
    async fn nobody_below_admin_uploads_reads_or_undoes(app) {
        let admin = desk(&app, "olive", Role::Admin).await;
        let done = Form::new(&admin, "people.jsonl", &lines(&[json!({"email": "ada@example.org"})])).ended(&admin).await;
        let (undo, report) = (link(&done, "/undo").unwrap(), link(&done, "/console/import/"));
        for role in [Role::Viewer, Role::Support] {
            let desk = desk(&app, role.as_str(), role).await;
            Form::new(&desk, "people.jsonl", &lines(&[json!({"email": "bob@example.org"})])).send(&desk).await.hosted(403);
            desk.forces_at(&undo, "", &[("confirmation", "Latchkey")]).await.hosted(403);
            for path in [IMPORT, NEW, undo.as_str(), report.as_deref().unwrap()] {
                desk.browser.get(path).await.hosted(403);
            }
        }
        assert_eq!(total(&app).await, 4);
    }

    with(|b| verified(b).console())
    async fn bad_file_is_refused_at_its_field(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let none = Form { file: None, ..Form::new(&desk, "", "") }.send(&desk).await;
        assert!(none.hosted(400).contains("Choose the file."), "{none:?}");
        let empty = Form::new(&desk, "people.jsonl", "").send(&desk).await;
        assert!(empty.hosted(400).contains("the file is empty"), "{empty:?}");
        let large = Form::new(&desk, "people.jsonl", &"x".repeat(10 * 1024 * 1024 + 1)).send(&desk).await;
        assert!(large.hosted(413).contains("latchkey import FILE"), "{large:?}");
        let unknown = Form::new(&desk, "people.jsonl", "x").with("from", "excel").send(&desk).await;
        unknown.hosted(400);
        assert_eq!(imports(&app).await, 0);
        for path in [format!("{IMPORT}/x"), format!("{IMPORT}/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"), format!("{IMPORT}/x/report")] {
            desk.browser.get(&path).await.hosted(404);
        }
    }

    with(|b| verified(b).console())
    async fn list_has_pages_and_an_exact_total(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let record = lines(&[json!({"email": "ada@example.org"})]);
        for index in 0..52 {
            let name = format!("file-{index:02}.jsonl");
            app.clock.advance(seconds(1));
            Form::new(&desk, &name, &record).with("mode", "dry").ended(&desk).await;
        }
        let names = |page: &Answer| -> Vec<String> {
            let rows = page.hosted(200).split("<bdi>file-").skip(1);
            rows.map(|rest| rest.split('.').next().unwrap().to_owned()).collect()
        };
        let all: Vec<_> = (0..52).rev().map(|index| format!("{index:02}")).collect();

        let first = desk.browser.get(IMPORT).await;
        let second = desk.browser.get(&link(&first, "after=").expect("a second page")).await;
        let back = desk.browser.get(&link(&second, "before=").expect("a page before it")).await;

        assert_eq!((&names(&first)[..], &names(&second)[..]), (&all[..50], &all[50..]));
        assert_eq!(names(&back), names(&first));
        for page in [&first, &second, &back] {
            assert!(page.text().contains("52 imports of the last 30 days"), "{page:?}");
        }
        assert!(!first.text().contains("rel=\"prev\"") && !second.text().contains("rel=\"next\""));
    }

    with(|b| verified(b).console())
    async fn torn_export_says_so_on_its_page(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        let whole = app.export_with_secrets().await;
        let end = whole.trim_end().rfind('\n').unwrap() + 1;

        let page = Form::new(&desk, "export.jsonl", &whole[..end]).ended(&desk).await;

        for text in ["Ended early", "The import ended early", "the export is torn"] {
            assert!(page.text().contains(text), "{text}: {page:?}");
        }
    }

    with(|b| verified(b).console())
    async fn hostile_values_of_file_and_report_stay_text(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        for hostile in [
            "<script>alert(1)</script>",
            "\"><svg onload=alert(1)>",
            "' autofocus onfocus=alert(1) x='",
            "</title><script>alert(1)</script>",
            "{{ 7 * 7 }}{% raw %}",
            "a\u{202e}b\u{1b}c",
        ] {
            let record = json!({"email": format!("{}@example.org", hostile.len()), "id": hostile, hostile: 1});
            // No browser sends a control character in the name of a file.
            let name = hostile.replace('\u{1b}', "");
            let page = Form::new(&desk, &name, &lines(&[record])).ended(&desk).await;
            let text = page.text();
            assert!(!text.contains("<script>alert") && !text.contains("<svg") && !text.contains(" onfocus=alert(1) x='\""), "{hostile}: {text}");
            assert!(!text.contains(['\u{202e}', '\u{1b}']), "{hostile}");
            let list = desk.browser.get(IMPORT).await;
            assert!(!list.hosted(200).contains("<script>alert") && !list.text().contains("<svg"), "{hostile}");
        }
    }

    with(|b| verified(b).console())
    async fn imported_account_signs_in_and_its_import_is_not_undone_for_it(app) {
        let desk = desk(&app, "olive", Role::Admin).await;
        app.user("bob").await;
        let export = app.export_with_secrets().await;
        let bob: Value = export.lines().find(|line| line.contains("bob@")).unwrap().parse().unwrap();
        app.admin().delete("/api/auth/users").json(&json!({"userIds": [bob["id"]]})).send().await.expect(200);
        let done = Form::new(&desk, "bob.jsonl", &lines(&[bob])).ended(&desk).await;
        app.anon().sign_in("bob@example.org", PASSWORD).send().await.expect(200);

        let undo = desk.browser.get(&link(&done, "/undo").unwrap()).await;
        let undone = desk.browser.submit(&undo, "/undo", &[("confirmation", "Latchkey")]).await;

        let page = desk.browser.follow(&undone).await;
        assert!(page.hosted(200).contains("because they were used or changed: 1."), "{page:?}");
        app.anon().sign_in("bob@example.org", PASSWORD).send().await.expect(200);
    }
}
