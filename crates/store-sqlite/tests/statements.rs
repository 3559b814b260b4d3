//! Statements of the operations are valid in the schema of this engine.
#![allow(clippy::unwrap_used)]

use latchkey_store_operations::tables::all_statements;
use latchkey_store_sqlite::Sqlite;
use rusqlite::Connection;

#[test]
fn every_statement_fits_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    drop(Sqlite::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();

    let mut refused = Vec::new();
    for (table, name, sql) in all_statements() {
        if let Err(error) = conn.prepare(sql.sqlite()) {
            refused.push(format!("{table}::{name}: {error}"));
        }
    }

    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn events_of_a_user_are_read_from_their_index_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    drop(Sqlite::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();

    for name in ["LIST_OF_USER", "LIST_OF_USER_BEFORE"] {
        let (.., sql) =
            all_statements().find(|(table, found, _)| (*table, *found) == ("audit_events", name)).unwrap();
        let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.sqlite())).unwrap();
        let nulls = vec![rusqlite::types::Null; plan.parameter_count()];
        let steps = plan.query_map(rusqlite::params_from_iter(nulls), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();

        assert!(steps[0].contains("audit_events_by_owner (user_id=? AND happened_at"), "{steps:#?}");
        assert!(steps.iter().all(|step| !step.contains("B-TREE")), "{steps:#?}");
    }
}

#[test]
fn old_failures_without_an_account_are_read_from_an_index_in_order() {
    let steps = plan("audit_events", "PURGE_FAILURES_OF_NOBODY");
    let step = "SEARCH audit_events USING INDEX audit_events_by_owner (user_id=? AND happened_at";
    assert!(steps.iter().any(|found| found.starts_with(step)), "{steps:#?}");
    assert!(steps.iter().all(|step| !step.contains("B-TREE")), "{steps:#?}");
}

#[test]
fn work_classes_of_hashes_are_read_from_their_index() {
    for name in ["FIND_BEGINNING", "COUNT_CLASS", "LIST_DIGESTS"] {
        let steps = plan("credentials", name);
        assert!(steps.iter().any(|step| step.contains("credentials_by_class (<expr>>?")), "{steps:#?}");
        assert!(steps.iter().all(|step| !step.contains("USE TEMP B-TREE FOR ORDER BY")), "{steps:#?}");
    }
}

#[test]
fn an_identity_is_found_by_its_whole_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    drop(Sqlite::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();

    let mut slow = Vec::new();
    for (table, name, sql) in all_statements().filter(|(table, ..)| *table == "identities") {
        let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.sqlite())).unwrap();
        let nulls = vec![rusqlite::types::Null; plan.parameter_count()];
        let steps = plan.query_map(rusqlite::params_from_iter(nulls), |row| row.get::<_, String>(3)).unwrap();
        let is_index_behind = |step: &String| step.contains("identities") && step.ends_with("(provider=?)");
        slow.extend(
            steps.map(Result::unwrap).filter(is_index_behind).map(|step| format!("{table}::{name}: {step}")),
        );
    }

    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// Steps of the plan of a statement.
fn plan(table: &str, name: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    drop(Sqlite::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();
    let (.., sql) = all_statements().find(|(found, of, _)| (*found, *of) == (table, name)).unwrap();
    let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.sqlite())).unwrap();
    let nulls = vec![rusqlite::types::Null; plan.parameter_count()];
    let steps = plan.query_map(rusqlite::params_from_iter(nulls), |row| row.get(3)).unwrap();
    steps.map(Result::unwrap).collect()
}

#[test]
fn filtered_events_are_read_from_an_index_in_order() {
    for (name, index) in [
        ("NEWEST", "PRIMARY KEY (id>? AND id<?)"),
        (
            "NEWEST_OF_USER",
            "audit_events_by_owner ((user_id,happened_at,id)>(?,?,?) AND (user_id,happened_at,id)<(?,?,?))",
        ),
        (
            "NEWEST_OF_OPERATOR",
            "audit_events_by_operator ((operator_id,id)>(?,?) AND (operator_id,id)<(?,?))",
        ),
        ("NEWEST_OF_ADDRESS", "audit_events_by_address ((address,id)>(?,?) AND (address,id)<(?,?))"),
        ("NEWEST_OF_ACTOR", "audit_events_by_actor ((actor,id)>(?,?) AND (actor,id)<(?,?))"),
        ("NEWEST_OF_KIND", "audit_events_by_kind ((kind,id)>(?,?) AND (kind,id)<(?,?))"),
    ] {
        let steps = plan("audit_filters", name);
        assert!(steps.len() == 1 && steps[0].ends_with(index), "{name}: {steps:#?}");
    }
}
