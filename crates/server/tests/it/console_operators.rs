//! `/console/operators`: what the list says about operators who cannot enter, and the question before an owner is lowered.

use latchkey_domain::email::Email;
use latchkey_domain::operator::{Party, Role};
use latchkey_service::operators::Granting;
use latchkey_testkit::{PASSWORD, TestApp, TestAppBuilder, both_stores, json, minutes};

use crate::console_calls::{operator, verified};
use crate::console_user_calls::desk;

const OPERATORS: &str = "/console/operators";

fn console(builder: TestAppBuilder) -> TestAppBuilder {
    verified(builder).console()
}

async fn grant_to(app: &TestApp, email: &str, role: Role) {
    let email = Email::parse(email).unwrap();
    let granting = app.service().operators.grant_to(&email, role, Party::System, None).await.unwrap();
    assert!(matches!(granting, Granting::Asleep(_)));
}

/// Part of a page about an address, up to the end of its row.
fn row<'a>(page: &'a str, email: &str) -> &'a str {
    let at = page.find(&format!("<bdi>{email}</bdi>")).unwrap_or_else(|| panic!("no {email}: {page}"));
    page[at..].split("</tr>").next().unwrap()
}

both_stores! {
    with(console)
    async fn form_of_a_new_grant_lowers_an_owner_only_after_the_question(app) {
        let desk = desk(&app, "owner", Role::Owner).await;
        let other = operator(&app, "other", Role::Owner).await;
        let page = desk.browser.get(OPERATORS).await;

        let asked = desk.browser.submit(&page, "act=grant", &[("email", "Other@example.org"), ("role", "viewer")]).await;

        let question = format!("/console/operators/revoke?user={}&role=viewer", other.id);
        assert_eq!(asked.header("location"), Some(question.as_str()), "{asked:?}");
        let page = desk.browser.follow(&asked).await;
        assert!(page.hosted(200).contains("other@example.org"), "{page:?}");
        let roles: Vec<_> = app.service().operators.list().await.unwrap().iter().map(|one| one.grant.role).collect();
        assert_eq!(roles, [Role::Owner, Role::Owner]);
        let done = desk.browser.submit(&page, "revoke?user", &[("confirmation", "other@example.org")]).await;
        assert!(desk.browser.follow(&done).await.hosted(200).contains("Viewer"), "{done:?}");
    }

    with(console)
    async fn operator_who_cannot_enter_is_not_called_active(app) {
        let desk = desk(&app, "owner", Role::Owner).await;
        let banned = operator(&app, "banned", Role::Support).await;
        let moved = operator(&app, "moved", Role::Support).await;
        let change = async |id: &str, body| {
            let path = format!("/api/auth/users/{id}");
            app.admin().patch(&path, body).send().await
        };
        change(&banned.id, json!({"banned": true})).await.refused(403, "OPERATOR_PROTECTED");
        for (id, field, value) in [(&banned.id, "act=ban", ""), (&moved.id, "act=change-address", "new@example.net")] {
            let path = format!("/console/users/{id}");
            let page = desk.browser.get(&path).await;
            let done = desk.browser.submit(&page, field, &[("email", value)]).await;
            assert_eq!(done.status, 303, "{done:?}");
        }

        let page = desk.browser.get(OPERATORS).await;

        let text = page.hosted(200);
        assert!(row(text, "owner@example.org").contains(">Active<"), "{text}");
        assert!(row(text, "banned@example.org").contains(">Banned<"), "{text}");
        assert!(row(text, "new@example.net").contains(">Not verified<"), "{text}");
    }

    with(console)
    async fn list_tells_whether_a_waiting_address_has_an_account_by_now(app) {
        let desk = desk(&app, "owner", Role::Owner).await;
        for name in ["nobody", "verified", "entered"] {
            grant_to(&app, &format!("{name}@example.org"), Role::Support).await;
        }
        for (name, is_verified) in [("verified", true), ("entered", false)] {
            let body = json!({"email": format!("{name}@example.org"), "password": PASSWORD, "autoConfirm": is_verified});
            app.admin().post("/api/auth/users", body).send().await.expect(200);
        }

        let page = desk.browser.get(OPERATORS).await;

        let text = page.hosted(200);
        assert!(row(text, "nobody@example.org").contains("Without an account yet"), "{text}");
        assert!(row(text, "verified@example.org").contains("Has an account, which signs in by the link"), "{text}");
        assert!(row(text, "entered@example.org").contains("whose address is not verified"), "{text}");
    }

    with(console)
    async fn account_for_which_a_grant_waits_is_protected_from_admin_keys(app) {
        grant_to(&app, "ada@example.org", Role::Owner).await;
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "autoConfirm": true});
        let made = app.admin().post("/api/auth/users", body).send().await.expect(200);
        let path = format!("/api/auth/users/{}", made["user"]["id"].as_str().unwrap());

        app.admin().patch(&path, json!({"banned": true})).send().await.refused(403, "OPERATOR_PROTECTED");

        let email = Email::parse("ada@example.org").unwrap();
        app.service().operators.revoke_address(&email, Party::System, None).await.unwrap();
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);
    }

    with(console)
    async fn support_sees_that_an_account_is_protected_for_which_a_grant_waits(app) {
        let support = desk(&app, "support", Role::Support).await;
        grant_to(&app, "new@example.org", Role::Viewer).await;
        let new = app.user("new").await;

        let page = support.page(&new).await;
        let chosen = support.browser.get(&format!("/console/users/chosen?act=ban&{}=on", new.id)).await;
        let sessions = support.browser.get(&format!("/console/sessions?user={}", new.email)).await;

        assert!(page.hosted(200).contains("This is the account of an operator: Viewer."), "{page:?}");
        for act in ["act=ban", "act=end-sessions", "act=lift-limits", "act=remove-profile-text"] {
            assert!(!page.text().contains(act), "{act}: {page:?}");
        }
        assert!(page.text().contains("act=send-reset"), "{page:?}");
        assert!(chosen.hosted(200).contains("1 account is left out"), "{chosen:?}");
        assert!(!sessions.hosted(200).contains("name=\"id\""), "{sessions:?}");
    }

    with(console)
    async fn change_of_an_account_for_which_a_grant_waits_needs_a_recent_factor(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        grant_to(&app, "new@example.org", Role::Viewer).await;
        let new = app.user("new").await;
        app.clock.advance(minutes(11));

        let asked = owner.act(&new, "ban", &[]).await;

        assert!(asked.hosted(403).contains("This act needs a fresh proof."), "{asked:?}");
        let path = format!("/api/auth/users/{}", new.id);
        assert_eq!(app.admin().get(&path).send().await.expect(200)["banned"], json!(false));
    }
}
