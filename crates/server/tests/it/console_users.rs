//! `/console/users`: search, filters, order, pages, CSV, and the form of a new account.

use latchkey_domain::operator::Role;
use latchkey_testkit::{Browser, PASSWORD, TestApp, Value, both_stores, json, minutes, seconds};

use crate::admin_user_list::NO_ADDRESS;
use crate::audit::{events, last};
use crate::console_calls::{ConsoleBrowser, operator, verified};

const USERS: &str = "/console/users";

/// A browser in which the operator `olive` is signed in with a role.
pub(crate) async fn signed_in(app: &TestApp, role: Role) -> Browser {
    let olive = operator(app, "olive", role).await;
    let mut browser = ConsoleBrowser::new(app);
    browser.sign_in(&olive).await;
    let token = browser.token.as_ref().expect("a console session").expose().clone();
    let cookies = app.browser().with_cookie("latchkey_browser_8700", browser.secret.expose());
    cookies.with_cookie("latchkey_console_8700", token)
}

/// Creates a user with a profile, and returns its id.
pub(crate) async fn create(app: &TestApp, address: &str, name: &str) -> String {
    let body = json!({"email": address, "password": PASSWORD, "name": name, "autoConfirm": true});
    let created = app.admin().post("/api/auth/users", body).send().await.expect(200);
    app.clock.advance(seconds(1));
    created["user"]["id"].as_str().unwrap().to_owned()
}

/// Addresses in the rows of the list, in order.
fn rows(page: &str) -> Vec<String> {
    let rows = page.split("<th scope=\"row\"").skip(1);
    let address = |row: &str| row.split("<bdi>").nth(1).unwrap().split("</bdi>").next().unwrap().to_owned();
    rows.map(address).collect()
}

/// Target of the first link whose markup has `marker`.
fn link(page: &str, marker: &str) -> Option<String> {
    let tag =
        page.split("<a ").find(|tag| tag.split('>').next().is_some_and(|head| head.contains(marker)))?;
    let href = tag.split("href=\"").nth(1)?.split('"').next()?;
    Some(href.replace("&amp;", "&"))
}

async fn change(app: &TestApp, id: &str, body: Value) {
    app.admin().patch(&format!("/api/auth/users/{id}"), body).send().await.expect(200);
}

