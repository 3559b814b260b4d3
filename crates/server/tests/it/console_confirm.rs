//! `/console/confirm`: how the challenge of a sign-in reaches it.

use latchkey_domain::operator::Role;
use latchkey_testkit::{PASSWORD, both_stores};

use crate::console_calls::operator;
use crate::console_entry::{console, enter};

const SIGN_IN: &str = "/console/sign-in";
const CONFIRM: &str = "/console/confirm";

both_stores! {
    with(console)
    async fn challenge_stands_in_no_address_and_is_of_its_browser(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();
        let asked = enter(&browser, SIGN_IN, &ada.email, PASSWORD).await;
        assert_eq!(asked.header("location"), Some(CONFIRM), "{asked:?}");
        let cookies = asked.set_cookies();
        let line = cookies.iter().find(|line| line.starts_with("latchkey_operator_asked_8700=")).expect("a cookie");
        assert!(line.ends_with("; HttpOnly; SameSite=Strict") && line.contains("; Max-Age="), "{line}");

        let sealed = browser.cookie("operator_asked").unwrap();
        let other = app.browser();
        other.get(SIGN_IN).await.hosted(200);
        let other = other.with_cookie("latchkey_operator_asked_8700", sealed);
        assert_eq!(other.get(CONFIRM).await.header("location"), Some(SIGN_IN));
        let page = browser.follow(&asked).await;
        let done = browser.submit(&page, CONFIRM, &[("code", &ada.authenticator.code())]).await;

        assert_eq!(done.header("location"), Some("/console"), "{done:?}");
        assert_eq!(browser.cookie("operator_asked"), None);
    }
}
