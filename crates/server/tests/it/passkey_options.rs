//! Tests of creation options and request options of passkeys: their exact form, and who gets them.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_testkit::{Ceremony, Client, Session, TestApp, Value, both_stores, json, minutes, seconds};

use crate::described::assert_successes_are_described;
use crate::limits::limited;
use crate::passkey_calls::remove;
use crate::two_step_calls::keys;

const CREATION: &str = "/api/auth/passkeys/registration-options";
const REQUEST: &str = "/api/auth/passkeys/authentication-options";

fn bytes(value: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(value.as_str().unwrap()).unwrap()
}

fn handle(begun: &Ceremony) -> String {
    begun.options["user"]["id"].as_str().unwrap().to_owned()
}

both_stores! {
    async fn creation_options_have_this_form(app) {
        let ada = app.user("ada").await;

        let body = ada.creation_options().send().await.expect(200);

        let options = &body["options"];
        let expected = json!({
            "ceremonyId": body["ceremonyId"],
            "expiresAt": "2026-03-02T10:10:00.000Z",
            "options": {
                "rp": {"id": "localhost", "name": "Latchkey"},
                "user": {"id": options["user"]["id"], "name": "ada@example.org", "displayName": "Ada"},
                "challenge": options["challenge"],
                "pubKeyCredParams": [
                    {"type": "public-key", "alg": -8},
                    {"type": "public-key", "alg": -7},
                    {"type": "public-key", "alg": -257},
                ],
                "timeout": 300_000,
                "authenticatorSelection": {
                    "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
                },
                "excludeCredentials": [],
                "attestation": "none",
                "extensions": {"credProps": true},
            },
        });
        assert_eq!(body, expected);
        assert_eq!((bytes(&options["challenge"]).len(), bytes(&options["user"]["id"]).len()), (32, 16));
    }

    async fn each_challenge_is_another(app) {
        let ada = app.user("ada").await;
        let mut challenges = BTreeSet::new();

        for _ in 0..3 {
            for begun in [ada.begin_passkey().await, app.anon().begin_passkey_sign_in().await] {
                challenges.insert(begun.options["challenge"].to_string());
            }
        }

        assert_eq!(challenges.len(), 6);
    }

    async fn user_handle_belongs_to_the_account_for_good(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let first = handle(&ada.begin_passkey().await);
        let (_, id) = ada.add_passkey(&app.phone()).await;
        remove(&ada, &id).send().await.expect(200);
        let other_session = app.with_session(&ada.sign_in_again().await);

        for client in [&*ada, &other_session] {
            assert_eq!(handle(&client.begin_passkey().await), first);
        }

        assert_ne!(handle(&bob.begin_passkey().await), first);
        let bytes = URL_SAFE_NO_PAD.decode(&first).unwrap();
        assert_ne!(hex::encode(bytes), ada.id.replace('-', ""));
    }

    async fn passkeys_of_the_account_are_excluded(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let (one, _) = ada.add_passkey(&app.phone()).await;
        let (other, _) = ada.add_passkey(&app.security_key()).await;
        bob.add_passkey(&app.phone()).await;

        let begun = ada.begin_passkey().await;

        let excluded = json!([
            {"type": "public-key", "id": one.id(), "transports": ["hybrid", "internal"]},
            {"type": "public-key", "id": other.id(), "transports": ["usb"]},
        ]);
        assert_eq!(begun.options["excludeCredentials"], excluded);
    }

    async fn conditional_creation_only_prefers_verification(app) {
        let ada = app.user("ada").await;
        let plain = ada.begin_passkey().await.options;

        let body = ada.post(CREATION, json!({"mediation": "conditional"})).send().await.expect(200);

        let mut expected = plain;
        expected["challenge"] = body["options"]["challenge"].clone();
        expected["authenticatorSelection"]["userVerification"] = json!("preferred");
        assert_eq!(body["options"], expected);
    }

    async fn other_mediation_is_refused(app) {
        let ada = app.user("ada").await;

        for mediation in [json!("optional"), json!("Conditional"), json!(""), json!(true)] {
            let answer = ada.post(CREATION, json!({"mediation": mediation})).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "mediation");
        }
    }

    with(|b| b.no_profile_on_sign_up().config(|config| config.site.service_name = "Foundry".to_owned()))
    async fn address_stands_in_for_a_missing_profile(app) {
        let ada = app.user("ada").await;

        let options = ada.begin_passkey().await.options;

        assert_eq!(options["rp"]["name"], "Foundry");
        assert_eq!(options["user"]["displayName"], "ada@example.org");
    }

    with(|b| b.mode_production())
    async fn domain_of_the_service_is_the_relying_party(app) {
        let ada = app.user("ada").await;

        assert_eq!(ada.begin_passkey().await.options["rp"]["id"], "accounts.example.org");
        assert_eq!(app.anon().begin_passkey_sign_in().await.options["rpId"], "accounts.example.org");
    }

    async fn creation_options_need_a_fresh_token_before_any_field_is_judged(app) {
        let ada = app.user("ada").await;
        let ask = |client: &Client| client.post(CREATION, json!({"mediation": 5}));
        app.clock.advance(minutes(10));
        ask(&ada).send().await.refused(400, "VALIDATION_ERROR");

        app.clock.advance(seconds(1));

        ask(&ada).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        for client in [app.anon(), app.bearing("x")] {
            ask(&client).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    async fn end_of_a_registration_needs_no_fresh_token(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(9));
        let begun = ada.begin_passkey().await;
        app.clock.advance(minutes(5));

        let creation = app.phone().create(&begun.options);

        ada.register_passkey(&begun.id, &creation.to_json()).send().await.expect(200);
    }

    async fn request_options_have_this_form(app) {
        let body = app.anon().request_options().send().await.expect(200);

        let expected = json!({
            "ceremonyId": body["ceremonyId"],
            "expiresAt": "2026-03-02T10:10:00.000Z",
            "options": {
                "challenge": body["options"]["challenge"],
                "timeout": 300_000,
                "rpId": "localhost",
                "allowCredentials": [],
                "userVerification": "required",
            },
        });
        assert_eq!(body, expected);
        assert_eq!(bytes(&body["options"]["challenge"]).len(), 32);
    }

    with(|b| b.limits())
    async fn address_changes_nothing_in_request_options(app) {
        let ada = app.passkey_user("ada").await;
        app.user("bob").await;
        let mut forms = Vec::new();

        for body in [
            json!({}),
            json!({"email": null}),
            json!({"email": ada.email}),
            json!({"email": "BOB@example.org"}),
            json!({"email": "nobody@example.org"}),
            json!({"email": format!("{}@example.org", "n".repeat(60))}),
        ] {
            let answer = app.anon().post(REQUEST, body).send().await;
            forms.push(form(&answer.expect(200), &answer.headers.keys().map(ToString::to_string).collect()));
        }

        forms.dedup();
        assert_eq!(forms.len(), 1, "{forms:#?}");
    }

    async fn address_must_be_one(app) {
        for email in [json!("ada"), json!(""), json!(7), json!("ada@"), json!({"at": "x"})] {
            let answer = app.anon().post(REQUEST, json!({"email": email})).send().await;
            assert_eq!(answer.refused(400, "VALIDATION_ERROR")["field"], "email");
        }
    }

    async fn bearer_changes_nothing_in_request_options(app) {
        let ada = app.passkey_user("ada").await;

        let body = ada.request_options().send().await.expect(200);
        app.bearing("stale").request_options().send().await.expect(200);

        assert_eq!(body["options"]["allowCredentials"], json!([]));
    }

    async fn each_call_of_an_account_needs_its_token(app) {
        let id = crate::routes::NOBODY;
        for client in [app.anon(), app.bearing("stale")] {
            for request in [
                client.creation_options(),
                client.register_passkey("x", &json!({})),
                client.get("/api/auth/passkeys"),
                client.patch(&format!("/api/auth/passkeys/{id}"), json!({"name": "Phone"})),
                remove(&client, id),
            ] {
                request.send().await.refused(401, "AUTH_UNAUTHORIZED");
            }
        }
    }

    with(|b| b.limits())
    async fn options_of_one_address_are_three_hundred_in_five_minutes(app) {
        for _ in 0..300 {
            app.anon().request_options().send().await.expect(200);
        }

        let wait = limited(&app.anon().request_options().send().await, "passkey options, per address");

        assert_eq!(wait, 1);
        app.anon().request_options().from_ip("203.0.113.9").send().await.expect(200);
        app.clock.advance(seconds(1));
        app.anon().request_options().send().await.expect(200);
        limited(&app.anon().request_options().send().await, "passkey options, per address");
    }

    async fn responses_are_described(app) {
        let ada = app.passkey_user("ada").await;
        let (begun, sign_in) = (ada.begin_passkey().await, app.anon().begin_passkey_sign_in().await);
        let creation = app.security_key().create(&begun.options).to_json();
        let assertion = ada.passkey.clone().sign(&sign_in.options).to_json();
        let path = format!("/api/auth/passkeys/{}", ada.passkey_id);
        let requests = [
            ("POST /api/auth/passkeys/registration-options", ada.creation_options()),
            ("POST /api/auth/passkeys", ada.register_passkey(&begun.id, &creation)),
            ("GET /api/auth/passkeys", ada.get("/api/auth/passkeys")),
            ("PATCH /api/auth/passkeys/{id}", ada.patch(&path, json!({"name": "Phone"}))),
            ("POST /api/auth/passkeys/authentication-options", app.anon().request_options()),
            ("POST /api/auth/passkeys/sign-in", app.anon().end_passkey_sign_in(&sign_in.id, &assertion)),
            ("GET /api/auth/sessions/current", ada.get("/api/auth/sessions/current")),
            ("GET /api/auth/public-config", app.anon().get("/api/auth/public-config")),
            ("DELETE /api/auth/passkeys/{id}", ada.delete(&path)),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}

/// Shape of request options: keys and lengths of texts, and the names of the headers.
fn form(body: &Value, headers: &BTreeSet<String>) -> String {
    let length = |value: &Value| value.as_str().unwrap().len();
    let mut options = body["options"].clone();
    options["challenge"] = json!(length(&options["challenge"]));
    format!("{:?} {options} {} {headers:?}", keys(body), length(&body["ceremonyId"]))
}

/// On PostgreSQL, where round trips can be counted. With limits on, because the limit must not be one in the database.
#[tokio::test]
async fn request_options_neither_read_nor_write_the_database() {
    let app = TestApp::builder().limits().counting_round_trips().start().await;
    let ada = app.passkey_user("ada").await;
    let _ = app.round_trips();

    for body in [json!({}), json!({"email": ada.email}), json!({"email": "nobody@example.org"})] {
        app.anon().post(REQUEST, body).send().await.expect(200);
    }

    assert_eq!(app.round_trips(), 0);
    let _ = Session::of(&app.anon().sign_in_by_passkey(&mut ada.passkey.clone()).await.send().await);
    assert!(app.round_trips() > 0);
}
