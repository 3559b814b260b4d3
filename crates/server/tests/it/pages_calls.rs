//! Helpers for facts about the hosted pages, shared by several test files.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, TestApp, json};
use url::Url;

pub(crate) const APP: &str = "http://localhost:3000/done";
/// The verifier of RFC 7636 appendix B, and its challenge.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Address of a page, as an app opens it.
pub(crate) fn from_app(page: &str) -> String {
    format!("{page}?redirect_uri={APP}&code_challenge={CHALLENGE}&state=app~state!")
}

/// Target of the page `/auth/continue`.
pub(crate) fn target_of(page: &Answer) -> Url {
    let href = link(page, APP).unwrap_or_else(|| panic!("no way back: {page:?}"));
    Url::parse(&href).unwrap()
}

/// Exchanges the code of a target; returns the response.
pub(crate) async fn exchange(app: &TestApp, target: &Url) -> Answer {
    let code = parameter(target, "service_code").unwrap_or_else(|| panic!("no code: {target}"));
    let body = json!({"code": code, "code_verifier": VERIFIER});
    app.anon().post("/api/auth/oauth/exchange", body).client_type("server").send().await
}

/// Address to which a page leads when a language is chosen at its foot.
pub(crate) fn in_language(page: &Answer, tag: &str) -> String {
    let choice = page
        .text()
        .split("<form method=\"get\" action=\"")
        .nth(1)
        .unwrap_or_else(|| panic!("no choice: {page:?}"));
    let (path, rest) = choice.split_once('"').unwrap();
    assert!(rest.contains(&format!("name=\"locale\" value=\"{tag}\"")), "{page:?}");
    let unescaped = |text: &str| {
        text.replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    };
    let attribute = |input: &str, name: &str| {
        unescaped(input.split_once(&format!("{name}=\"")).unwrap().1.split('"').next().unwrap())
    };
    let form = rest.split("</form>").next().unwrap();
    let inputs = form.split("<input type=\"hidden\" ").skip(1);
    let pairs = inputs.map(|input| (attribute(input, "name"), attribute(input, "value")));
    let mut target = Url::parse("http://localhost").unwrap().join(path).unwrap();
    target.query_pairs_mut().extend_pairs(pairs).append_pair("locale", tag);
    format!("{path}?{}", target.query().unwrap())
}

/// Body of a page without what differs for every request: flows, tokens, ceremonies, and the address.
pub(crate) fn plain(page: &Answer, email: &str) -> String {
    let text = page.text().replace(email, "EMAIL");
    let is_token = |part: &str| part.len() >= 43 && !part.contains(|c: char| c.is_whitespace() || c == '<');
    let parts = text.split('"').map(|part| if part.contains("flow=") || is_token(part) { "…" } else { part });
    parts.collect::<Vec<_>>().join("\"")
}

/// Signs in with the password on `/auth/sign-in`; returns the page after it.
pub(crate) async fn enter(browser: &Browser, path: &str, email: &str, password: &str) -> Answer {
    let page = browser.get(path).await;
    let done = browser.submit(&page, "/auth/sign-in", &[("email", email), ("password", password)]).await;
    browser.follow(&done).await
}

/// Asserts that an address leads to the own account of this person.
pub(crate) async fn assert_in_account(browser: &Browser, done: &Answer, email: &str) {
    assert_eq!(done.header("location"), Some("/auth/account"), "{done:?}");
    assert!(browser.follow(done).await.hosted(200).contains(email));
}

/// Signs in by a mailed code; an unknown address gets an account without a password.
pub(crate) async fn enter_by_mail(app: &TestApp, browser: &Browser, email: &str) {
    let page = browser.get("/auth/mail-code").await;
    let page = browser.follow(&browser.submit(&page, "/auth/mail-code", &[("email", email)]).await).await;
    let code = app.mail_to(email).await.code();
    let done = browser.submit(&page, "act=code", &[("code", &code)]).await;
    assert_in_account(browser, &done, email).await;
}
