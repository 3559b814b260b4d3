//! Cases of imports that meet each other, an undo, or what a file brings under our own names.

use std::sync::Arc;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::imports::{ConflictPolicy, ImportRecord, ImportState};
use latchkey_domain::user::AppMetadata;
use latchkey_store::{BatchOutcome, BeginImport, BegunImport, UndoImport};
use serde_json::{Value, json};

use super::fixtures::{World, at, object};
use super::import_acts::record;

pub(super) async fn of_imports_that_begin_at_once_one_begins(world: World) {
    let world = Arc::new(world);
    let begin = |digest| {
        let begin = BeginImport { takes_over: false, ..world.begin(digest, at(0)) };
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.begin_import(begin).await.unwrap() })
    };
    let mut count = 0;
    for outcome in (1..=8).map(begin).collect::<Vec<_>>() {
        match outcome.await.unwrap() {
            BegunImport::Begun(_) => count += 1,
            BegunImport::Running(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, 1);
}

pub(super) async fn a_process_that_slept_writes_nothing_behind_an_undo(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let batch = world.batch(&job, vec![record("ada")], at(1));
    world.write(&mut job, batch).await;
    let id = job.0.id;
    let undo = |after| {
        let events = vec![world.event(AuditKind::UserDeleted, at(600))];
        UndoImport { id, after, events, now: at(600) }
    };

    assert_eq!(world.undo_import_batch(undo(0)).await.unwrap().deleted, 1);
    let behind = world.batch(&job, vec![record("bob")], at(601));
    assert_eq!(world.write_import_batch(behind).await.unwrap(), BatchOutcome::Superseded);
    assert!(!world.end_import(id, job.1, ImportState::Done, None, at(602)).await.unwrap());
    assert!(world.end_undo(id, world.event(AuditKind::ImportUndone, at(603)), at(603)).await.unwrap());

    let late =
        world.end_import(id, job.1, ImportState::Failed, Some("{}".to_owned()), at(604)).await.unwrap();
    assert!(!late);
    assert_eq!(world.find_import(id).await.unwrap().unwrap().state, ImportState::Undone);
    assert_eq!(world.list_import_problems(id, 0, 10).await.unwrap(), []);
}

pub(super) async fn an_end_that_is_repeated_is_one(world: World) {
    let (job, claim) = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    for _ in 0..2 {
        let line = Some("{}".to_owned());
        assert!(world.end_import(job.id, claim, ImportState::Failed, line, at(1)).await.unwrap());
    }
    assert_eq!(world.list_import_problems(job.id, 0, 10).await.unwrap().len(), 1);
}

pub(super) async fn an_imported_id_that_is_no_text_is_none(world: World) {
    let of = |(name, id): (&str, Value)| {
        let metadata = AppMetadata::new(object(json!({ "importedId": id }))).unwrap();
        ImportRecord { metadata, ..record(name) }
    };
    let values =
        [json!(42), json!(1.5), json!(true), Value::Null, json!(["x"]), json!({"x": 1}), json!("42")];
    let names = ["a", "b", "c", "d", "e", "f", "g"].map(|name| format!("person-{name}"));
    let records = names.iter().map(String::as_str).zip(values).map(of).collect();
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let batch = world.batch(&job, records, at(1));
    world.write(&mut job, batch).await;

    let ids: Vec<_> = world.list_imported_ids(job.0.id, 0, 10).await.unwrap();

    let ids: Vec<_> = ids.into_iter().map(|(_, _, imported)| imported).collect();
    assert_eq!(ids, [None, None, None, None, None, None, Some("42".to_owned())]);
}
