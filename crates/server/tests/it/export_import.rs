//! Export, import into an empty instance, export: the same accounts, and everybody signs in as before.

use latchkey_testkit::{
    Authenticator, PASSWORD, Passkey, Session, Storage, TestApp, Value, both_stores, challenge_id, days,
    json, minutes,
};

use crate::deletion_calls::{deleted, face, restore, restore_id, seen_by_admin};
use crate::imports::{import_lines, report};
use crate::passkey_calls::{session, shown};

/// From Firebase's own reference implementation; the password is `user1password`.
const FIREBASE: &str = "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzx\
    UECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZil\
    o78198JAdRuid5lQ==";
/// Of a password that nobody enters.
const BCRYPT: &str = "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u";
const SECRETS: [&[u8]; 2] = [
    b"the server secret of the second instance, 32 bytes",
    b"the server secret of the third instance, 32 bytes",
];

/// Lines of these kinds.
fn lines(export: &str, kinds: &[&str]) -> Vec<Value> {
    let lines = export.lines().map(|line| line.parse::<Value>().unwrap());
    lines.filter(|line| kinds.contains(&line["kind"].as_str().unwrap())).collect()
}

/// What an export says of accounts, with and without secrets.
async fn accounts(app: &TestApp) -> (Vec<Value>, Vec<Value>) {
    let bare = app.admin().get("/api/auth/export").send().await;
    assert_eq!(bare.status, 200);
    (lines(&app.export_with_secrets().await, &["user", "hashKey"]), lines(bare.text(), &["user"]))
}

