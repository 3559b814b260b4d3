//! Shapes of files: where a document has its tables, and files without a place for accounts.

use latchkey_domain::imports::ProblemCode;
use latchkey_import::ImportOptions;
use serde_json::{Value, json};

use super::{codes, identities, read, read_with};

const UUID: &str = "6d4f3a5e-0000-4000-8000-0000000000aa";

#[test]
fn tables_of_a_document_may_come_after_others() {
    let user = json!({"id": "u1", "email": "ada@example.org"});
    let many = vec![json!({"id": "s", "token": "]}{[\\"}); 10_000];
    let items = r#"{"page":1,"perPage":30,"totalItems":1,"items":[{"id":"u1","email":"ada@example.org"}]}"#;
    for (format, text) in [
        ("better-auth", json!({"session": many, "user": [user], "account": []}).to_string()),
        ("supabase", json!({"sessions": [], "users": [user], "identities": []}).to_string()),
        ("pocketbase", items.to_owned()),
    ] {
        let indented = serde_json::to_string_pretty(&text.parse::<Value>().unwrap()).unwrap();
        for text in [text, indented] {
            let entries = read(format, &text);
            assert_eq!(entries.len(), 1, "{format}");
            assert_eq!(entries[0].read.as_ref().unwrap().email.as_typed(), "ada@example.org", "{format}");
        }
    }
}

#[test]
fn line_with_a_list_is_no_document() {
    let line = json!({"id": UUID, "email": "ada@example.org", "users": [], "identities":
        [{"provider": "google", "provider_id": "1"}]});
    let entries = read("supabase", format!("{line}\n{line}\n"));
    assert_eq!(entries.len(), 2);
    assert_eq!(identities(entries[1].read.as_ref().unwrap()), ["google/1"]);
}

#[test]
fn file_without_a_place_for_accounts_is_told() {
    let user = r#"{"localId":"u1","email":"ada@example.org"}"#;
    for (format, text) in [
        ("firebase", user.to_owned()),
        ("firebase", format!(r#"{{"Users":[{user}]}}"#)),
        ("keycloak", r#"{"username":"ada","email":"ada@example.org"}"#.to_owned()),
        ("supabase", "--\nCOPY public.users (id) FROM stdin;\n1\n\\.\n".to_owned()),
        ("supabase", "{\n  \"Users\": []\n}\n".to_owned()),
    ] {
        let mut read = read_with(format, &text, ImportOptions::default());
        assert_eq!(read.len(), 1, "{text}");
        let error = read.remove(0).unwrap_err().to_string();
        assert!(error.starts_with("no accounts found: expected "), "{text}: {error}");
    }
}

#[test]
fn lines_that_end_with_cr_are_told_in_a_file_of_any_size() {
    let plain = "ada@example.org,Ada\r";
    for (header, row) in [("email,name\r", plain), ("\"email\",\"name\"\r", "\"ada@example.org\",\"Ada\"\r")]
    {
        for count in [1, 2_000, 100_000] {
            let text = format!("{header}{}", row.repeat(count));
            let error = read_with("csv", text, ImportOptions::default()).remove(0).unwrap_err().to_string();
            assert!(error.contains("CR alone"), "{header:?} {count}: {error}");
        }
    }
    let open = "email,\"name\r\nada@example.org,Ada\r\n";
    let error = read_with("csv", open, ImportOptions::default()).remove(0).unwrap_err().to_string();
    assert!(error.contains("a quote is not closed"), "{error}");
}

#[test]
fn table_may_come_any_number_of_times() {
    let user = r#"{"localId":"u1","email":"ada@example.org"}"#;
    let text = format!("{{{}\"users\":[{user}]}}", r#""users":[],"#.repeat(1_000));
    assert_eq!(read("firebase", text).len(), 1);
    let block = "COPY auth.users (id, email) FROM stdin;\n\\.\n".repeat(1_000);
    let last = format!("COPY auth.users (id, email) FROM stdin;\n{UUID}\tada@example.org\n\\.\n");
    assert_eq!(read("supabase", format!("--\n{block}{last}")).len(), 1);
}

#[test]
fn file_without_accounts_is_good() {
    for (format, text) in [
        ("firebase", r#"{"users":[]}"#),
        ("auth0", "[]"),
        ("csv", "email,name\n"),
        ("supabase", "--\nCOPY auth.users (id, email) FROM stdin;\n\\.\n"),
        ("better-auth", r#"{"session":[],"user":[]}"#),
    ] {
        assert_eq!(read(format, text).len(), 0, "{text}");
    }
}

#[test]
fn line_of_another_kind_is_refused() {
    for kind in [json!("customer"), json!("provider"), json!("end"), json!(7)] {
        let line = json!({"kind": kind, "email": "ada@example.org"});
        let entries = read("latchkey", format!("{line}\n"));
        assert_eq!(codes(&entries[0]), [ProblemCode::JsonInvalid], "{kind}");
    }
    let line = json!({"kind": null, "email": "ada@example.org"});
    assert!(read("latchkey", line.to_string())[0].read.is_ok());
}

#[test]
fn row_of_a_table_that_breaks_its_rules_says_how() {
    let columns = ",x".repeat(1_000);
    let table = format!("email,name\nada@example.org,Ada \"the first\"\nbob@example.org,Bob{columns}\n");
    let entries = read("csv", table);
    let told: Vec<_> =
        entries.iter().map(|entry| (entry.line, &*entry.read.as_ref().unwrap_err().message)).collect();
    assert!(
        matches!(told[..], [(2, quote), (3, many)] if quote.contains("a quote is inside") && many.contains("1,000")),
        "{told:?}"
    );

    let header =
        read_with("csv", format!("email{columns}\n"), ImportOptions::default()).remove(0).unwrap_err();
    assert!(header.to_string().contains("more than 1,000"), "{header}");
}
