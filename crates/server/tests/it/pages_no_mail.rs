//! The pages of a service that sends no mail: they offer nothing that needs one, and a form says so.

use latchkey_testkit::browser::link;
use latchkey_testkit::console::form_token;
use latchkey_testkit::{PASSWORD, TestAppBuilder, both_stores, json};

use crate::pages_account::signed_in;

const ADA: &str = "ada@example.org";
const NO_MAIL: &str = "This service sends no mail";

fn silent(builder: TestAppBuilder) -> TestAppBuilder {
    builder.pages().no_mail_transport()
}

both_stores! {
    with(silent)
    async fn pages_offer_nothing_that_needs_a_mail(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let browser = signed_in(&app).await;

        let page = app.browser().get("/auth/sign-in").await;
        assert_eq!(link(&page, "/auth/forgot"), None, "{page:?}");
        let page = browser.get("/auth/account").await;
        assert!(page.hosted(200).contains("Not verified"), "{page:?}");
        assert_eq!((link(&page, "/auth/verify"), link(&page, "/auth/account/email")), (None, None), "{page:?}");
        for path in ["/auth/forgot", "/auth/account/email"] {
            let page = browser.get(path).await;
            assert!(page.hosted(200).contains(NO_MAIL) && !page.text().contains("type=\"email\""), "{page:?}");
        }
    }

    with(|b| b.pages())
    async fn verification_of_the_own_address_begins_with_the_mail(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        assert!(link(&page, "/auth/forgot").is_some(), "{page:?}");
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let browser = signed_in(&app).await;
        let page = browser.get("/auth/account").await;

        let verify = browser.get(&link(&page, "/auth/verify").unwrap()).await;

        let text = verify.hosted(200);
        assert!(text.contains("<h1>Verify your address</h1>") && text.contains("We send a mail to"), "{text}");
        assert!(!text.contains("name=\"code\"") && app.mail().count(ADA) == 0, "{text}");
        let sent = browser.follow(&browser.submit(&verify, "act=send", &[]).await).await;
        assert!(sent.hosted(200).contains("name=\"code\""), "{sent:?}");
        let code = app.mail_to(ADA).await.code();
        let done = browser.submit(&sent, "/auth/verify", &[("code", &code)]).await;
        assert!(browser.follow(&done).await.hosted(200).contains("Your address is verified"), "{done:?}");
    }

    with(|b| b.pages().limits())
    async fn verification_that_waits_for_its_pause_takes_the_code_of_the_last_mail(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let body = json!({"email": ADA});
        app.anon().post("/api/auth/email/send-verification", body).send().await.expect(202);
        let code = app.mail_to(ADA).await.code();
        let browser = signed_in(&app).await;
        let page = browser.get(&link(&browser.get("/auth/account").await, "/auth/verify").unwrap()).await;

        let waits = browser.submit(&page, "act=send", &[]).await;

        assert!(waits.hosted(429).contains("name=\"code\""), "{waits:?}");
        let done = browser.submit(&waits, "/auth/verify", &[("code", &code)]).await;
        assert!(browser.follow(&done).await.hosted(200).contains("Your address is verified"), "{done:?}");
    }

    with(silent)
    async fn refused_form_keeps_what_was_typed(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let browser = signed_in(&app).await;
        let page = browser.get("/auth/account/data").await;
        let (_, token) = page.text().split_once("name=\"form_token\" value=\"").unwrap();
        let (_, scope) = token.split('"').next().unwrap().split_once('.').unwrap();
        let secret = browser.cookie("latchkey_browser").unwrap();
        // The form of a page that was opened before the restart which switched mails off.
        let send = async |path: &str, token: String, email: &str| {
            let body = format!("form_token={token}&email={}", email.replace('@', "%40"));
            let request = app.anon().request("POST", path).header("host", "localhost:8700");
            let request = request.raw("application/x-www-form-urlencoded", body);
            browser.send(request.header("origin", "http://localhost:8700")).await
        };

        let path = "/auth/account/email";
        let email = send(path, format!("{}.{scope}", form_token(&secret, path, scope)), "countess@example.com").await;
        let path = "/auth/forgot";
        let forgot = send(path, format!("{}.{scope}", form_token(&secret, path, scope)), "countess@example.com").await;

        for page in [email, forgot] {
            assert!(page.hosted(400).contains(NO_MAIL) && page.text().contains("role=\"alert\""), "{page:?}");
        }
    }
}
