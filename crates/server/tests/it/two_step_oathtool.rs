//! The service and an authenticator app of others: oathtool, a program of the OATH Toolkit, computes the codes.

use std::process::Command;

use latchkey_service::clock::Clock;
use latchkey_testkit::answer::parameter;
use latchkey_testkit::{PASSWORD, Session, TestApp, both_stores, challenge_id, json, seconds};
use url::Url;

use crate::two_step_calls::account;

/// Computes the code of an enrolment URI at the time of the test's clock, with the parameters that the URI states.
fn code_of_oathtool(app: &TestApp, uri: &Url) -> String {
    let stated = |name: &str| parameter(uri, name).unwrap_or_else(|| panic!("the URI states no {name}"));
    let output = Command::new("oathtool")
        .arg(format!("--totp={}", stated("algorithm").to_lowercase()))
        .arg(format!("--digits={}", stated("digits")))
        .arg(format!("--time-step-size={}s", stated("period")))
        .arg(format!("--now=@{}", app.clock.now().as_seconds()))
        .args(["--base32", &stated("secret")])
        .output();
    let output = output.unwrap_or_else(|error| {
        panic!(
            "This test needs oathtool ({error}): run `cargo xtask prepare oathtool`, or install it by hand."
        )
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn codes_of_oathtool_enrol_and_sign_in(app) {
        let ada = app.user("ada").await;
        let begun = ada.post("/api/auth/factors/totp", json!({})).send().await.expect(200);
        let uri = Url::parse(begun["uri"].as_str().unwrap()).unwrap();
        let factor = begun["factorId"].as_str().unwrap();

        ada.confirm_totp(factor, &code_of_oathtool(&app, &uri)).send().await.expect(200);
        app.clock.advance(seconds(30));
        let challenge = challenge_id(&app.anon().sign_in(&ada.email, PASSWORD).send().await);
        let answer = app.anon().answer(&challenge, "totp", &code_of_oathtool(&app, &uri)).send().await;

        let own = account(&app.with_session(&Session::of(&answer))).await;
        assert_eq!((&own["twoStep"], &own["level"]), (&json!(true), &json!(2)));
    }
}
