//! `/console/mails`: what became of mails, and another try for dead ones.

use latchkey_domain::operator::Role;
use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json};

use crate::audit::last;
use crate::console_calls::verified;
use crate::console_user_calls::desk;

const MAILS: &str = "/console/mails";

/// Signs somebody up, whose mail the server refuses for good.
pub(crate) async fn dead_mail(app: &TestApp, email: &str) {
    app.run_jobs().await;
    app.mail().refuse_next(1);
    app.anon().sign_up(email, PASSWORD).send().await.expect(200);
    app.run_jobs().await;
}

both_stores! {
    with(|b| verified(b).console())
    async fn mails_are_listed_by_fate_and_recipient_without_their_content(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        app.user("ada").await;
        let code = app.mail_to("ada@example.org").await.code();
        dead_mail(&app, "bob@example.org").await;

        let page = viewer.browser.get(MAILS).await;
        let text = page.hosted(200);
        assert!(text.contains("ada@example.org") && text.contains("bob@example.org"), "{text}");
        assert!(text.contains("Sent by <bdi>memory</bdi>.") && text.contains("1 mail is dead."), "{text}");
        assert!(!text.contains(&code) && !text.contains("act=retry"), "{text}");
        for (query, count) in
            [("fate=dead", 1), ("fate=dead&to=ada@example.org", 0), ("to=bob@example.org", 1), ("to=bob", 0), ("fate=lost", 0)]
        {
            let page = viewer.browser.get(&format!("{MAILS}?{query}")).await;
            let expected = if count == 1 { "role=\"status\">1 mail<" } else { "role=\"status\">0 mails<" };
            assert!(page.hosted(200).contains(expected), "{query}: {page:?}");
            assert!(page.text().contains("Clear the filters"), "{query}");
        }
    }

    with(|b| verified(b).console())
    async fn dead_mail_is_tried_again_from_the_list_and_from_the_page_of_its_user(app) {
        let support = desk(&app, "support", Role::Support).await;
        dead_mail(&app, "bob@example.org").await;
        let page = support.browser.get("/console/mails?fate=dead").await;

        let done = support.browser.follow(&support.browser.submit(&page, "act=retry", &[]).await).await;

        assert!(done.hosted(200).contains("The mail is tried again now."), "{done:?}");
        assert!(done.text().contains("<option value=\"dead\" selected>"), "the filter stays: {done:?}");
        assert_eq!(last(&app, "mail_retried").await["actor"], "operator");
        assert!(app.mail_to("bob@example.org").await.code().len() >= 6);
        let again = support.browser.submit(&page, "act=retry", &[]).await;
        assert!(again.hosted(409).contains("This mail was sent, and its content is deleted."), "{again:?}");

        dead_mail(&app, "eve@example.org").await;
        let users = app.admin().get("/api/auth/users").query("search", "eve@").send().await.expect(200);
        let path = format!("/console/users/{}", users["data"][0]["id"].as_str().unwrap());
        let page = support.browser.get(&path).await;
        let done = support.browser.submit(&page, "act=retry-mail", &[]).await;
        assert!(support.browser.follow(&done).await.hosted(200).contains("The mail is tried again now."));
        assert!(app.mail_to("eve@example.org").await.code().len() >= 6);
    }

    with(|b| verified(b).console())
    async fn list_goes_on_on_the_next_page(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        let ada = app.user("ada").await;
        for _ in 0..55 {
            app.anon().post("/api/auth/email/send-reset-password", json!({"email": ada.email})).send().await;
        }
        let path = format!("{MAILS}?to={}", ada.email);
        let (mut page, mut rows) = (viewer.browser.get(&path).await, Vec::new());
        let total = page.hosted(200).split(" mails<").next().unwrap().rsplit('>').next().unwrap();
        let total: usize = total.parse().unwrap();
        assert!(total > 55, "{total}");

        loop {
            let ids = page.hosted(200).split("scope=\"row\" id=\"n-").skip(1);
            rows.extend(ids.map(|rest| rest[..36].to_owned()));
            let next = page.text().split("rel=\"next\" href=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
            let Some(next) = next.map(|href| href.replace("&amp;", "&")) else { break };
            page = viewer.browser.get(&next).await;
        }

        assert_eq!(rows.len(), total);
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), total, "each mail is listed once");
        let previous = |page: &Answer| {
            let href = page.text().split("rel=\"prev\" href=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
            href.map(|href| href.replace("&amp;", "&"))
        };
        let first = viewer.browser.get(&previous(&page).expect("a page before the last")).await;
        let ids: Vec<_> = first.hosted(200).split("scope=\"row\" id=\"n-").skip(1).map(|rest| rest[..36].to_owned()).collect();
        assert_eq!((ids.len(), previous(&first)), (50, None), "the page before the second is the first");
        viewer.browser.get("/console/mails?after=nonsense").await.hosted(200);
    }
}