both_stores! {
    with(|b| verified(b).console())
    async fn user_is_found_by_address_beginning_name_and_id(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        let id = create(&app, "ada@example.net", "Countess Lovelace").await;
        create(&app, "bob@example.net", "Bob").await;

        for search in ["ada@example.net", "ADA@", "ad", "lovel", "coun%20lace", id.as_str()] {
            let page = browser.get(&format!("{USERS}?q={search}")).await;

            assert_eq!(rows(page.hosted(200)), ["ada@example.net"], "{search}");
            assert!(page.text().contains("1 account<"), "{search}: {page:?}");
        }
        let nobody = browser.get(&format!("{USERS}?q=nobody")).await;
        assert!(nobody.hosted(200).contains("No account matches."), "{nobody:?}");
    }

    with(|b| verified(b).console())
    async fn filters_stand_in_the_address_and_stay_in_links(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        let ada = create(&app, "ada@example.net", "Ada").await;
        create(&app, "bob@example.net", "Bob").await;
        change(&app, &ada, json!({"banned": true})).await;

        let banned = browser.get(&format!("{USERS}?state=banned&sort=email")).await;
        let operators = browser.get(&format!("{USERS}?state=operator")).await;
        let early = browser.get(&format!("{USERS}?created_before=2020-01-01")).await;
        let wrong = browser.get(&format!("{USERS}?state=happy")).await;

        assert_eq!(rows(banned.hosted(200)), ["ada@example.net"]);
        assert!(banned.text().contains("<option value=\"banned\" selected>"), "{banned:?}");
        let turned = link(banned.text(), "sort=-email").unwrap();
        assert!(turned.contains("state=banned"), "{turned}");
        assert_eq!(rows(operators.hosted(200)).len(), 1);
        assert!(rows(early.hosted(200)).is_empty() && rows(wrong.hosted(200)).is_empty());
    }

    with(|b| verified(b).console())
    async fn pages_by_key_show_everybody_once_in_every_order(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        for number in 0..59 {
            create(&app, &format!("u{number:02}@example.net"), "").await;
        }

        for sort in ["", "-created", "email", "-email", "lastSignIn", "-lastSignIn"] {
            let first = browser.get(&format!("{USERS}?sort={sort}")).await;
            let mut seen = rows(first.hosted(200));
            assert_eq!(seen.len(), 50, "{sort}");
            assert!(first.text().contains("60 accounts"), "{sort}");
            assert_eq!(link(first.text(), "rel=\"prev\""), None);
            let second = browser.get(&link(first.text(), "rel=\"next\"").unwrap()).await;
            seen.extend(rows(second.hosted(200)));
            let back = browser.get(&link(second.text(), "rel=\"prev\"").unwrap()).await;

            assert_eq!(rows(back.hosted(200)), seen[..50], "{sort}");
            assert_eq!(link(second.text(), "rel=\"next\""), None, "{sort}");
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), 60, "{sort}");
        }
    }

    with(|b| verified(b).console())
    async fn key_that_is_no_address_begins_anew(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        create(&app, "ada@example.net", "Ada").await;

        for place in ["after", "before"] {
            let page = browser.get(&format!("{USERS}?sort=email&{place}={NO_ADDRESS}")).await;

            assert_eq!(rows(page.hosted(200)).len(), 2, "{place}");
        }
    }

    with(|b| verified(b).console())
    async fn role_decides_on_acts_export_and_new_accounts(app) {
        let browser = signed_in(&app, Role::Viewer).await;

        let page = browser.get(USERS).await;

        for absent in ["/console/users/csv", "/console/users/new", "id=\"bulk\""] {
            assert!(!page.hosted(200).contains(absent), "{absent} in {page:?}");
        }
        browser.get("/console/users/new").await.hosted(403);
        browser.get("/console/users/chosen?act=ban").await.hosted(403);
        assert_eq!(last(&app, "operator_refused").await["details"]["act"], "ban");
    }

    with(|b| verified(b).console())
    async fn names_are_text(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let id = create(&app, "ada@example.net", "<img src=x onerror=alert(1)>\"'").await;

        for path in [USERS.to_owned(), format!("/console/users/chosen?act=ban&{id}=on")] {
            let page = browser.get(&path).await;

            assert!(page.hosted(200).contains("&lt;img src=x onerror=alert(1)&gt;"), "{page:?}");
            assert!(!page.text().contains("<img"), "{page:?}");
        }
        let page = browser.get(&format!("{USERS}?q=%22%3E%3Cscript%3E")).await;
        assert!(!page.hosted(200).contains("<script>"), "{page:?}");
    }

    with(|b| verified(b).console())
    async fn list_is_filtered_by_the_last_sign_in_and_by_imported_passwords(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        app.imported_user("ida", "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u").await;

        for (filter, has_ida) in [
            ("state=imported-hash", true),
            ("state=imported-hash&signed_in_after=2020-01-01", false),
            ("signed_in_after=2020-01-01", false),
            ("signed_in_before=2020-01-01", true),
            ("signed_in_before=2020-01-01&state=verified", true),
            ("signed_in_before=2020-13-01", false),
        ] {
            let page = browser.get(&format!("{USERS}?{filter}")).await;
            assert_eq!(page.hosted(200).contains("ida@example.org"), has_ida, "{filter}");
        }
    }

    with(|b| verified(b).console())
    async fn csv_has_the_filtered_list_without_formulas_and_is_audited(app) {
        let browser = signed_in(&app, Role::Admin).await;
        create(&app, "ada@example.net", "=HYPERLINK(\"http://evil.example\",\"x\")").await;
        create(&app, "bob@example.net", "+1, 2").await;
        create(&app, "cay@example.org", "Cay;=1").await;
        let page = browser.get(&format!("{USERS}?created_after=2020-01-01&sort=email")).await;

        let file = browser.submit(&page, "/console/users/csv", &[]).await;

        assert_eq!((file.status, file.header("content-type")), (200, Some("text/csv; charset=utf-8")));
        assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"users.csv\""));
        let lines: Vec<&str> = file.text().split("\r\n").collect();
        assert_eq!(lines[0], "id,email,name,state,ways,created,lastSignIn");
        assert!(lines[1].contains(",\"'=HYPERLINK(\"\"http://evil.example\"\",\"\"x\"\")\",verified,"), "{lines:?}");
        assert!(lines[2].contains(",\"'+1, 2\",verified,email,"), "{lines:?}");
        assert!(lines[3].contains(",\"Cay;'=1\",verified,email,"), "{lines:?}");
        assert_eq!(lines.len(), 6, "{lines:?}");
        let event = last(&app, "users_exported").await;
        assert_eq!(event["details"], json!({"rows": 4, "filters": ["created_after"]}));
        assert_eq!(event["actor"], "operator");
    }

    with(|b| verified(b).console())
    async fn export_is_for_admins(app) {
        let browser = signed_in(&app, Role::Support).await;
        let page = browser.get(USERS).await;

        assert!(!page.hosted(200).contains("/console/users/csv"), "{page:?}");
        browser.get("/console/users/csv").await.hosted(405);
        assert!(events(&app).await.iter().all(|event| event["event"] != "users_exported"));
    }

    with(|b| verified(b).console())
    async fn account_is_created_by_the_form(app) {
        let browser = signed_in(&app, Role::Admin).await;
        let form = browser.get("/console/users/new").await;
        let filled =
            [("email", "ada@example.net"), ("name", "Ada"), ("new_password", PASSWORD), ("verified", "on")];

        let page = browser.follow(&browser.submit(&form, "/console/users/new", &filled).await).await;

        let text = page.hosted(200);
        assert!(text.contains("The account is created.") && text.contains("ada@example.net"), "{text}");
        app.anon().sign_in("ada@example.net", PASSWORD).send().await.expect(200);
        assert_eq!(last(&app, "user_created").await["actor"], "operator");
    }

    with(|b| verified(b).console())
    async fn refused_account_keeps_what_was_typed_but_the_password(app) {
        let browser = signed_in(&app, Role::Admin).await;
        create(&app, "ada@example.net", "Ada").await;
        let form = browser.get("/console/users/new").await;
        let submit = async |fields: &[(&str, &str)]| browser.submit(&form, "/console/users/new", fields).await;

        let taken = submit(&[("email", "ADA@example.net"), ("new_password", PASSWORD)]).await;
        let weak = submit(&[("email", "new@example.net"), ("name", "New One"), ("new_password", "short")]).await;
        let bad = submit(&[("email", "nobody"), ("new_password", PASSWORD)]).await;

        assert!(taken.hosted(409).contains("There is an account with this address."), "{taken:?}");
        assert!(weak.hosted(400).contains("value=\"New One\"") && !weak.text().contains("value=\"short\""), "{weak:?}");
        assert!(weak.text().contains("id=\"new_password-fault\""), "{weak:?}");
        assert!(!bad.hosted(400).contains(PASSWORD), "{bad:?}");
        browser.submit(&form, "/console/users/new", &[("form_token", "wrong")]).await.hosted(403);
    }

    with(|b| verified(b).console())
    async fn session_that_ended_meanwhile_leads_to_the_sign_in(app) {
        let browser = signed_in(&app, Role::Viewer).await;
        app.clock.advance(minutes(31));

        let answer = browser.get(&format!("{USERS}?state=banned")).await;

        assert_eq!(answer.status, 303, "{answer:?}");
        assert!(answer.header("location").unwrap().starts_with("/console/sign-in"), "{answer:?}");
    }
}
