//! Password hashes from elsewhere: the old password signs in, and is hashed anew.

use latchkey_testkit::{Answer, TestApp, Value, both_stores, json, minutes};

const OLD: &str = "tangerine-9-trees";
const WRONG: &str = "tangerine-8-trees";

/// Hashes of [`OLD`], one of each scheme, at low cost.
const SCHEMES: [(&str, &str); 11] = [
    (
        "argon2id",
        "$argon2id$v=19$m=1024,t=2,p=8$c2FsdHNhbHRzYWx0$vLBXp3hpdFQ41R6VGH0AJmqb+8woet2oVbyvpskWd8c",
    ),
    (
        "argon2i",
        "$argon2i$v=19$m=256,t=2,p=2$t3YuZSxlbG2t9V6LUcqZUw$6eoUxz/jUoSPJGuFqVrSqqWWknTb0EwQnxLlsBJ4fak",
    ),
    ("bcrypt", "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u"),
    ("bcrypt_sha256", "bcrypt_sha256$$2b$04$5w9w8qnIk7kXDKeopOXGLOHmvfJZ5m9zlfctbqjZx6AXEwQDc3xL6"),
    ("scrypt", "$scrypt$ln=10,r=8,p=1$5DxnrDVGSMmZs5byfm/tnQ$WulKIbsr1mzqX5iNjer+7NGx6I+9sckCw1GA/d9TFjs"),
    ("pbkdf2", "pbkdf2_sha256$10000$saltsaltsalt$1k0/7kjhwDgviJ8i9L8KDcfi9SB93C894EiIg1VJSFU="),
    ("pbkdf2", "$pbkdf2$1000$oxSiVMrZO0foHWPsfY9RSg$6W8VNjxY2CLptjY8ikzvfjkFoE8"),
    ("sha_crypt", "$5$DMN4/bmseN97nYS/$zZemHOY5kETVcXz/kvRfmB8jZEfH/hs9/oZaQ/UnbC8"),
    (
        "sha_crypt",
        "$6$rounds=1234$SOcjvM63pJrjlwnL$EDtSTq7fsyTxaz.knQYSp2gHADmd/sXnJWQ5cvVVmGp1kok7lQ9VjA1JPi0Wboet65ocCy/\
         wAFcBR9sgEy3Hl/",
    ),
    ("phpass", "$P$67zJhZ94w.g0xNtC5EKuJrSX5bKBal0"),
    ("digest", "md5$salt$a8c1eb570c651971954f45f45c7592ff"),
];

async fn sign_in(app: &TestApp, name: &str, password: &str) -> Answer {
    app.anon().sign_in(&format!("{name}@example.org"), password).send().await
}

/// Numbers of passwords by scheme, counted anew.
async fn schemes(app: &TestApp) -> Value {
    app.clock.advance(minutes(2));
    app.run_jobs().await;
    app.admin().get("/api/auth/stats").send().await.expect(200)["passwords"].clone()
}

both_stores! {
    async fn old_password_of_each_scheme_signs_in_and_is_hashed_anew(app) {
        for (number, (_, hash)) in SCHEMES.into_iter().enumerate() {
            app.imported_user(&format!("user{number}"), hash).await;
        }

        for (number, (scheme, _)) in SCHEMES.into_iter().enumerate() {
            let name = format!("user{number}");
            sign_in(&app, &name, WRONG).await.refused(401, "INVALID_CREDENTIALS");
            let first = sign_in(&app, &name, OLD).await;
            assert_eq!(first.status, 200, "{scheme}");
            sign_in(&app, &name, WRONG).await.refused(401, "INVALID_CREDENTIALS");
            sign_in(&app, &name, OLD).await.expect(200);
        }

        assert_eq!(schemes(&app).await, json!({ "argon2id": SCHEMES.len() }));
    }

    async fn first_sign_ins_at_the_same_time_all_open(app) {
        for (number, (scheme, hash)) in SCHEMES.into_iter().enumerate() {
            let name = format!("user{number}");
            app.imported_user(&name, hash).await;

            let (one, other) = tokio::join!(sign_in(&app, &name, OLD), sign_in(&app, &name, OLD));

            assert_eq!((one.status, other.status), (200, 200), "{scheme}");
        }
    }

    async fn firebase_password_signs_in_by_the_sealed_signer_key(app) {
        let hash = "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKb\
                    m0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+V\
                    HjoZilo78198JAdRuid5lQ==";
        app.imported_user("ada", hash).await;
        let key = "jxspr8Ki0RYycVU8";
        assert!(!String::from_utf8_lossy(&app.kept()).contains(key), "the signer key is stored in plain text");

        sign_in(&app, "ada", WRONG).await.refused(401, "INVALID_CREDENTIALS");
        sign_in(&app, "ada", "user1password").await.expect(200);
        sign_in(&app, "ada", "user1password").await.expect(200);
    }

    async fn bare_digest_is_wrapped_by_upkeep_and_signs_in_after_it(app) {
        app.imported_user("ada", SCHEMES[10].1).await;
        assert_eq!(schemes(&app).await, json!({ "digest": 1 }));
        assert_eq!(schemes(&app).await, json!({ "wrapped": 1 }));

        sign_in(&app, "ada", WRONG).await.refused(401, "INVALID_CREDENTIALS");
        sign_in(&app, "ada", OLD).await.expect(200);
        sign_in(&app, "ada", OLD).await.expect(200);

        assert_eq!(schemes(&app).await, json!({ "argon2id": 1 }));
    }

    async fn hash_that_is_unreadable_or_out_of_bounds_is_a_wrong_password(app) {
        let boundless = [
            "",
            "nonsense",
            "$2b$15$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u",
            "$2x$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u",
            "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
            "$fbscrypt$ln=4,r=8,p=1,k=00000000-0000-0000-0000-000000000007$42xEC+ixf3L2lwc$lSrfV15cpx95/sZS2W9c9Q",
        ];
        for (number, hash) in boundless.into_iter().enumerate() {
            app.imported_user(&format!("user{number}"), hash).await;
        }

        for number in 0..boundless.len() {
            sign_in(&app, &format!("user{number}"), OLD).await.refused(401, "INVALID_CREDENTIALS");
        }
    }

    with(|b| b.verification_by_code())
    async fn sign_up_for_an_imported_address_is_answered_as_for_a_free_one(app) {
        app.imported_user("ada", SCHEMES[2].1).await;

        for name in ["ada", "nobody"] {
            app.anon().sign_up(&format!("{name}@example.org"), "another lantern 42").send().await.expect(200);
            sign_in(&app, name, "another lantern 42").await.refused(403, "EMAIL_NOT_VERIFIED");
            sign_in(&app, name, WRONG).await.refused(401, "INVALID_CREDENTIALS");
        }
        sign_in(&app, "ada", OLD).await.expect(200);
        sign_in(&app, "ada", "another lantern 42").await.refused(403, "EMAIL_NOT_VERIFIED");
        sign_in(&app, "ada", OLD).await.expect(200);
    }
}
