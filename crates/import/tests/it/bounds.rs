//! Bounds of what a file may cost: problems of a record, rows of side tables, records of the largest size.

use std::fmt::Write;

use latchkey_domain::imports::{LARGEST_RECORD, Problem, ProblemCode};
use latchkey_import::{Entry, ImportOptions};
use serde_json::json;

use super::{codes, identities, read, read_with};

/// Returns the problems of the only record.
fn problems(line: &str) -> Vec<Problem> {
    let entry = read("latchkey", line).remove(0);
    assert!(entry.read.is_ok());
    entry.problems
}

#[test]
fn problems_of_a_record_are_told_up_to_a_bound() {
    let mut line = "{\"email\":\"ada@example.org\"".to_owned();
    for number in 0..60_000 {
        write!(line, ",\"k{number}\":1").unwrap();
    }
    line.push('}');
    assert!(line.len() < LARGEST_RECORD);

    let told = problems(&line);

    assert_eq!(told.len(), 21);
    assert_eq!(told[20].message, "59980 more of the record are not listed");
    assert_eq!(told.iter().map(|problem| problem.count).sum::<u64>(), 60_000, "all are counted");
}

#[test]
fn problem_of_another_kind_is_told_beside_many() {
    let mut record = json!({"email": "ada@example.org", "passwordHash": "nonsense"});
    for number in 0..100 {
        record[format!("k{number}")] = json!(1);
    }
    record["totp"] = (0..50).map(|_| json!({"secret": "nonsense 1"})).collect();

    let told = codes(&read("latchkey", record.to_string())[0]);

    let count = |code| told.iter().filter(|one| **one == code).count();
    assert_eq!(
        [ProblemCode::FieldDropped, ProblemCode::FactorNotCarried, ProblemCode::HashUnknown].map(count),
        [21, 21, 1]
    );
}

/// A dump of Supabase with this many accounts, each with its mailbox as an identity, and with these lines about it.
fn supabase(count: usize, more: impl Fn(&str) -> String) -> String {
    let id = |number: usize| format!("6d4f3a5e-0000-4000-8000-{number:012x}");
    let mut dump =
        "--\nCOPY auth.identities (provider_id, user_id, identity_data, provider) FROM stdin;\n".to_owned();
    for id in (0..count).map(id) {
        let data =
            format!("{{\"sub\": \"{id}\", \"email\": \"{id}@example.org\", \"email_verified\": true}}");
        writeln!(dump, "{id}\t{id}\t{data}\temail").unwrap();
        dump.push_str(&more(&id));
    }
    dump.push_str("\\.\nCOPY auth.users (id, email) FROM stdin;\n");
    for id in (0..count).map(id) {
        writeln!(dump, "{id}\t{id}@example.org").unwrap();
    }
    dump.push_str("\\.\n");
    dump
}

#[test]
fn identities_that_stand_for_the_mailbox_need_no_memory() {
    // These rows have more bytes than those of side tables may take.
    let long = |id: &str| format!("{id}\t{id}\t{{\"name\": \"{}\"}}\temail\n", "x".repeat(2_000));
    let dump = supabase(30_000, long);
    assert!(dump.len() > 48 * 1024 * 1024);

    let mut records = read("supabase", dump).into_iter();

    assert!(records.all(|entry| entry.read.is_ok_and(|record| record.identities.is_empty())));
}

#[test]
fn identities_of_other_providers_are_kept_for_many_accounts() {
    let google = |id: &str| {
        let known =
            json!({"iss": "https://accounts.google.com", "sub": format!("1{id}"), "name": "Ada Lovelace"});
        let mut data = known.as_object().unwrap().clone();
        data.insert("email".to_owned(), json!(format!("{id}@example.org")));
        data.insert("picture".to_owned(), json!("https://lh3.googleusercontent.com/a/ACg8ocJ"));
        let data = serde_json::Value::Object(data);
        format!("10{}\t{id}\t{data}\tgoogle\n", &id[24..])
    };

    let entries = read("supabase", supabase(120_000, google));

    assert_eq!(entries.len(), 120_000);
    let record = entries[77].read.as_ref().unwrap();
    assert_eq!(identities(record), [format!("google/10{:012x}", 77)]);
    assert_eq!(record.identities[0].email.as_ref(), Some(&record.email));
}

#[test]
fn rows_of_side_tables_beyond_the_bound_end_the_import() {
    let long = |id: &str| format!("{}\t{id}\t{{}}\tgoogle\n", "x".repeat(1_000));
    let error =
        read_with("supabase", supabase(60_000, long), ImportOptions::default()).remove(0).unwrap_err();
    assert!(error.to_string().contains("48 MiB"), "{error}");
}

#[test]
fn refused_rows_of_side_tables_count_with_their_texts() {
    // Each is told with a path of some 8 KB, twice.
    let key = "é".repeat(64);
    let row =
        format!("{{\"{key}\":{}{{\"x\":1,\"x\":2}}{}}}", format!("{{\"{key}\":").repeat(28), "}".repeat(28));
    let rows = vec![row; 20_000].join(",");
    let text = format!("{{\"users\":[],\"identities\":[{rows}]}}");

    let entries = read_with("supabase", text, ImportOptions::default());

    let error = entries.into_iter().next().unwrap().unwrap_err();
    assert!(error.to_string().contains("48 MiB"), "{error}");
}

/// Reads an account of Better Auth with these subjects at Google, and returns its identities and what was refused.
fn with_subjects(subjects: impl Iterator<Item = String>) -> (Vec<String>, Vec<Problem>) {
    let row = |subject: String| json!({"providerId": "google", "accountId": subject, "userId": "u1"});
    let rows: Vec<_> = subjects.map(row).collect();
    let user = json!({"id": "u1", "email": "ada@example.org"});
    let entries = read("better-auth", json!({"account": rows, "user": [user]}).to_string());
    let (good, bad): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| entry.read.is_ok());
    assert_eq!(good.len(), 1);
    (
        identities(good[0].read.as_ref().unwrap()),
        bad.into_iter().map(|entry| entry.read.unwrap_err()).collect(),
    )
}

#[test]
fn rows_of_one_account_beyond_the_bound_are_left_out_and_told_once() {
    let (found, refused) = with_subjects((0..100).map(|number| number.to_string()));
    assert_eq!((found.len(), refused.len()), (100, 0));

    let (found, refused) = with_subjects((0..5_000).map(|number| number.to_string()));
    assert_eq!((found.len(), found[99].as_str()), (100, "google/99"));
    assert_eq!((refused.len(), refused[0].code), (1, ProblemCode::RecordTooLarge));
    assert!(refused[0].message.contains("in the table account: the account has more than 100 rows"));

    let (found, refused) = with_subjects((0..5).map(|_| "x".repeat(300 * 1024)).chain(["7".to_owned()]));
    assert_eq!((found.len(), refused.len()), (0, 1), "those that follow are left out too");
}

#[test]
fn end_of_a_line_does_not_count_as_its_record() {
    let of_size = |size: usize| {
        let start = "{\"email\":\"ada@example.org\",\"x\":\"";
        format!("{start}{}\"}}", "x".repeat(size - start.len() - 2))
    };
    for (size, is_read) in [(LARGEST_RECORD, true), (LARGEST_RECORD + 1, false)] {
        for end in ["\n", "\r\n", ""] {
            let entries = read("latchkey", of_size(size) + end);
            assert_eq!((entries.len(), entries[0].read.is_ok()), (1, is_read), "{size} {end:?}");
        }
    }
}
