//! Tests of registrations of passkeys: what is accepted, each false statement, names and limits. Ceremonies are tested in
//! `passkey_ceremonies`.

use latchkey_testkit::passkeys::{cbor, encoded, flags};
use latchkey_testkit::{Answer, Client, Creation, Device, PasskeyAlgorithm, TestApp, both_stores, json};

use crate::passkey_calls::{passkey_count, passkeys, session, sign_in};
use crate::two_step_calls::keys;

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Ends a new registration with one change to an honest response.
async fn register(client: &Client, device: &Device, change: impl FnOnce(&mut Creation)) -> Answer {
    let begun = client.begin_passkey().await;
    let mut creation = device.create(&begun.options);
    change(&mut creation);
    client.register_passkey(&begun.id, &creation.to_json()).send().await
}

/// Ends a new conditional registration with these flags; the passkey.
async fn register_conditionally(app: &TestApp, client: &Client, flags: u8) -> (Creation, Answer) {
    let body = json!({"mediation": "conditional"});
    let begun = client.post("/api/auth/passkeys/registration-options", body).send().await.expect(200);
    let mut creation = app.phone().create(&begun["options"]);
    creation.flags = flags | flags::AT;
    let id = begun["ceremonyId"].as_str().unwrap();
    let answer = client.register_passkey(id, &creation.to_json()).send().await;
    (creation, answer)
}

