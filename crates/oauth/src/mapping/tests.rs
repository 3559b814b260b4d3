use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::providers::{Entry, built_in};

fn mapping(key: &str) -> &'static FieldMapping {
    let entry: &'static Entry = built_in(key).unwrap();
    &entry.mapping
}

fn read(key: &str, documents: &[&Value]) -> ProviderIdentity {
    mapping(key).read(key, "", documents).unwrap()
}

#[test]
fn only_the_json_value_true_verifies_an_address() {
    for (flag, is_verified) in [
        (json!(true), true),
        (json!(false), false),
        (json!("true"), false),
        (json!("1"), false),
        (json!(1), false),
        (json!([true]), false),
        (json!({}), false),
        (json!(null), false),
    ] {
        let claims = json!({"sub": "1", "email": "ada@example.org", "email_verified": flag});
        assert_eq!(read("google", &[&claims]).email_verified, is_verified, "{flag}");
    }
}

#[test]
fn apple_may_say_it_as_a_text() {
    for (flag, is_verified) in [
        (json!(true), true),
        (json!("true"), true),
        (json!("True"), false),
        (json!("false"), false),
        (json!(1), false),
    ] {
        let claims = json!({"sub": "1", "email": "ada@example.org", "email_verified": flag});
        assert_eq!(read("apple", &[&claims]).email_verified, is_verified, "{flag}");
    }
}

#[test]
fn microsofts_address_is_verified_only_where_the_owner_of_its_domain_is() {
    let claims = |more: Value| {
        let mut claims =
            json!({"sub": "s", "tid": "t", "oid": "o", "email": "ada@example.org", "email_verified": true});
        claims["xms_edov"] = more;
        claims
    };
    assert!(!read("microsoft", &[&claims(json!(null))]).email_verified);
    assert!(!read("microsoft", &[&claims(json!("1"))]).email_verified);
    assert!(read("microsoft", &[&claims(json!(true))]).email_verified);
}

#[test]
fn people_of_different_tenants_and_teams_are_different() {
    let subject = |tid: &str| read("microsoft", &[&json!({"sub": "s", "tid": tid, "oid": "o"})]).subject;
    assert_ne!(subject("a"), subject("b"));
    let claims = json!({"sub": "U1", "https://slack.com/team_id": "T1"});
    assert_eq!(read("slack", &[&claims]).subject, "T1:U1");
    assert!(mapping("slack").read("slack", "", &[&json!({"sub": "U1"})]).is_err());
}

#[test]
fn the_subject_comes_from_the_first_document_alone() {
    let (token, userinfo) = (json!({"email": "ada@example.org"}), json!({"sub": "1"}));
    assert!(mapping("google").read("google", "", &[&token, &userinfo]).is_err());
}

#[test]
fn a_flag_never_speaks_for_another_documents_address() {
    let token = json!({"sub": "1", "email": "ada@example.org"});
    let userinfo = json!({"sub": "1", "email": "eve@example.org", "email_verified": true});
    let identity = read("google", &[&token, &userinfo]);
    assert_eq!(identity.email.unwrap().as_typed(), "eve@example.org");
    let without_address = json!({"sub": "1", "email_verified": true});
    let identity = read("google", &[&token, &without_address]);
    assert_eq!(identity.email.unwrap().as_typed(), "ada@example.org");
    assert!(!identity.email_verified);
    let refused = json!({"sub": "1", "email": "ada@example.org", "email_verified": false});
    assert!(!read("google", &[&refused, &userinfo]).email_verified);
}

#[test]
fn invalid_addresses_are_dropped() {
    for email in
        [json!(["ada@example.org"]), json!("ada@example.org, eve@example.org"), json!("ada"), json!(7)]
    {
        let claims = json!({"sub": "1", "email": email, "email_verified": true});
        let identity = read("google", &[&claims]);
        assert_eq!(identity.email, None);
        assert!(!identity.email_verified);
    }
}

#[test]
fn githubs_address_is_the_primary_one() {
    let Verified::Listed(list) = &mapping("github").verified else { panic!("a list") };
    let mailbox = |primary: Value, verified: Value| {
        let other = json!({"email": "other@example.org", "primary": false, "verified": true});
        let one = json!({"email": "ada@example.org", "primary": primary, "verified": verified});
        list.read(&json!([other, one])).unwrap()
    };
    let ada = Email::parse("ada@example.org").unwrap();
    assert_eq!(mailbox(json!(true), json!(true)), Some(Mailbox { email: ada.clone(), is_verified: true }));
    assert_eq!(mailbox(json!(true), json!(false)), Some(Mailbox { email: ada.clone(), is_verified: false }));
    assert_eq!(mailbox(json!(true), json!("true")), Some(Mailbox { email: ada, is_verified: false }));
    assert_eq!(mailbox(json!(false), json!(true)), None);
    assert!(list.read(&json!({"message": "Not Found"})).is_err());
}

#[test]
fn a_subject_may_be_a_whole_number_and_nothing_stranger() {
    assert_eq!(read("github", &[&json!({"id": 583_231})]).subject, "583231");
    for id in
        [json!(1.5), json!(-1), json!(""), json!(null), json!([1]), json!("a\nb"), json!("x".repeat(256))]
    {
        assert!(mapping("github").read("github", "", &[&json!({ "id": id })]).is_err());
    }
}

#[test]
fn discords_picture_is_made_of_plain_parts_only() {
    let avatar =
        |avatar: Value| read("discord", &[&json!({"id": "80351110224678912", "avatar": avatar})]).avatar_url;
    assert_eq!(
        avatar(json!("8342729096ea3675442027381ff50dfe")).unwrap(),
        "https://cdn.discordapp.com/avatars/80351110224678912/8342729096ea3675442027381ff50dfe.png"
    );
    assert_eq!(avatar(json!(null)), None);
    assert_eq!(avatar(json!("../../evil?x=")), None);
}

#[test]
fn apples_callback_gives_a_name_and_nothing_else() {
    let user = r#"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"eve@example.org"}"#;
    assert_eq!(name_in_callback(user).unwrap(), "Ada Lovelace");
    assert_eq!(name_in_callback(r#"{"name":{"firstName":"Ada"}}"#).unwrap(), "Ada");
    for bad in ["", "Ada", "{}", r#"{"name":"Ada"}"#, r#"{"name":{"firstName":7}}"#, &"x".repeat(5000)] {
        assert_eq!(name_in_callback(bad), None, "{bad}");
    }
}

proptest! {
    #[test]
    fn no_claims_break_the_reader(sub in ".{0,300}", email in ".{0,40}", name in ".{0,500}") {
        let claims = json!({"sub": sub, "email": email, "email_verified": true, "name": name, "picture": name});
        if let Ok(identity) = mapping("google").read("google", "", &[&claims]) {
            prop_assert_eq!(identity.subject, sub);
            prop_assert!(identity.email.is_none() || identity.email_verified);
        }
    }
}
