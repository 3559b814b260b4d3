//! Tests of valid and invalid email addresses at signUp, as the wire contract defines them.

use latchkey_testkit::{PASSWORD, both_stores, json};

both_stores! {
    async fn address_is_kept_as_typed_and_compared_without_case(app) {
        let signed_up = app.anon().sign_up("Ada.L@Example.ORG", PASSWORD).send().await.expect(200);

        let signed_in = app.anon().sign_in("ada.l@example.org", PASSWORD).send().await.expect(200);

        assert_eq!(signed_up["user"]["email"], "Ada.L@Example.ORG");
        assert_eq!(signed_in["user"]["email"], "Ada.L@Example.ORG");
    }

    async fn plus_tags_are_distinct_addresses(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        let tagged = app.anon().sign_up("ada+news@example.org", PASSWORD).send().await;

        tagged.expect(200);
    }

    async fn both_spellings_of_an_international_domain_are_one_address(app) {
        app.anon().sign_up("ada@b\u{fc}cher.example", PASSWORD).send().await.expect(200);

        let ascii = app.anon().sign_up("ada@xn--bcher-kva.example", PASSWORD).send().await;

        ascii.refused(409, "EMAIL_EXISTS");
    }

    async fn invalid_address_is_refused(app) {
        let long_local = format!("{}@example.org", "a".repeat(65));
        let long = format!("ada@{}.org", ["a".repeat(60).as_str(); 5].join("."));
        let hostile = [
            "", "ada", "@example.org", "ada@", "ada@localhost", " ada@example.org", "ada@example.org ",
            "ada@example.org\n", "ada @example.org", "\"ada l\"@example.org", "ada(l)@example.org",
            "Ada <ada@example.org>", "ada@[127.0.0.1]", ".ada@example.org", "ada.@example.org",
            "a..b@example.org", "\u{e4}da@example.org", "ada\u{ff20}example.org", "ada@example.org@example.net",
            "ada@example..org", "ada@-example.org", "ada@exa mple.org", "ada@example.org,eve@example.org",
            "ada@example.org\u{200b}", "ada@exam\u{ad}ple.org", "\u{feff}ada@example.org", &long_local, &long,
        ];

        for email in hostile {
            let answer = app.anon().sign_up(email, PASSWORD).send().await;

            let message = answer.refused(400, "VALIDATION_ERROR")["message"].to_string();
            assert!(message.contains("email"), "{email}: {message}");
        }
    }

    async fn address_is_one_text(app) {
        for email in [json!(["ada@example.org"]), json!({"email": "ada@example.org"}), json!(1), json!(null)] {
            let body = json!({"email": email, "password": PASSWORD});

            let answer = app.anon().post("/api/auth/users", body).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn longest_address_is_good(app) {
        let local = "a".repeat(64);
        let domain = format!("{0}.{0}.{1}.org", "b".repeat(61), "c".repeat(61));
        let email = format!("{local}@{domain}");
        assert_eq!(email.len(), 254);

        let signed_up = app.anon().sign_up(&email, PASSWORD).send().await;

        assert_eq!(signed_up.expect(200)["user"]["email"], email);
    }
}
