//! Columns of tables: guessed from the header or from the first record, given by name, and shown.

use std::sync::Arc;

use latchkey_domain::time::Timestamp;
use latchkey_import::{Format, ImportOptions, Input, ReadError, Records};
use serde_json::json;

fn open(format: &str, text: &str, columns: &[&str]) -> Result<Records, ReadError> {
    let now = Timestamp::parse("2030-01-01").unwrap();
    let mut options = ImportOptions { now, ..ImportOptions::default() };
    for column in columns {
        options.add_column(column).unwrap();
    }
    Records::open(Format::find(format).unwrap(), Input::Bytes(Arc::from(text.as_bytes())), options)
}

fn shown(records: &Records) -> Vec<String> {
    records.columns().iter().map(|(ours, theirs)| format!("{ours}={theirs}")).collect()
}

#[test]
fn columns_of_json_are_shown() {
    let array = json!([{"mail": "ada@example.org", "id": "1"}]).to_string();
    let lines = "{\"mail\": \"ada@example.org\", \"id\": 1}\n";
    let dump = json!([{"model": "auth.user", "pk": 1, "fields": {"mail": "ada@example.org"}}]).to_string();
    for (format, text) in [("csv", array.as_str()), ("rauthy", lines), ("django", &dump)] {
        let records = open(format, text, &[]).unwrap();
        assert_eq!(shown(&records), ["id=id", "email=mail"], "{format}");
        let emails: Vec<_> =
            records.map(|entry| entry.unwrap().read.unwrap().email.as_typed().to_owned()).collect();
        assert_eq!(emails, ["ada@example.org"], "{format}");
    }
}

#[test]
fn field_that_the_first_record_lacks_is_read_all_the_same() {
    let text =
        json!([{"mail": "ada@example.org"}, {"mail": "bob@example.org", "nickname": "bob"}]).to_string();
    let records: Vec<_> =
        open("csv", &text, &[]).unwrap().map(|entry| entry.unwrap().read.unwrap()).collect();
    assert_eq!(records[1].username.as_ref().unwrap().as_str(), "bob");
}

#[test]
fn given_column_that_the_file_lacks_is_refused() {
    let text = "email,password\nada@example.org,x\n";
    let error = open("csv", text, &["passwordHash=nope"]).err().expect("a refusal").to_string();
    for word in ["passwordHash", "\"nope\"", "email, password"] {
        assert!(error.contains(word), "{error}");
    }
    assert!(open("csv", text, &["passwordHash=password"]).is_ok());
}

#[test]
fn given_column_that_no_record_has_is_told_at_the_end() {
    let text = "{\"email\": \"ada@example.org\"}\n{\"email\": \"bob@example.org\", \"photo\": \"https://example.org/b\"}\n";

    let all: Vec<_> = open("csv", text, &["avatarUrl=photo"]).unwrap().collect();
    assert!(all.iter().all(Result::is_ok) && all.len() == 2);
    let record = all[1].as_ref().unwrap().read.as_ref().unwrap();
    assert!(record.avatar_url.is_some());

    let all: Vec<_> = open("csv", text, &["passwordHash=nope"]).unwrap().collect();
    let error = all.last().unwrap().as_ref().unwrap_err().to_string();
    assert!(all.len() == 3 && error.contains("\"nope\""), "{error}");
}

#[test]
fn columns_of_json_are_those_of_each_record() {
    let text = json!([{"mail": "ada@example.org"}, {"email": "bob@example.org"}]).to_string();
    assert!(open("csv", &text, &[]).unwrap().all(|entry| entry.unwrap().read.is_ok()));
    let dump = json!([
        {"model": "tenants.org", "pk": 1, "fields": {"name": "O", "created": "2020-01-01T00:00:00Z"}},
        {"model": "auth.user", "pk": 1, "fields": {"email": "ada@example.org", "date_joined": "2021-01-01T00:00:00Z"}},
    ])
    .to_string();
    let user = open("django", &dump, &[]).unwrap().last().unwrap().unwrap().read.unwrap();
    assert_eq!(user.created_at.unwrap().to_string(), "2021-01-01T00:00:00.000Z");
}

#[test]
fn given_column_that_a_database_lacks_ends_the_reading() {
    let rows = Input::Rows(Box::new(std::iter::once(Ok(json!({"email": "ada@example.org"}).to_string()))));
    let mut options = ImportOptions::default();
    options.add_column("name=nope").unwrap();
    let mut records = Records::open(Format::find("csv").unwrap(), rows, options).unwrap();
    let error = records.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("\"nope\"") && records.next().is_none(), "{error}");
}

#[test]
fn options_of_columns_are_refused_where_the_format_has_its_own() {
    for format in ["supabase", "latchkey", "clerk"] {
        let error = open(format, "{}", &["email=mail"]).err().expect("a refusal").to_string();
        assert!(error.contains(format) && error.contains("--column") && error.contains("csv"), "{error}");
        let options = ImportOptions { keep_rest: true, ..ImportOptions::default() };
        let records =
            Records::open(Format::find(format).unwrap(), Input::Bytes(Arc::from(&b"{}"[..])), options);
        assert!(records.err().expect("a refusal").to_string().contains("--keep-rest"));
    }
}