/// Fills an instance with accounts that have everything that an account can have.
async fn fill(app: &TestApp) -> (Passkey, Passkey) {
    let ada = app.two_step_user("ada").await;
    let (synced, _) = ada.add_passkey(&app.phone()).await;
    let (bound, _) = ada.add_passkey(&app.security_key()).await;
    app.imported_user("bob", FIREBASE).await;
    let eve = app.user("eve").await;
    let banned = json!({"banned": true, "metadata": {"plan": "pro", "n": 1.5}});
    app.admin().patch(&format!("/api/auth/users/{}", eve.id), banned).send().await.expect(200);
    let zoe = json!({
        "id": "0199a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b", "email": "Zoe@Example.org", "emailVerified": true, "name": "Zoë",
        "username": "zoe", "avatarUrl": "https://cdn.example/z.png", "bio": "Sees <b>all</b>.", "locale": "de",
        "profileMetadata": {"theme": "dark"}, "custom": {"team": ["x"]}, "createdAt": "2020-01-02T03:04:05.678Z",
        "identities": [{"provider": "google", "subject": "2", "email": "zoe@gmail.com"}, {"provider": "acme", "subject": "1"}],
        "totp": [
            {"secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "name": "Phone"},
            {"secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "name": "Phone"},
        ],
    });
    import_lines(app, "", &zoe.to_string()).await;
    // Its password may be a stranger's, and its provider had another issuer than the one that is configured here.
    let kim = json!({
        "kind": "user", "email": "kim@example.org", "emailVerified": true, "passwordHash": BCRYPT, "passwordProven": false,
        "identities": [
            {"provider": "google", "issuer": "https://old.example", "subject": "7"},
            {"provider": "google", "issuer": "?", "subject": "8"}, {"provider": "acme", "issuer": "", "subject": "9"},
        ],
    });
    import_lines(app, "", &kim.to_string()).await;
    // Her provider did not verify the address; his was verified once, and is not any more.
    for odd in [
        json!({"kind": "user", "email": "mia@example.org", "contested": true}),
        json!({"kind": "user", "email": "tom@example.org", "firstVerifiedAt": "2020-02-03T04:05:06.000Z"}),
    ] {
        import_lines(app, "", &odd.to_string()).await;
    }
    deleted(app, "pat").await;
    app.clock.advance(minutes(1));
    app.anon().sign_in(&ada.email, &ada.password).send().await.expect(200);
    (synced, bound)
}

/// Starts an empty instance on the other engine than this one, ten minutes later.
async fn other(app: &TestApp, secret: &'static [u8], minute: u64) -> TestApp {
    let storage = if app.database().is_some() { Storage::Sqlite } else { Storage::Postgres };
    let builder =
        TestApp::builder().storage(storage).verification_by_code().server_secret(secret).seed(minute);
    let other = builder.start().await;
    other.clock.advance(minutes(minute));
    other
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn export_is_the_same_after_two_imports_and_everybody_signs_in(app) {
        let (mut synced, mut bound) = fill(&app).await;
        let before = accounts(&app).await;
        assert_eq!((before.0.len(), before.1.len()), (9, 8), "eight accounts, and a signer key");

        let second = other(&app, SECRETS[0], 10).await;
        let job = import_lines(&second, "", &app.export_with_secrets().await).await;
        assert_eq!((&job["state"], &job["created"], &job["refused"]), (&json!("done"), &json!(8), &json!(0)), "{job}");
        assert_eq!(accounts(&second).await, before);
        let third = other(&second, SECRETS[1], 20).await;
        let job = import_lines(&third, "", &second.export_with_secrets().await).await;
        assert_eq!((&job["state"], &job["created"]), (&json!("done"), &json!(8)), "{job}");
        let kim = before.0.iter().find(|line| line["email"] == "kim@example.org").unwrap();
        assert_eq!(kim["passwordProven"], false);
        assert_eq!(accounts(&third).await, before);

        third.anon().sign_in("bob@example.org", "user1password").send().await.expect(200);
        let ada = before.0.iter().find(|line| line["email"] == "ada@example.org").unwrap();
        let challenge = challenge_id(&third.anon().sign_in("ada@example.org", PASSWORD).send().await);
        let totp = Authenticator::new(ada["totp"][0]["secret"].as_str().unwrap(), &third.clock);
        third.anon().answer(&challenge, "totp", &totp.code()).send().await.expect(200);
        for passkey in [&mut synced, &mut bound] {
            let opened: Session = session(&third.anon(), passkey).await;
            assert_eq!((opened.user_id.as_str(), shown(&opened).1), (ada["id"].as_str().unwrap(), json!(2)));
        }
        third.anon().sign_in("eve@example.org", PASSWORD).send().await.refused(403, "USER_BANNED");
    }

    with(|b| b.verification_by_code())
    async fn account_in_deletion_stays_in_it_and_is_deleted_at_its_end(app) {
        let (ada, bob) = (deleted(&app, "ada").await, deleted(&app, "bob").await);
        let export = app.export_with_secrets().await;
        let told = lines(&export, &["user"]).iter().map(|line| line["deletesAt"].clone()).collect::<Vec<_>>();
        let second = other(&app, SECRETS[0], 10).await;

        import_lines(&second, "", &export).await;

        assert_eq!(second.anon().get(&face(&ada)).send().await.status, 404, "the profile is hidden");
        assert_eq!(second.anon().search("ada").send().await.expect(200), json!([]));
        let shown = [seen_by_admin(&second, &ada.id).await, seen_by_admin(&second, &bob.id).await];
        assert_eq!(shown.map(|user| user["deletesAt"].clone()).to_vec(), told);
        let challenge = restore_id(&second.anon().sign_in(&bob.email, PASSWORD).send().await);
        restore(&second.anon(), &challenge).send().await.expect(200);
        second.clock.advance(days(14));
        second.run_jobs().await;
        assert_eq!(second.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.status, 404);
        seen_by_admin(&second, &bob.id).await;

        let third = other(&second, SECRETS[1], 20).await;
        third.clock.advance(days(15));
        let job = import_lines(&third, "", &export).await;
        assert_eq!(job["created"], 2, "{job}");
        third.run_jobs().await;
        assert_eq!(third.admin().get("/api/auth/users").send().await.expect(200)["data"], json!([]));
    }

    with(|b| b.verification_by_code())
    async fn update_does_not_take_the_deletion_of_a_record(app) {
        let ada = app.user("ada").await;
        let record = json!({"email": ada.email, "emailVerified": true, "deletesAt": "2026-03-05T00:00:00Z"});

        let job = import_lines(&app, "&onConflict=update", &record.to_string()).await;

        assert_eq!(job["problems"]["field_dropped"], 1, "{job}");
        assert!(seen_by_admin(&app, &ada.id).await.get("deletesAt").is_none_or(Value::is_null));
    }

    with(|b| b.verification_by_code())
    async fn signer_key_is_sealed_once_and_a_hash_without_its_key_is_left_out(app) {
        app.imported_user("bob", FIREBASE).await;
        app.imported_user("eve", FIREBASE).await;
        let export = app.export_with_secrets().await;
        let second = other(&app, SECRETS[0], 10).await;

        import_lines(&second, "", &export).await;

        assert_eq!(lines(&second.export_with_secrets().await, &["hashKey"]).len(), 1);
        assert!(!String::from_utf8_lossy(&second.kept()).contains("jxspr8Ki0RYycVU8"), "the signer key is in plain text");
        let users = lines(&export, &["user"]).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for query in ["&dryRun=true", ""] {
            let third = other(&app, SECRETS[1], 20).await;
            let job = import_lines(&third, query, &users).await;
            assert_eq!((&job["created"], &job["problems"]), (&json!(2), &json!({"hash_unknown": 2})), "{query}");
        }
    }

    with(|b| b.verification_by_code())
    async fn export_without_secrets_is_the_same_but_for_second_factors(app) {
        fill(&app).await;
        let before = accounts(&app).await.1;
        let bare = app.admin().get("/api/auth/export").send().await;
        let second = other(&app, SECRETS[0], 10).await;

        let job = import_lines(&second, "", bare.text()).await;

        assert_eq!((&job["created"], &job["problems"]["factor_not_carried"]), (&json!(8), &json!(2)), "{job}");
        let off = before.into_iter().map(|mut line| { line["twoStep"] = json!(false); line });
        assert_eq!(accounts(&second).await.1, off.collect::<Vec<_>>());
    }

    async fn torn_or_altered_export_fails_and_its_report_says_why(app) {
        app.user("ada").await;
        app.user("bob").await;
        let whole = app.export_with_secrets().await;
        let end = whole.trim_end().rfind('\n').unwrap() + 1;
        let altered = whole.replace("\"bob@", "\"eve@");
        for (text, told) in [(&whole[..end], "torn"), (altered.as_str(), "altered")] {
            for query in ["&dryRun=true", ""] {
                let second = other(&app, SECRETS[0], 10).await;

                let job = import_lines(&second, query, text).await;

                assert_eq!((&job["state"], &job["created"]), (&json!("failed"), &json!(2)), "{told} {query}");
                let lines = report(&second, &job).await;
                let last = lines.last().unwrap()["message"].as_str().unwrap();
                assert!(last.contains(told), "{last}");
            }
        }
        let job = import_lines(&app, "", &whole).await;
        assert_eq!((&job["state"], &job["skipped"]), (&json!("done"), &json!(2)), "{job}");
    }

    async fn profile_is_there_only_if_the_export_has_one(app) {
        app.imported_user("bob", FIREBASE).await;
        let second = other(&app, SECRETS[0], 10).await;

        import_lines(&second, "", &app.export_with_secrets().await).await;
        import_lines(&second, "", &json!({"email": "eve@example.org"}).to_string()).await;

        let named = |line: &Value| (line["email"].as_str().unwrap().to_owned(), line.get("name").is_some());
        let mut found: Vec<_> = accounts(&second).await.1.iter().map(named).collect();
        found.sort();
        assert_eq!(found, [("bob@example.org".to_owned(), false), ("eve@example.org".to_owned(), true)]);
    }

    async fn undo_of_an_import_with_old_sign_ins_deletes_all(app) {
        app.user("ada").await.sign_in_again().await;
        let second = other(&app, SECRETS[0], 10).await;
        let job = import_lines(&second, "", &app.export_with_secrets().await).await;
        let found = second.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(found["data"][0]["lastSignInAt"], "2026-03-02T10:00:00.000Z");
        let undo = format!("/api/auth/import/{}/undo", job["id"].as_str().unwrap());

        let undone = second.admin().request("POST", &undo).send().await.expect(200);

        assert_eq!(undone, json!({"deleted": 1, "signedIn": 0, "changed": 0, "gone": 0}));
    }
}
