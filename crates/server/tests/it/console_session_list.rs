//! `/console/sessions`: the list of live sessions with its filters, and the end of one.

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::operator::Role;
use latchkey_testkit::{PASSWORD, TestApp, both_stores};

use crate::audit::last;
use crate::console_calls::{ConsoleBrowser, operator, verified};
use crate::console_users::{create, signed_in};
use crate::operators::make_operator;

const SESSIONS: &str = "/console/sessions";
/// Part of the address of the form in a row, where the list is filtered by user.
const FORM: &str = "/console/sessions?user";

async fn sign_in(app: &TestApp, email: &str, ip: &str, agent: &str) {
    let client = app.anon().at(ip).with_header("user-agent", agent);
    client.sign_in(email, PASSWORD).send().await.expect(200);
}

both_stores! {
    with(|b| verified(b).console())
    async fn sessions_are_listed_by_user_address_and_device(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        let ada = create(&app, "ada@example.net", "Ada").await;
        create(&app, "bob@example.net", "Bob").await;
        sign_in(&app, "ada@example.net", "203.0.113.9", "Mozilla/5.0 (iPhone) Safari/604.1").await;
        sign_in(&app, "bob@example.net", "203.0.113.10", "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0").await;

        for (filter, found) in [
            ("user=ada@example.net".to_owned(), ["ada@example.net"].as_slice()),
            (format!("user={ada}"), &["ada@example.net"]),
            ("address=203.0.113.10".to_owned(), &["bob@example.net"]),
            ("address=::ffff:203.0.113.10".to_owned(), &["bob@example.net"]),
            ("address=203.0.113".to_owned(), &[]),
            ("device=IPHONE".to_owned(), &["ada@example.net"]),
            ("device=firefox&user=ada@example.net".to_owned(), &[]),
            ("user=nobody@example.net".to_owned(), &[]),
            ("user=nobody".to_owned(), &[]),
        ] {
            let page = browser.get(&format!("{SESSIONS}?{filter}")).await;

            let text = page.hosted(200);
            for address in ["ada@example.net", "bob@example.net"] {
                let is_row = text.contains(&format!("<bdi>{address}</bdi>"));
                assert_eq!(is_row, found.contains(&address), "{address} for {filter}: {text}");
            }
        }
        let all = browser.get(SESSIONS).await;
        assert!(all.hosted(200).contains("Part of the user agent"), "the label says what is matched: {all:?}");
        assert!(all.hosted(200).contains("bob@example.net") && !all.text().contains("End this session"), "{all:?}");
    }

    with(|b| verified(b).console())
    async fn device_is_found_in_any_case_of_ascii_letters_alone(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        let otto = operator(&app, "otto", Role::Viewer).await;
        let mut tablet = ConsoleBrowser::new(&app);
        tablet.client = Client::new(ClientAddress::new([203, 0, 113, 8].into()), Some("\u{c4}pp/2 (Tablet)"));
        tablet.sign_in(&otto).await;

        for (device, is_found) in [("TABLET", true), ("%C3%84PP", true), ("%C3%A4pp", false)] {
            let page = browser.get(&format!("{SESSIONS}?device={device}")).await;

            assert_eq!(page.hosted(200).contains(&otto.email), is_found, "{device}: {page:?}");
        }
    }

    with(|b| verified(b).console())
    async fn one_session_ends_and_is_audited(app) {
        let browser = signed_in(&app, Role::Support).await;
        let ada = app.user("ada").await;
        let page = browser.get(&format!("{SESSIONS}?user={}", ada.email)).await;

        let done = browser.follow(&browser.submit(&page, FORM, &[]).await).await;

        assert!(done.hosted(200).contains("The session has ended."), "{done:?}");
        assert!(done.text().contains("No session matches."), "{done:?}");
        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        let event = last(&app, "session_ended").await;
        assert_eq!((&event["actor"], &event["userId"]), (&"operator".into(), &ada.id.as_str().into()));
        browser.submit(&page, FORM, &[]).await.hosted(404);
    }

    with(|b| verified(b).console())
    async fn sessions_of_operators_are_not_for_support(app) {
        let browser = signed_in(&app, Role::Support).await;
        let owner = app.two_step_user("owner").await;
        make_operator(&app, &owner, Role::Owner).await;
        let ada = app.user("ada").await;
        let page = browser.get(&format!("{SESSIONS}?user={}", ada.email)).await;
        let of_owner = app.service().admin.list_sessions(owner.id.parse().unwrap()).await.unwrap();

        let listed = browser.get(&format!("{SESSIONS}?user={}", owner.email)).await;
        let refused = browser.submit(&page, FORM, &[("id", &of_owner[0].id.to_string())]).await;

        assert!(!listed.hosted(200).contains("name=\"id\""), "{listed:?}");
        assert!(refused.hosted(403).contains("This is the account of an operator."), "{refused:?}");
        let event = last(&app, "operator_refused").await;
        assert_eq!((&event["userId"], &event["details"]["act"]), (&owner.id.as_str().into(), &"end_sessions".into()));
        owner.get("/api/profiles/me").send().await.expect(200);
    }
}
