//! `/console/audit`: the number of events, and the pages of the list in both directions.

use latchkey_domain::operator::Role;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, PASSWORD, TestApp, both_stores, seconds};

use crate::console_calls::verified;
use crate::console_user_calls::desk;
use crate::imports::import_lines;
use crate::routes::NOBODY;

const AUDIT: &str = "/console/audit";

/// Fails `count` sign-ins from an address, a second after each other.
async fn fail(app: &TestApp, count: usize, ip: &str) {
    for _ in 0..count {
        app.clock.advance(seconds(1));
        app.anon()
            .at(ip)
            .sign_in("nobody@example.org", PASSWORD)
            .send()
            .await
            .refused(401, "INVALID_CREDENTIALS");
    }
}

/// Address of the link with this `rel`.
fn neighbour(page: &Answer, rel: &str) -> Option<String> {
    let href = page.text().split(&format!("rel=\"{rel}\" href=\"")).nth(1)?.split('"').next()?;
    Some(href.replace("&amp;", "&"))
}

/// Times of the listed events, which tell them apart.
fn times(page: &Answer) -> Vec<String> {
    let text = page.hosted(200).split("id=\"list\"").nth(1).unwrap_or_default();
    text.split("<time datetime=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// Opens pages in one direction until there is no further one.
async fn walk(browser: &Browser, mut page: Answer, rel: &str) -> Vec<Answer> {
    let mut pages = Vec::new();
    loop {
        let next = neighbour(&page, rel);
        pages.push(page);
        let Some(next) = next else { return pages };
        page = browser.get(&next).await;
        page.hosted(200);
    }
}

both_stores! {
    with(|b| verified(b).console())
    async fn list_is_counted_and_goes_both_ways(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        fail(&app, 60, "198.51.100.7").await;
        fail(&app, 55, "198.51.100.8").await;

        for (query, total) in [
            ("event=sign_in_failed", "115 events, newest first"),
            ("address=198.51.100.7", "60 events, newest first"),
            ("address=198.51.100.8&event=sign_in_failed", "55 events, newest first"),
            ("address=198.51.100.8&event=sign_up", "0 events, newest first"),
        ] {
            let first = viewer.browser.get(&format!("{AUDIT}?{query}")).await;
            assert!(first.hosted(200).contains(total), "{query}: {first:?}");
            assert_eq!(neighbour(&first, "prev"), None, "{query}");
            let down = walk(&viewer.browser, first, "next").await;
            let listed: Vec<_> = down.iter().flat_map(times).collect();
            let number: usize = total.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(listed.len(), number, "{query}");
            assert!(listed.is_sorted_by(|one, next| one > next), "{query}: {listed:?}");

            let lowest = down.into_iter().next_back().unwrap();
            let mut up = walk(&viewer.browser, lowest, "prev").await;
            assert!(up.iter().all(|page| page.text().contains(total)), "{query}");
            up.reverse();
            let again: Vec<_> = up.iter().flat_map(times).collect();
            assert!(again.len() >= number && again.ends_with(&listed[number - number.min(5)..]), "{query}");
            assert_eq!(times(&up[0]), listed[..number.min(50)], "{query}: the first page is whole");
        }
    }

    with(|b| verified(b).console())
    async fn acts_of_one_operator_are_chosen_by_owners_and_named_in_the_address(app) {
        let (owner, viewer) = (desk(&app, "owner", Role::Owner).await, desk(&app, "viewer", Role::Viewer).await);
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);
        support.acts(&ada, "ban", &[]).await.hosted(200);
        owner.page(&ada).await.hosted(200);

        for (operator, total) in [
            (support.id.as_str(), "1 event, newest first"),
            ("support@example.org", "1 event, newest first"),
            (&owner.id, "0 events, newest first"),
            ("nobody@example.org", "0 events, newest first"),
        ] {
            let path = format!("{AUDIT}?event=user_banned&operator={operator}");
            for desk in [&owner, &viewer] {
                let page = desk.browser.get(&path).await;
                assert!(page.hosted(200).contains(total), "{path}: {page:?}");
                assert!(page.text().contains("Clear the filters"), "{path}");
            }
        }
        let page = owner.browser.get(&format!("{AUDIT}?operator={}", support.id)).await;
        let chosen = format!("<option value=\"{}\" selected>support@example.org</option>", support.id);
        assert!(page.hosted(200).contains(&chosen), "{page:?}");
        assert!(page.text().contains(&format!("/console/audit/export?operator={}", support.id)), "{page:?}");
        let gone = owner.browser.get(&format!("{AUDIT}?operator={NOBODY}")).await;
        assert!(gone.hosted(200).contains(&format!("<option value=\"{NOBODY}\" selected>")), "{gone:?}");
        let page = viewer.browser.get(AUDIT).await;
        assert!(!page.hosted(200).contains("name=\"operator\""), "{page:?}");
    }

    with(|b| verified(b).console())
    async fn details_are_words(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        viewer.browser.get("/console/operators").await.hosted(403);
        import_lines(&app, "&dryRun=true", "{\"email\": \"ada@example.org\"}").await;

        let page = viewer.browser.get(AUDIT).await;

        let text = page.hosted(200);
        for part in ["<bdi>act</bdi>: <bdi>manage operators</bdi>", "<bdi>import id</bdi>: ", "<bdi>dry run</bdi>: <bdi>true</bdi>"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    with(|b| verified(b).console())
    async fn export_of_a_list_without_events_is_an_empty_file(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        let page = viewer.browser.get(&format!("{AUDIT}?user=nobody@example.org")).await;
        assert!(page.hosted(200).contains("0 events"), "{page:?}");

        let file = viewer.browser.get(&link(&page, "/console/audit/export").expect("a link")).await;

        assert_eq!((file.status, file.text()), (200, ""), "{file:?}");
        assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"audit.jsonl\""));
    }

    with(|b| verified(b).console())
    async fn period_ends_with_its_last_day_or_at_its_time(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        fail(&app, 1, "198.51.100.7").await;
        let list = async |until: &str| {
            let page = viewer.browser.get(&format!("{AUDIT}?event=sign_in_failed&until={until}")).await;
            times(&page).len()
        };
        let day = app.service().now().to_date_text();

        assert_eq!(list(&day).await, 1);
        assert_eq!(list(&format!("{day}T00:00:00Z")).await, 0);
    }

    with(|b| verified(b).console())
    async fn page_in_the_middle_has_both_neighbours(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        fail(&app, 130, "198.51.100.7").await;
        let first = viewer.browser.get(&format!("{AUDIT}?address=198.51.100.7")).await;
        let second = viewer.browser.get(&neighbour(&first, "next").unwrap()).await;
        let third = viewer.browser.get(&neighbour(&second, "next").unwrap()).await;
        assert_eq!((times(&third).len(), neighbour(&third, "next")), (30, None));

        let back = viewer.browser.get(&neighbour(&third, "prev").unwrap()).await;

        assert_eq!(times(&back), times(&second));
        let begin = viewer.browser.get(&neighbour(&back, "prev").unwrap()).await;
        assert_eq!(times(&begin), times(&first));
        let nonsense = viewer.browser.get(&format!("{AUDIT}?after=nonsense")).await;
        nonsense.hosted(200);
    }
}
