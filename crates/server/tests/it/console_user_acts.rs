//! Acts on several chosen accounts in the console: the question, which names them, and the report, one by one.

use latchkey_domain::operator::Role;
use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json, minutes};

use crate::audit::{events, last};
use crate::console_calls::verified;
use crate::console_users::{create, signed_in};
use crate::operators::make_operator;
use crate::routes::NOBODY;

const CHOSEN: &str = "/console/users/chosen";

fn question(act: &str, ids: &[&str]) -> String {
    let boxes: Vec<_> = ids.iter().map(|id| format!("{id}=on")).collect();
    format!("{CHOSEN}?act={act}&{}", boxes.join("&"))
}

async fn exists(app: &TestApp, id: &str) -> bool {
    app.admin().get(&format!("/api/auth/users/{id}")).send().await.status == 200
}

async fn is_banned(app: &TestApp, id: &str) -> bool {
    let user = app.admin().get(&format!("/api/auth/users/{id}")).send().await.expect(200);
    user["banned"] == json!(true)
}

/// Number of rows with this outcome.
fn count(report: &Answer, outcome: &str) -> usize {
    report.hosted(200).matches(&format!(">{outcome}<")).count()
}

both_stores! {
    with(|b| verified(b).console())
    async fn chosen_accounts_are_named_then_banned_and_told_one_by_one(app) {
        let browser = signed_in(&app, Role::Support).await;
        let (ada, bob) =
            (create(&app, "ada@example.net", "Ada").await, create(&app, "bob@example.net", "Bob").await);
        app.anon().sign_in("ada@example.net", PASSWORD).send().await.expect(200);
        app.admin().patch(&format!("/api/auth/users/{bob}"), json!({"banned": true})).send().await.expect(200);

        let page = browser.get(&question("ban", &[&ada, &bob])).await;
        for part in ["Ban 2 accounts", "ada@example.net", "bob@example.net"] {
            assert!(page.hosted(200).contains(part), "{part} in {page:?}");
        }
        assert!(!is_banned(&app, &ada).await);
        let report = browser.follow(&browser.submit(&page, CHOSEN, &[]).await).await;

        assert_eq!((count(&report, "Done"), count(&report, "Nothing to do")), (1, 1), "{report:?}");
        assert!(report.text().contains("Done for 1 account."), "{report:?}");
        assert!(is_banned(&app, &ada).await);
        let banned = events(&app).await.into_iter().filter(|event| event["event"] == "user_banned");
        let by_operator = banned.filter(|event| event["actor"] == "operator").count();
        assert_eq!(by_operator, 1);
    }

    with(|b| verified(b).console())
    async fn sessions_of_chosen_accounts_end(app) {
        let browser = signed_in(&app, Role::Support).await;
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let page = browser.get(&question("end_sessions", &[&ada.id, &bob.id])).await;

        let report = browser.follow(&browser.submit(&page, CHOSEN, &[]).await).await;
        let again = browser.follow(&browser.submit(&page, CHOSEN, &[]).await).await;

        assert_eq!((count(&report, "Done"), count(&again, "Nothing to do")), (2, 2), "{report:?}");
        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| verified(b).console())
    async fn deletion_asks_for_its_words_and_a_recent_factor(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let (ada, bob) =
            (create(&app, "ada@example.net", "Ada").await, create(&app, "bob@example.net", "Bob").await);
        let page = browser.get(&question("delete", &[&ada, &bob])).await;
        assert!(page.hosted(200).contains("delete 2 accounts"), "{page:?}");

        let untyped = browser.submit(&page, CHOSEN, &[]).await;
        let wrong = browser.submit(&page, CHOSEN, &[("confirmation", "delete 1 account")]).await;
        for refused in [untyped, wrong] {
            assert!(refused.hosted(400).contains("Type it exactly as it is shown."), "{refused:?}");
        }
        assert!(exists(&app, &ada).await && exists(&app, &bob).await);
        let report =
            browser.follow(&browser.submit(&page, CHOSEN, &[("confirmation", "delete 2 accounts")]).await).await;

        assert_eq!(count(&report, "Done"), 2, "{report:?}");
        assert!(report.text().contains("bob@example.net"), "deleted accounts are named: {report:?}");
        assert!(!exists(&app, &ada).await && !exists(&app, &bob).await);
    }

    with(|b| verified(b).console())
    async fn deletion_waits_for_a_factor_that_is_not_recent(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let ada = create(&app, "ada@example.net", "Ada").await;
        app.clock.advance(minutes(11));
        let page = browser.get(&question("delete", &[&ada])).await;

        let asked = browser.submit(&page, CHOSEN, &[("confirmation", "delete 1 account")]).await;

        assert!(asked.hosted(403).contains("name=\"kept\""), "{asked:?}");
        assert!(exists(&app, &ada).await);
    }

    with(|b| verified(b).console())
    async fn operators_and_unknown_accounts_are_left_out(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let owner = app.two_step_user("owner").await;
        make_operator(&app, &owner, Role::Owner).await;
        let ada = create(&app, "ada@example.net", "Ada").await;
        let owner_id = owner.id.clone();

        let page = browser.get(&question("ban", &[&ada, &owner_id, NOBODY])).await;
        assert!(page.hosted(200).contains("Ban 1 account"), "{page:?}");
        assert!(page.text().contains("2 accounts are left out"), "{page:?}");
        let ids = format!("{ada},{owner_id},{NOBODY}");
        let report = browser.follow(&browser.submit(&page, CHOSEN, &[("ids", &ids)]).await).await;

        assert_eq!(count(&report, "Done"), 1, "{report:?}");
        assert_eq!(count(&report, "Refused: an operator&#39;s account"), 1, "{report:?}");
        assert_eq!(count(&report, "The account does not exist any more"), 1, "{report:?}");
        assert!(is_banned(&app, &ada).await && !is_banned(&app, &owner_id).await);
        let refused = last(&app, "operator_refused").await;
        assert_eq!((&refused["userId"], &refused["details"]["act"]), (&json!(owner_id), &json!("ban")));
    }

    with(|b| verified(b).console())
    async fn ban_of_chosen_operators_waits_for_a_recent_factor(app) {
        let browser = signed_in(&app, Role::Owner).await;
        let other = app.two_step_user("other").await;
        make_operator(&app, &other, Role::Support).await;
        let ada = create(&app, "ada@example.net", "Ada").await;
        app.clock.advance(minutes(11));

        let page = browser.get(&question("ban", &[&ada, &other.id])).await;
        let asked = browser.submit(&page, CHOSEN, &[]).await;

        assert!(asked.hosted(403).contains("name=\"kept\""), "{asked:?}");
        assert!(!is_banned(&app, &ada).await && !is_banned(&app, &other.id).await);
        let page = browser.get(&question("ban", &[&ada])).await;
        browser.follow(&browser.submit(&page, CHOSEN, &[]).await).await.hosted(200);
        assert!(is_banned(&app, &ada).await);
    }

    with(|b| verified(b).console())
    async fn hundred_accounts_are_chosen_in_the_list(app) {
        let browser = signed_in(&app, Role::Support).await;
        let (ada, bob) =
            (create(&app, "ada@example.net", "Ada").await, create(&app, "bob@example.net", "Bob").await);
        let list = browser.get("/console/users").await;
        let mut ids: Vec<_> = (0..99).map(|number| format!("{number:08}-0000-7000-8000-000000000000")).collect();
        ids.push(ada.clone());
        let boxes = |ids: &[String]| -> Vec<(String, String)> {
            let ticked = ids.iter().map(|id| (id.clone(), "on".to_owned()));
            ticked.chain([("act".to_owned(), "ban".to_owned())]).collect()
        };
        let send = async |ids: &[String]| {
            let fields = boxes(ids);
            let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            browser.submit(&list, CHOSEN, &fields).await
        };

        let page = browser.follow(&send(&ids).await).await;
        let none = send(&[]).await;
        ids.push(bob);
        let many = send(&ids).await;

        assert!(page.hosted(200).contains("Ban 1 account") && page.text().contains("99 accounts are left out"), "{page:?}");
        assert!(none.hosted(400).contains("Choose accounts in the list first."), "{none:?}");
        assert!(many.hosted(400).contains("Choose at most 100 accounts."), "{many:?}");
        assert!(!is_banned(&app, &ada).await);
    }

    with(|b| verified(b).console())
    async fn hundred_long_addresses_are_told_one_by_one(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let domain = format!("{0}.{0}.example.net", "d".repeat(60));
        let mut ids = Vec::new();
        for number in 0..100 {
            ids.push(create(&app, &format!("{}{number:03}@{domain}", "a".repeat(55)), "Ada").await);
        }
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        let question = format!("{CHOSEN}?ids={}", ids.join(","));

        let page = browser.get(&format!("{question}&act=ban")).await;
        let report = browser.follow(&browser.submit(&page, CHOSEN, &[]).await).await;
        assert_eq!(count(&report, "Done"), 100, "{report:?}");
        assert_eq!(report.text().matches(&format!("@{domain}</bdi>")).count(), 100, "{report:?}");
        app.clock.advance(minutes(5));
        let page = browser.get(&format!("{question}&act=delete")).await;
        let typed = [("confirmation", "delete 100 accounts")];
        let report = browser.follow(&browser.submit(&page, CHOSEN, &typed).await).await;

        assert_eq!(count(&report, "Done"), 100, "{report:?}");
        assert!(report.text().contains(&format!("000@{domain}</bdi>")), "the addresses that fit: {report:?}");
        assert!(report.text().contains(ids[99]), "the others by id: {report:?}");
        assert!(!exists(&app, ids[99]).await);
    }

    with(|b| verified(b).console())
    async fn last_owner_is_told_as_such(app) {
        let browser = signed_in(&app, Role::Owner).await;
        let owner = app.service().operators.list().await.unwrap()[0].user.id.to_string();

        let page = browser.get(&question("ban", &[&owner])).await;
        let report = browser.follow(&browser.submit(&page, CHOSEN, &[]).await).await;

        assert_eq!(count(&report, "Refused: the last owner"), 1, "{report:?}");
        assert!(!is_banned(&app, &owner).await);
    }

    with(|b| verified(b).console())
    async fn deletion_of_one_failing_leaves_the_others_done(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let (ada, bob) =
            (create(&app, "ada@example.net", "Ada").await, create(&app, "bob@example.net", "Bob").await);
        let page = browser.get(&question("delete", &[&ada, &bob])).await;
        let ids = json!({"userIds": [ada]});
        app.admin().delete("/api/auth/users").json(&ids).send().await.expect(200);

        // One account is left, so the words differ: the form is shown again with those of what is left.
        let again = browser.submit(&page, CHOSEN, &[("confirmation", "delete 2 accounts")]).await;
        assert!(again.hosted(400).contains("delete 1 account"), "{again:?}");
        let report =
            browser.follow(&browser.submit(&page, CHOSEN, &[("confirmation", "delete 1 account")]).await).await;

        assert_eq!(count(&report, "Done"), 1, "{report:?}");
        assert_eq!(count(&report, "The account does not exist any more"), 1, "{report:?}");
        assert!(!exists(&app, &bob).await);
    }

    with(|b| verified(b).console())
    async fn none_and_too_many_are_refused(app) {
        let browser = signed_in(&app, Role::Support).await;
        let ids: Vec<_> = (0..101).map(|number| format!("{number:08}-0000-7000-8000-000000000000")).collect();

        let none = browser.get(&format!("{CHOSEN}?act=ban")).await;
        let many = browser.get(&format!("{CHOSEN}?act=ban&ids={}", ids.join(","))).await;

        assert!(none.hosted(400).contains("Choose accounts in the list first."), "{none:?}");
        assert!(many.hosted(400).contains("Choose at most 100 accounts."), "{many:?}");
        browser.get(&format!("{CHOSEN}?act=praise")).await.hosted(400);
    }

    with(|b| verified(b).console())
    async fn role_that_may_not_delete_is_refused(app) {
        let browser = signed_in(&app, Role::Support).await;
        let ada = create(&app, "ada@example.net", "Ada").await;
        let page = browser.get(&question("ban", &[&ada])).await;

        browser.get(&question("delete", &[&ada])).await.hosted(403);
        let forged = [("act", "delete"), ("confirmation", "delete 1 account")];
        browser.submit(&page, CHOSEN, &forged).await.hosted(403);

        assert!(exists(&app, &ada).await && !is_banned(&app, &ada).await);
    }
}
