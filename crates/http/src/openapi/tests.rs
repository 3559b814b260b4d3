//! Tests of the `OpenAPI` document.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;
use crate::api::DEVELOPMENT;
use crate::cookies::Cookie;
use crate::endpoint::Access;
use crate::error::catalogue;
use crate::settings::HttpSettings;

fn json() -> Value {
    serde_json::from_str(&document()).unwrap()
}

/// Every operation of the document, as `GET /path`.
fn documented() -> BTreeSet<String> {
    let json = json();
    let paths = json["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// Every endpoint of the list, as `GET /path`.
fn listed() -> Vec<String> {
    let endpoints = GROUPS.iter().flat_map(|group| group.endpoints);
    endpoints.map(|endpoint| format!("{} {}", endpoint.method.as_str(), endpoint.path)).collect()
}

/// Collects every value under `key`, at any depth.
fn all_of<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get(key));
            object.values().for_each(|value| all_of(value, key, found));
        }
        Value::Array(items) => items.iter().for_each(|value| all_of(value, key, found)),
        _ => {}
    }
}

#[test]
fn every_endpoint_is_documented_and_listed_once() {
    let listed = listed();
    let set: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len());
    assert_eq!(documented(), set);
}

#[test]
fn endpoints_of_the_document_have_words_and_a_response_and_pages_of_development_have_none() {
    for endpoint in GROUPS.iter().flat_map(|group| group.endpoints) {
        assert!(!endpoint.id.is_empty() && !endpoint.summary.is_empty(), "{}", endpoint.path);
        let responds = endpoint.response.is_some() || endpoint.redirect.is_some() || endpoint.page.is_some();
        assert!(responds, "{}", endpoint.id);
        assert_ne!(endpoint.access, Access::Development, "{}", endpoint.id);
    }
    assert!(DEVELOPMENT.iter().all(|page| page.access == Access::Development && page.id.is_empty()));
}

#[test]
fn operation_ids_are_unique_and_include_those_of_the_spec() {
    let json = json();
    let mut ids = Vec::new();
    all_of(&json, "operationId", &mut ids);
    let ids: Vec<_> = ids.into_iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for id in [
        "signUp",
        "signInWithPassword",
        "signInWithOAuth",
        "signOut",
        "getCurrentUser",
        "refreshSession",
        "getProfile",
        "setProfile",
        "resendVerificationEmail",
        "verifyEmail",
        "sendResetPasswordEmail",
        "exchangeResetPasswordToken",
        "resetPassword",
    ] {
        assert!(ids.contains(&id), "{id}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let json = json();
    let mut references = Vec::new();
    all_of(&json, "$ref", &mut references);
    for reference in references {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        assert!(json.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn schemas_of_one_name_are_one_schema() {
    let mut seen: BTreeMap<String, Value> = BTreeMap::new();
    for endpoint in GROUPS.iter().flat_map(|group| group.endpoints) {
        for (name, schema) in operation::schemas(endpoint) {
            let schema = serde_json::to_value(schema).unwrap();
            assert_eq!(seen.entry(name.clone()).or_insert_with(|| schema.clone()), &schema, "{name}");
        }
    }
}

#[test]
fn every_code_of_the_catalogue_has_a_response_with_its_status() {
    let json = json();
    for code in catalogue() {
        let schema = &json["components"]["responses"][code.name]["content"]["application/json"]["schema"];
        assert_eq!(schema["allOf"][1]["properties"]["statusCode"]["enum"][0], code.status);
    }
}

#[test]
fn whatever_takes_a_body_can_refuse_it() {
    let json = json();
    for item in json["paths"].as_object().unwrap().values() {
        for (method, operation) in item.as_object().unwrap() {
            // A browser sends a form when it returns from a provider: errors of a form are HTML pages.
            let content = &operation["requestBody"]["content"];
            let has_json_body = content.get("application/json").is_some();
            // A file is taken whatever its content type says.
            let has_file = content.get("application/octet-stream").is_some();
            // Admin calls without a body read it too, to refuse its keys.
            let is_of_admin = operation["security"][0].get("adminKey").is_some();
            let reads_body = has_json_body || (is_of_admin && method != "get");
            for (status, is_possible) in
                [("408", reads_body), ("413", reads_body), ("415", reads_body && !has_file)]
            {
                assert_eq!(operation["responses"].get(status).is_some(), is_possible, "{operation}");
            }
            assert!(operation["responses"].get("503").is_some());
        }
    }
}

#[test]
fn cookie_has_the_name_that_is_set() {
    let settings = HttpSettings::new("https://id.example.org".parse().unwrap(), false);
    assert_eq!(Cookie::refresh(&settings).name(), access::COOKIE_NAME);
}
