//! Tests of two services on one SQLite file: changes of one take effect on the other.

use latchkey_testkit::{PASSWORD, Session, json};

use crate::binary::{Binary, Running, eventually};

/// Two services in one folder, with the same public URL.
async fn two() -> (Running, Running) {
    let binary = Binary::new().set("server.public_url=http://localhost:8700");
    (binary.serve().await, binary.serve().await)
}

#[tokio::test]
async fn services_that_start_together_share_secret_admin_key_and_signing_key() {
    let binary = Binary::new().set("server.public_url=http://localhost:8700");

    let (one, other) = tokio::join!(binary.serve(), binary.serve());

    let key = binary.read("latchkey-data/admin-key");
    let session = Session::of(&one.anon().sign_up("ada@example.org", PASSWORD).send().await);
    for running in [&one, &other] {
        running.anon().with_bearer(&key).get("/api/auth/users").send().await.expect(200);
        let ada = running.anon().with_bearer(&session.access_token);
        ada.get("/api/profiles/me").send().await.expect(200);
        other.anon().refresh(&session).send().await.expect(200);
    }
}

#[tokio::test]
async fn services_on_one_host_keep_their_cookies_apart() {
    let (shop, club) = (Binary::new().serve().await, Binary::new().serve().await);
    let at_shop = Session::of(&shop.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let at_club = Session::of(&club.anon().sign_up("ada@example.org", PASSWORD).send().await);

    // Cookies do not depend on the port, so a browser sends both to either service.
    let jar = [&at_shop, &at_club].map(|session| session.cookie.clone().unwrap()).join("; ");

    for (running, session) in [(&shop, &at_shop), (&club, &at_club)] {
        let token = running.anon().get("/api/auth/csrf").cookie(&jar).send().await.expect(200);
        assert_eq!(token["csrfToken"], session.csrf_token.clone().unwrap());
        running.anon().refresh(session).cookie(&jar).send().await.expect(200);
    }
}

#[tokio::test]
async fn sign_out_at_one_acts_on_the_very_next_request_at_the_other() {
    let (one, other) = two().await;
    let session = Session::of(&one.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let at_the_other = other.anon().with_bearer(&session.access_token);
    at_the_other.get("/api/profiles/me").send().await.expect(200);

    one.anon().sign_out(&session).send().await.expect(200);

    at_the_other.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
}

#[tokio::test]
async fn profile_written_at_one_is_found_at_the_other() {
    let (one, other) = two().await;
    let session = Session::of(&one.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let ada = one.anon().with_bearer(&session.access_token);
    ada.patch("/api/profiles/me", json!({"bio": "Countess"})).send().await.expect(200);

    let found = eventually("the profile is found", async || {
        let found = other.anon().search("countess").send().await.expect(200);
        found.as_array().filter(|found| !found.is_empty()).cloned()
    })
    .await;

    assert_eq!(found[0]["auth_id"], session.user_id.as_str());
}

#[tokio::test]
async fn setting_changed_at_one_holds_at_the_other() {
    let binary = Binary::new();
    let (one, other) = (binary.serve().await, binary.serve().await);
    let admin = one.anon().with_bearer(&binary.read("latchkey-data/admin-key"));

    admin.put("/api/auth/config", json!({"disableSignup": true})).send().await.expect(200);

    eventually("sign-up is closed at the other", async || {
        let config = other.anon().get("/api/auth/public-config").send().await.expect(200);
        (config["disableSignup"] == true).then_some(())
    })
    .await;
    other.anon().sign_up("ada@example.org", PASSWORD).send().await.refused(403, "SIGNUP_DISABLED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn same_sign_up_at_both_has_one_winner() {
    let (one, other) = two().await;
    let sign_up = |running: &Running| running.anon().sign_up("ada@example.org", PASSWORD);

    let racing = (0..20).map(|at| tokio::spawn(sign_up(if at % 2 == 0 { &one } else { &other }).send()));
    let mut statuses = Vec::new();
    for racer in racing.collect::<Vec<_>>() {
        statuses.push(racer.await.unwrap().status);
    }

    statuses.sort_unstable();
    assert_eq!((statuses[0], &statuses[1..]), (200, &[409; 19][..]));
}
