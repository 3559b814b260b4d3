//! Rows of the tables beside the accounts that cannot be read: each is refused and told with its line.

use latchkey_domain::imports::ProblemCode;
use latchkey_import::{Entry, Format, ImportOptions, Input, Records};
use serde_json::json;

use super::{codes, identities, read};

const UUID: &str = "6d4f3a5e-0000-4000-8000-0000000000aa";

/// Asserts that these rows are refused, each with its line and words of its message, and returns the one account.
fn refused(entries: &[Entry], rows: &[(u64, &str)]) -> Vec<String> {
    let (good, bad): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.read.is_ok());
    let told: Vec<_> = bad.iter().map(|entry| (entry.line, entry.read.as_ref().unwrap_err())).collect();
    assert_eq!(told.len(), rows.len(), "{told:#?}");
    for ((line, problem), (wanted, words)) in told.into_iter().zip(rows) {
        assert_eq!((line, problem.code), (*wanted, ProblemCode::JsonInvalid), "{problem:?}");
        assert!(problem.message.contains(words), "{problem:?}");
    }
    assert_eq!(good.len(), 1, "{entries:#?}");
    identities(good[0].read.as_ref().unwrap())
}

#[test]
fn malformed_row_of_a_dump_is_refused() {
    let text = format!(
        "--\nCOPY auth.identities (provider_id, user_id, identity_data, provider) FROM stdin;\n\
         1102\t{UUID}\t{{}}\tgoogle\n1103\t{UUID}\n1104\t\\N\t{{}}\tgithub\n\\.\n\n\
         COPY auth.users (id, email) FROM stdin;\n{UUID}\tada@example.org\n\\.\n"
    );

    let found = refused(
        &read("supabase", text),
        &[(4, "in the table auth.identities: the record has not as many"), (5, "the id of the account")],
    );

    assert_eq!(found, ["google/1102"]);
}

#[test]
fn malformed_row_of_a_document_is_refused() {
    let user = json!({"id": "u1", "email": "ada@example.org"});
    let account = json!([7, {"providerId": "google", "accountId": "1"},
        {"providerId": "github", "accountId": "2", "userId": "u1"}, {"providerId": "x", "accountId": "3", "userId": ""}]);
    let text = json!({"account": account, "user": [user]}).to_string();

    let found =
        refused(&read("better-auth", text), &[(1, "in the table account: "), (1, "the id"), (1, "the id")]);

    assert_eq!(found, ["github/2"]);
    let text =
        json!({"externalAuths": [{"provider": "github", "providerId": "1"}], "users": [user]}).to_string();
    assert_eq!(refused(&read("pocketbase", text), &[(1, "externalAuths: the id")]), [""; 0]);
}

#[test]
fn table_of_the_application_with_the_name_of_a_plugin_is_passed_over() {
    let user = json!({"id": "u1", "email": "ada@example.org"});
    for name in ["passkey", "twoFactor", "two_factor"] {
        let text = json!({"user": [user], name: [{"id": "p1", "device": "x"}]}).to_string();
        let entries = read("better-auth", text);
        assert_eq!((entries.len(), codes(&entries[0])), (1, vec![]), "{name}");
    }
}

#[test]
fn malformed_row_of_a_table_in_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("user.csv"), "id,email\nu1,ada@example.org\n").unwrap();
    let account = "accountId,providerId,userId\n1,google,u1\n2,github\n";
    std::fs::write(folder.path().join("account.csv"), account).unwrap();
    let input = Input::Folder(folder.path().to_owned());

    let records =
        Records::open(Format::find("better-auth").unwrap(), input, ImportOptions::default()).unwrap();
    let entries: Vec<_> = records.map(Result::unwrap).collect();

    assert_eq!(
        refused(&entries, &[(3, "in the table account: the record has 2 fields, the header 3")]),
        ["google/1"]
    );
    let files: Vec<_> = entries.iter().map(|entry| entry.file.as_deref().unwrap()).collect();
    assert_eq!(files, ["account.csv", "user.csv"]);
}
