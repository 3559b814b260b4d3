use serde_json::json;

use super::*;

fn refusal_of(body: Value) -> ProviderError {
    TokenResponse::read(body).err().unwrap()
}

#[test]
fn tokens_are_taken_out_of_the_answer() {
    let response = json!({"access_token": "at", "id_token": "it", "token_type": "bearer", "scope": "x"});
    let response = TokenResponse::read(response).unwrap();
    assert_eq!(response.access_token().unwrap().expose(), "at");
    assert_eq!(response.id_token.as_ref().unwrap().expose(), "it");
    assert_eq!(response.body["scope"], "x");
    assert!(!response.body.to_string().contains("at\""));
}

#[test]
fn a_wrapped_answer_is_read() {
    let response = TokenResponse::read(json!({"data": [{"access_token": "at", "user_id": "7"}]})).unwrap();
    assert_eq!(response.access_token().unwrap().expose(), "at");
}

#[test]
fn a_refusal_with_status_200_is_a_refusal() {
    let refused =
        refusal_of(json!({"error": "bad_verification_code", "error_description": "The code is\r\nwrong"}));
    let expected = ProviderError::Refused {
        stage: Stage::Token,
        error: "bad_verification_code".to_owned(),
        description: Some("The code is??wrong".to_owned()),
    };
    assert_eq!(refused, expected);
}

#[test]
fn an_answer_without_a_usable_token_is_a_bad_one() {
    for body in [json!({}), json!({"access_token": ""}), json!({"access_token": 7})] {
        assert!(TokenResponse::read(body).unwrap().access_token().is_err());
    }
    for body in [json!([]), json!("at"), json!(null), json!({"access_token": "at", "token_type": "DPoP"})] {
        assert!(matches!(refusal_of(body), ProviderError::BadAnswer { .. }));
    }
}