both_stores! {
    async fn each_offered_algorithm_registers_and_signs_in(app) {
        for (name, algorithm) in ["ada", "bob", "eve"].into_iter().zip(PasskeyAlgorithm::ALL) {
            let user = app.passkey_user_on(name, &app.phone().with(algorithm)).await;

            let opened = session(&app.anon(), &mut user.passkey.clone()).await;

            assert_eq!(opened.user_id, user.id);
        }
    }

    async fn response_is_the_passkey(app) {
        let ada = app.user("ada").await;
        let device = Device { aaguid: [0x1b; 16], ..app.phone() };
        let begun = ada.begin_passkey().await;
        let creation = device.create(&begun.options);

        let body = ada.register_passkey(&begun.id, &creation.to_json()).send().await.expect(200);

        let expected = json!({"passkey": {
            "id": body["passkey"]["id"],
            "credentialId": creation.passkey.id(),
            "name": "Unknown device",
            "createdAt": "2026-03-02T10:00:00.000Z",
            "lastUsedAt": null,
            "synced": true,
            "aaguid": "1b1b1b1b-1b1b-1b1b-1b1b-1b1b1b1b1b1b",
            "usable": true,
        }});
        assert_eq!(body, expected);
    }

    async fn registration_leaves_two_step_off_and_the_sessions_alone(app) {
        let ada = app.passkey_user("ada").await;

        let account = crate::two_step_calls::account(&ada).await;

        assert_eq!((&account["twoStep"], &account["passkeyCount"]), (&json!(false), &json!(1)));
        let _ = ada.sign_in_again().await;
        ada.refreshed().await.expect(200);
    }

    async fn name_is_the_given_one_or_the_product_or_the_device(app) {
        let ada = app.user("ada").await;
        let known = 0xbada_5566_a7aa_401f_bd96_4561_9a55_120d_u128.to_be_bytes();
        let phone = ada.begin_passkey().await;
        let body = json!({
            "ceremonyId": phone.id, "credential": app.phone().create(&phone.options).to_json(), "name": "My phone",
        });
        ada.post("/api/auth/passkeys", body).send().await.expect(200);
        register(&ada, &Device { aaguid: known, ..app.phone() }, |_| ()).await.expect(200);
        let browser = ada.begin_passkey().await;
        let credential = app.phone().create(&browser.options).to_json();
        let request = ada.register_passkey(&browser.id, &credential).header("user-agent", FIREFOX);
        request.send().await.expect(200);

        let list = passkeys(&ada).await;

        let names: Vec<_> = list["passkeys"].as_array().unwrap().iter().map(|passkey| &passkey["name"]).collect();
        assert_eq!(names, ["My phone", "1Password", "Firefox on Linux"]);
    }

    async fn name_has_1_to_64_characters(app) {
        let ada = app.user("ada").await;
        for (name, status) in [
            (json!("ü".repeat(64)), 200),
            (json!("n".repeat(65)), 400),
            (json!(""), 400),
            (json!("a\u{0}b"), 400),
            (json!(7), 400),
        ] {
            let begun = ada.begin_passkey().await;
            let credential = app.phone().create(&begun.options).to_json();
            let body = json!({"ceremonyId": begun.id, "credential": credential, "name": name});
            let answer = ada.post("/api/auth/passkeys", body).send().await;
            assert_eq!(answer.status, status, "{name}: {answer:?}");
            assert!(status == 200 || answer.refused(400, "VALIDATION_ERROR")["field"] == "name");
        }
    }

    async fn each_false_statement_is_refused(app) {
        let ada = app.user("ada").await;

        for (what, lie) in crate::passkey_lies::of_registrations() {
            let answer = register(&ada, &app.security_key(), lie).await;
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "credential", "{what}");
        }

        assert_eq!(passkey_count(&ada).await, 0);
    }

    async fn response_without_its_shape_is_refused(app) {
        let ada = app.user("ada").await;
        let begun = ada.begin_passkey().await;
        let good = app.phone().create(&begun.options).to_json();

        for (what, credential) in crate::passkey_lies::shapes_of(&good, &["clientDataJSON", "attestationObject"]) {
            let answer = ada.register_passkey(&begun.id, &credential).send().await;
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "credential", "{what}");
        }

        ada.register_passkey(&begun.id, &good).send().await.expect(200);
    }

    async fn conditional_creation_needs_neither_presence_nor_verification_but_the_sign_in_does(app) {
        let ada = app.user("ada").await;
        let (creation, answer) = register_conditionally(&app, &ada, flags::BE | flags::BS).await;
        answer.expect(200);
        let mut passkey = creation.passkey;

        for missing in [flags::UP, flags::UV] {
            let mut less = passkey.clone();
            less.flags &= !missing;
            sign_in(&app.anon(), &mut less).await.refused(401, "INVALID_PASSKEY");
        }

        let _ = session(&app.anon(), &mut passkey).await;
        let (_, bad) = register_conditionally(&app, &ada, flags::BS).await;
        assert_eq!(bad.refused(400, "VALIDATION_ERROR")["field"], "credential");
    }

    async fn attestation_is_neither_demanded_nor_trusted(app) {
        let ada = app.user("ada").await;
        let statement = cbor::map(&[
            (cbor::text("alg"), cbor::integer(-7)),
            (cbor::text("sig"), cbor::bytes(&[7; 70])),
            (cbor::text("x5c"), vec![0x80]),
        ]);

        for format in ["none", "packed", "tpm", "a format of next year"] {
            let attest = |creation: &mut Creation| creation.attestation = (format, statement.clone());
            register(&ada, &app.phone(), attest).await.expect(200);
        }
    }

    async fn unknown_members_are_ignored(app) {
        let ada = app.user("ada").await;
        let begun = ada.begin_passkey().await;
        let mut creation = app.phone().create(&begun.options);
        creation.client["other_keys_can_be_added_here"] = json!("do not compare");
        creation.client["tokenBinding"] = json!({"status": "supported"});
        let mut credential = creation.to_json();
        credential["response"]["next"] = json!([1]);
        credential["authenticatorAttachment"] = json!("cross-platform");
        credential["clientExtensionResults"] = json!({"prf": {"enabled": true}});

        ada.register_passkey(&begun.id, &credential).send().await.expect(200);
    }

    async fn odd_transports_are_no_fault(app) {
        let ada = app.user("ada").await;
        for transports in [json!(null), json!([]), json!(["USB", "", "a b", "x".repeat(4000), "usb", "usb"])] {
            let begun = ada.begin_passkey().await;
            let mut credential = app.phone().create(&begun.options).to_json();
            credential["response"]["transports"] = transports;
            ada.register_passkey(&begun.id, &credential).send().await.expect(200);
        }
        let mut credential = app.phone().create(&ada.begin_passkey().await.options).to_json();
        credential["response"].as_object_mut().unwrap().remove("transports");

        let excluded = ada.begin_passkey().await.options["excludeCredentials"].clone();

        for entry in excluded.as_array().unwrap() {
            let list = entry.get("transports").and_then(|names| names.as_array()).cloned().unwrap_or_default();
            assert!(list.is_empty() || list == [json!("usb")], "{excluded}");
        }
    }

    async fn credential_id_has_up_to_1023_bytes(app) {
        let ada = app.user("ada").await;

        for (length, status) in [(1_023, 200), (1, 200), (1_024, 400), (5_000, 400)] {
            let device = Device { id_length: length, ..app.phone() };
            let answer = register(&ada, &device, |_| ()).await;
            assert_eq!(answer.status, status, "{length}: {answer:?}");
        }
    }

    async fn credential_id_is_known_nowhere_else(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.user("bob").await);
        for client in [&*ada as &Client, &bob] {
            let again = |creation: &mut Creation| {
                creation.attested_id.clone_from(&ada.passkey.credential_id);
                creation.passkey.credential_id.clone_from(&ada.passkey.credential_id);
            };
            register(client, &app.phone(), again).await.refused(409, "PASSKEY_EXISTS");
        }
        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;
        assert_eq!(opened.user_id, ada.id);

        crate::passkey_calls::remove(&ada, &ada.passkey_id).send().await.expect(200);

        let begun = bob.begin_passkey().await;
        let mut creation = app.phone().create(&begun.options);
        creation.attested_id.clone_from(&ada.passkey.credential_id);
        creation.passkey.credential_id.clone_from(&ada.passkey.credential_id);
        bob.register_passkey(&begun.id, &creation.to_json()).send().await.expect(200);
        assert_eq!(session(&app.anon(), &mut creation.passkey).await.user_id, bob.id);
    }

    async fn twenty_first_passkey_is_one_too_many(app) {
        let ada = app.user("ada").await;
        for _ in 0..19 {
            ada.add_passkey(&app.phone()).await;
        }
        let (one, other) = (ada.begin_passkey().await, ada.begin_passkey().await);
        let end = |begun: &latchkey_testkit::Ceremony| {
            ada.register_passkey(&begun.id, &app.phone().create(&begun.options).to_json())
        };
        end(&one).send().await.expect(200);

        end(&other).send().await.refused(409, "TOO_MANY_FACTORS");

        ada.creation_options().send().await.refused(409, "TOO_MANY_FACTORS");
        let list = passkeys(&ada).await;
        assert_eq!(list["passkeys"].as_array().unwrap().len(), 20);
        let id = list["passkeys"][0]["id"].as_str().unwrap();
        crate::passkey_calls::remove(&ada, id).send().await.expect(200);
        ada.add_passkey(&app.phone()).await;
    }

    async fn unverified_account_registers_and_no_mail_tells_of_it(app) {
        let ada = app.passkey_user("ada").await;

        app.run_jobs().await;

        assert_eq!(app.mail().count(&ada.email), 0);
        let mine = passkeys(&ada).await;
        assert_eq!(keys(&mine), ["acceptedCredentialIds", "passkeys", "rpId", "userHandle"]);
        assert_eq!(mine["userHandle"], encoded(&ada.passkey.user_handle));
    }
}
