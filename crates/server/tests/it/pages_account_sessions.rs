//! `/auth/account/sessions`: the sessions of the own account, and their end.

use latchkey_testkit::{Answer, both_stores, days, minutes, seconds};

use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/sessions";

/// Ids of the sessions that the page offers to end, in its order.
fn offered(page: &Answer) -> Vec<String> {
    let rows = page.hosted(200).split("id=\"e-").skip(1);
    rows.map(|row| row.split('"').next().unwrap().to_owned()).collect()
}

both_stores! {
    with(|b| b.pages())
    async fn sessions_are_shown_in_words_and_the_current_one_first(app) {
        let ada = app.user("ada").await;
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 \
                     (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1";
        let again = ada.sign_in(&ada.email, &ada.password).without_header("authorization");
        again.header("user-agent", phone).send().await.expect(200);
        app.clock.advance(days(2));
        let browser = signed_in(&app).await;

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        let (first, others) = text.split_once("<ul class=\"rows\">").unwrap().1.split_once("</li>").unwrap();
        assert!(first.contains("This device") && first.contains("This site"), "{first}");
        assert!(others.contains("Safari") && others.contains("2 days ago"), "{others}");
        assert!(!text.contains("Mozilla") && !text.contains("AppleWebKit"), "a raw user agent: {text}");
        assert_eq!(offered(&page).len(), 2, "{text}");
    }

    with(|b| b.pages())
    async fn form_ends_the_named_session_alone(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(1));
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let page = browser.get(PATH).await;
        let id = offered(&page).remove(0);

        let done = browser.submit(&page, "act=end", &[("id", &id)]).await;

        let after = browser.follow(&done).await;
        assert!(after.hosted(200).contains("The session has ended."), "{after:?}");
        assert!(!offered(&after).contains(&id), "{after:?}");
        assert!(other.get(PATH).await.header("location").unwrap().starts_with("/auth/sign-in?flow="));
        ada.get("/api/auth/sessions/current").send().await.expect(200);
        let again = browser.submit(&page, "act=end", &[("id", &id)]).await;
        assert_eq!(again.status, 303, "{again:?}");
    }

    with(|b| b.pages())
    async fn session_of_somebody_else_stays(app) {
        let (_ada, eve) = (app.user("ada").await, app.user("eve").await);
        let _other = signed_in(&app).await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        let listed = eve.get("/api/auth/sessions").send().await.expect(200);
        let id = listed["sessions"][0]["id"].as_str().unwrap().to_owned();

        browser.submit(&page, "act=end", &[("id", &id)]).await;

        eve.get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.pages())
    async fn all_others_end_and_this_one_stays(app) {
        let ada = app.user("ada").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let page = browser.get(PATH).await;

        let done = browser.submit(&page, "act=end-others", &[]).await;

        let after = browser.follow(&done).await;
        let text = after.hosted(200);
        assert!(text.contains("All other sessions have ended.") && text.contains("signed in only here"), "{text}");
        assert!(offered(&after).is_empty() && !text.contains("act=end-others"), "{text}");
        assert!(other.get(PATH).await.header("location").unwrap().starts_with("/auth/sign-in?flow="));
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.pages())
    async fn form_without_its_token_ends_nothing(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        browser.submit(&page, "act=end-others", &[("form_token", "nonsense")]).await.hosted(403);
        browser.get(&format!("{PATH}?act=end-others")).await.hosted(200);

        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.pages())
    async fn long_list_has_pages_and_each_session_once(app) {
        let ada = app.user("ada").await;
        for _ in 0..45 {
            app.clock.advance(seconds(1));
            ada.sign_in_again().await;
        }
        let browser = signed_in(&app).await;
        let (mut seen, mut path) = (Vec::new(), PATH.to_owned());
        loop {
            let page = browser.get(&path).await;
            assert!(page.hosted(200).len() <= 24 * 1024, "{} bytes", page.text().len());
            seen.extend(offered(&page));
            let next = latchkey_testkit::browser::link(&page, "from=").filter(|next| *next != path);
            let Some(next) = next else { break };
            path = next;
        }

        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 46, "all but the current one");
        let beyond = browser.get(&format!("{PATH}?from=1000")).await;
        assert_eq!(offered(&beyond), offered(&browser.get(PATH).await));
        assert!(browser.get("/auth/account").await.hosted(200).contains(PATH));
    }
}
