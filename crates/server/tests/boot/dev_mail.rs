//! Tests of the development inbox, which is available on this machine only.

use latchkey_testkit::{Client, json};

use crate::binary::{Binary, Running, eventually};

/// Service that has sent one mail, and the path of that mail's page.
async fn one_mail() -> (Running, String) {
    let running = Binary::new().set("auth.require_email_verification=true").serve().await;
    let body = json!({"email": "ada@example.org", "password": latchkey_testkit::PASSWORD});
    running.anon().post("/api/auth/users", body).send().await.expect(200);
    let path = eventually("the mail is in the inbox", async || {
        let inbox = running.anon().get("/dev/mail").header("accept", "application/json").send().await;
        Some(format!("/dev/mail/{}", inbox.expect(200)["mails"][0]["id"].as_str()?))
    })
    .await;
    (running, path)
}

async fn status(anon: &Client, path: &str, name: &str, value: &str) -> u16 {
    let answer = anon.get(path).header(name, value).send().await;
    if answer.status != 200 {
        answer.refused(404, "NOT_FOUND");
    }
    answer.status
}

#[tokio::test]
async fn inbox_shows_the_mail_and_its_code() {
    let (running, path) = one_mail().await;

    let list = running.anon().get("/dev/mail").send().await;
    let mail = running.anon().get(&path).send().await;

    assert!(list.page(200).contains("ada@example.org"));
    let refuses_json =
        running.anon().get("/dev/mail").header("accept", "application/json; q=0, text/html").send().await;
    assert!(refuses_json.page(200).contains("ada@example.org"));
    let is_code = |word: &str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    assert!(mail.page(200).split_whitespace().any(is_code), "{mail:?}");
}

#[tokio::test]
async fn html_part_runs_nothing() {
    let (running, path) = one_mail().await;

    let html = running.anon().get(&format!("{path}/html")).send().await;

    html.page(200);
    let policy = html.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{policy}");
}

#[tokio::test]
async fn inbox_answers_under_the_names_of_this_machine_alone() {
    let (running, mail) = one_mail().await;

    for path in ["/dev/mail", &mail, &format!("{mail}/html")] {
        for host in ["localhost", "localhost:8700", "127.0.0.1:8700", "[::1]", "[::1]:8700"] {
            assert_eq!(status(&running.anon(), path, "host", host).await, 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "[::]",
            "[::1",
            "[localhost]",
            "localhost:x",
            "",
        ] {
            assert_eq!(status(&running.anon(), path, "host", host).await, 404, "{host}");
        }
    }
}

#[tokio::test]
async fn inbox_answers_nothing_that_came_through_a_proxy() {
    let (running, mail) = one_mail().await;

    for path in ["/dev/mail", &mail, &format!("{mail}/html")] {
        for name in [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-port",
            "x-real-ip",
            "via",
            "cf-connecting-ip",
        ] {
            assert_eq!(status(&running.anon(), path, name, "127.0.0.1").await, 404, "{name}");
        }
    }
}

#[tokio::test]
async fn inbox_answers_no_page_of_another_site() {
    let (running, mail) = one_mail().await;

    for path in ["/dev/mail", &mail, &format!("{mail}/html")] {
        for site in ["cross-site", "same-site", "", "NONE"] {
            assert_eq!(status(&running.anon(), path, "sec-fetch-site", site).await, 404, "{site}");
        }
        for site in ["none", "same-origin"] {
            assert_eq!(status(&running.anon(), path, "sec-fetch-site", site).await, 200, "{site}");
        }
    }
}

#[tokio::test]
async fn inbox_serves_no_other_file() {
    let (running, _) = one_mail().await;

    for id in ["..%2Fadmin-key", "..%2f..%2fetc%2fpasswd", "%2e%2e", "nothing", "%00", "*", ".eml"] {
        let answer = running.anon().get(&format!("/dev/mail/{id}")).send().await;

        assert_eq!(answer.status, 404, "{id}: {answer:?}");
    }
}

#[tokio::test]
async fn production_has_no_inbox_and_no_home_page() {
    let running = Binary::new()
        .set("server.mode=production")
        .set("server.public_url=https://accounts.example.com")
        .set("server.secret=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
        .set("admin.api_key=60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752")
        .set("mail.transport=file")
        .set("storage.create=true")
        .set("passwords.memory_kib=19456")
        .set("passwords.iterations=2")
        .serve()
        .await;

    for path in ["/", "/dev/mail"] {
        let answer = running.anon().get(path).header("host", "localhost").send().await;
        answer.refused(404, "NOT_FOUND");
    }
    assert!(
        !running.banner.contains("/dev/mail") && !running.banner.contains("Admin key"),
        "{}",
        running.banner
    );
}
