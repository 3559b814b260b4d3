//! Tests that a change of address tells nothing about other accounts before both mailboxes are proven.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json, minutes};

use crate::email_calls::other_than;
use crate::email_calls::{change_user, id_of as user_id_of};
use crate::email_change_calls::{
    Begun, assert_tells_the_request, begun, cancel, change, confirm, id_of, moved,
};
use crate::enumeration::shown;
use crate::two_step_calls::account;

/// Names of addresses of every kind, at example.org.
pub(crate) const KINDS: [&str; 8] =
    ["free", "taken", "pending", "contested", "banned", "unverified", "reserved", "banned-pending"];

pub(crate) fn address(name: &str) -> String {
    format!("{name}@example.org")
}

/// Creates an account of each of [`KINDS`]; `free` has none.
pub(crate) async fn every_kind_of_address(app: &TestApp) {
    for name in ["taken", "banned"] {
        app.user(name).await;
    }
    let unverified = json!({"email": address("unverified"), "password": PASSWORD});
    app.admin().post("/api/auth/users", unverified).send().await.expect(200);
    for (name, password) in [
        ("pending", PASSWORD),
        ("contested", PASSWORD),
        ("contested", "another lantern 42"),
        ("banned-pending", PASSWORD),
    ] {
        app.clock.advance(minutes(2)); // one mail a minute, where limits are on
        app.anon().sign_up(&address(name), password).send().await.expect(200);
    }
    for name in ["banned", "banned-pending"] {
        change_user(app, &address(name), json!({"banned": true})).await;
    }
    let leaver = app.user("reserved").await;
    moved(app, &leaver, "elsewhere@example.org").await;
}

/// A response without what differs from change to change.
fn shown_of(answer: &Answer) -> String {
    let id = id_of(&answer.expect(202));
    format!("{:?}", shown(answer)).replace(&id, "…")
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn addresses_of_every_kind_are_answered_alike(app) {
        every_kind_of_address(&app).await;
        let mut seen = Vec::new();
        for name in KINDS {
            let ada = app.user(&format!("mover-{name}")).await;
            let begun = change(&ada, &address(name)).send().await;
            let id = id_of(&begun.expect(202));
            let mut steps = vec![shown_of(&begun), account(&ada).await["emailChange"]["proven"].to_string()];
            for code in ["000000", "000001", "x"] {
                let answer = confirm(&ada, &id, code, "").send().await;
                steps.push(format!("{:?}", shown(&answer)));
            }
            let current = app.mail_to(&ada.email).await.code();
            let half = confirm(&ada, &id, "", &current).send().await;
            steps.push(format!("{:?}", shown(&half)));
            steps.push(format!("{:?}", shown(&cancel(&ada).send().await)));
            seen.push((name, steps));
        }

        for (name, steps) in &seen {
            assert_eq!(steps, &seen[0].1, "{name}");
        }
    }

    with(|b| b.verification_by_code())
    async fn owner_of_a_taken_address_is_told_and_nobody_gets_a_code(app) {
        every_kind_of_address(&app).await;
        let ada = app.user("ada").await;
        app.run_jobs().await;
        for name in KINDS {
            app.mail().clear();
            change(&ada, &address(name)).send().await.expect(202);
            app.run_jobs().await;

            let mails = app.mail().all(&address(name));
            match name {
                "free" | "pending" | "contested" => assert!(mails[0].code().len() == 6, "{name}: {mails:#?}"),
                "taken" => {
                    let mail = &mails[0];
                    assert!(mail.subject.contains("Another account"), "{mail:#?}");
                    let has_code = mail.text.lines().any(|line| {
                        let line = line.trim();
                        line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit())
                    });
                    assert!(!has_code && !mail.text.contains("ada@") && !mail.text.contains("token="), "{mail:#?}");
                    assert_tells_the_request(mail);
                }
                _ => assert!(mails.is_empty(), "{name}: {mails:#?}"),
            }
            assert_eq!(app.mail().count(&ada.email), 1, "{name}");
        }
    }

    with(|b| b.verification_by_code().limits())
    async fn limits_count_addresses_of_every_kind_alike(app) {
        every_kind_of_address(&app).await;
        for (number, name) in KINDS.into_iter().enumerate() {
            app.clock.advance(minutes(61));
            let user = app.user(&format!("user{number}")).await;
            change(&user, &address(name)).send().await.expect(202);
            let other = app.user(&format!("other{number}")).await;

            let refusal = change(&other, &address(name)).send().await.refused(429, "TOO_MANY_REQUESTS");

            assert!(refusal["message"].as_str().unwrap().contains("mails, per recipient"), "{name}");
        }
    }

    with(|b| b.verification_by_code())
    async fn pending_account_is_removed_when_its_mailbox_is_proven(app) {
        let ada = app.user("ada").await;
        let email = address("countess");
        app.anon().sign_up(&email, "another lantern 42").send().await.expect(200);
        let squatted = app.mail_to(&email).await.code();
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, &email).await;
        assert!(!user_id_of(&app, &email).await.is_empty());

        confirm(&ada, &id, &new, "").send().await.expect(200);

        app.anon().verify(&email, &squatted).send().await.refused(400, "INVALID_CODE");
        let found = app.admin().get("/api/auth/users").query("search", &email).send().await.expect(200);
        assert_eq!(found["data"], json!([]));
        confirm(&ada, &id, "", &current).send().await.expect(200);
        app.anon().sign_in(&email, "another lantern 42").send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(&email, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn address_lost_meanwhile_is_told_only_after_both_proofs(app) {
        let ada = app.user("ada").await;
        let Begun { id, new, current } = begun(&app, &ada, &ada.email, "eva@example.org").await;
        app.user("eva").await;

        confirm(&ada, &id, &new, other_than(&current)).send().await.refused(400, "INVALID_CODE");
        assert_eq!(confirm(&ada, &id, "", "").send().await.expect(200), json!({"needs": ["current"]}));
        let refusal = confirm(&ada, &id, "", &current).send().await.refused(409, "EMAIL_EXISTS");

        assert_eq!(refusal.get("field"), None);
        assert_eq!(account(&ada).await["user"]["email"], ada.email);
        assert_eq!(account(&ada).await["emailChange"], json!(null));
        confirm(&ada, &id, &new, &current).send().await.refused(404, "NOT_FOUND");
        app.anon().sign_in("eva@example.org", PASSWORD).send().await.expect(200);
    }

    // An address that is left meanwhile is free only after its window.
    with(|b| b.verification_by_code())
    async fn taken_address_stays_without_a_code_when_its_account_goes(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let body = change(&ada, &eve.email).send().await.expect(202);
        let current = app.mail_to(&ada.email).await.code();
        app.admin().delete("/api/auth/users").json(&json!({"userIds": [eve.id]})).send().await.expect(200);

        confirm(&ada, &id_of(&body), "000000", &current).send().await.refused(400, "INVALID_CODE");

        let begun = begun(&app, &ada, &ada.email, &eve.email).await;
        confirm(&ada, &begun.id, &begun.new, &begun.current).send().await.expect(200);
    }
}
