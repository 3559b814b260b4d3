//! Cases of imports: batches with their place, clashes, the undo.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::imports::{
    ConflictPolicy, ImportRecord, ImportState, Problem, ProblemCode, RecordOutcome,
};
use latchkey_domain::operator::Role;
use latchkey_domain::profile::Username;
use latchkey_domain::user::AppMetadata;
use latchkey_store::{
    BatchOutcome, BatchRecord, BeginImport, BegunImport, ImportBatch, ImportKey, ImportPage, ImportPosition,
    UndoImport, UndoneBatch,
};
use serde_json::json;

use super::fixtures::{World, at, email, object};
use super::import_acts::{nameless, record, told};

pub(super) async fn accounts_are_created_with_the_place(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let batch = world.batch(&job, vec![record("ada"), record("bob")], at(1));
    let results = world.write(&mut job, batch).await;

    assert_eq!(told(&results), [(RecordOutcome::Created, vec![]), (RecordOutcome::Created, vec![])]);
    let ada = world.find_user_by_email(email("ada").key()).await.unwrap().unwrap();
    assert!(ada.email_verified && ada.has_password && ada.identities == ["google"]);
    assert_eq!(
        (ada.created_at, ada.updated_at, ada.metadata.as_map()["plan"].as_str()),
        (at(-1_000), at(1), Some("pro"))
    );
    let profile = world.find_profile(ada.id).await.unwrap().unwrap();
    assert_eq!(profile.username.unwrap().as_str(), "ada-handle");
    let stored = world.find_import(job.0.id).await.unwrap().unwrap();
    assert_eq!((stored.state, stored.counts.read, stored.counts.created), (ImportState::Running, 2, 2));
    let ids = world.list_imported_ids(job.0.id, 0, 10).await.unwrap();
    assert_eq!(ids[0], (1, ada.id, Some("u-ada".to_owned())));
}

pub(super) async fn a_batch_of_a_process_that_lost_the_import_writes_nothing(world: World) {
    let job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let lost = world.batch(&job, vec![record("ada")], at(1));
    let again = world.begin(1, at(2));
    let claim = again.claim;
    let BegunImport::Resumed(resumed) = world.begin_import(again).await.unwrap() else {
        panic!("not resumed")
    };
    assert_eq!(resumed.id, job.0.id);

    assert_eq!(world.write_import_batch(lost).await.unwrap(), BatchOutcome::Superseded);
    assert!(world.find_user_by_email(email("ada").key()).await.unwrap().is_none());
    assert!(!world.end_import(job.0.id, job.1, ImportState::Done, None, at(3)).await.unwrap());

    let mut job = (resumed, claim);
    let batch = world.batch(&job, vec![record("ada")], at(3));
    let twice = batch.clone();
    assert_eq!(told(&world.write(&mut job, batch).await), [(RecordOutcome::Created, vec![])]);
    assert_eq!(world.write_import_batch(twice).await.unwrap(), BatchOutcome::Superseded, "its place is past");
}

pub(super) async fn one_import_runs_at_a_time(world: World) {
    let (job, claim) = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let other = || BeginImport { source: "other.csv".to_owned(), ..world.begin(2, at(1)) };
    assert_eq!(world.begin_import(other()).await.unwrap(), BegunImport::Running(job.id));
    let same_of_another = BeginImport { takes_over: false, ..world.begin(1, at(1)) };
    assert_eq!(world.begin_import(same_of_another).await.unwrap(), BegunImport::Running(job.id));

    let silent = BeginImport { now: at(100), ..other() };
    assert!(
        matches!(world.begin_import(silent).await.unwrap(), BegunImport::Begun(_)),
        "the first one is silent"
    );
    world.end_import(job.id, claim, ImportState::Failed, None, at(101)).await.unwrap();
}

pub(super) async fn another_import_of_a_file_is_told_while_the_first_may_run(world: World) {
    let (job, _) = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    assert_eq!(world.begin_import(world.begin(2, at(1))).await.unwrap(), BegunImport::OtherOfFile(job.id));
    let upload = BeginImport { takes_over: false, ..world.begin(2, at(1)) };
    assert_eq!(world.begin_import(upload).await.unwrap(), BegunImport::Running(job.id));
}

pub(super) async fn an_import_that_its_file_ended_is_over(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Fail, at(0)).await;
    let batch = world.batch(&job, vec![record("ada")], at(1));
    world.write(&mut job, batch).await;
    let line = Some("{\"code\":\"email_taken\"}".to_owned());
    world.end_import(job.0.id, job.1, ImportState::Failed, line, at(2)).await.unwrap();

    for (digest, seconds) in [(1, 3), (2, 5)] {
        let begin = world.begin(digest, at(seconds));
        let claim = begin.claim;
        let BegunImport::Begun(new) = world.begin_import(begin).await.unwrap() else { panic!("not begun") };
        assert_ne!(new.id, job.0.id);
        world.end_import(new.id, claim, ImportState::Done, None, at(seconds + 1)).await.unwrap();
    }
}

pub(super) async fn a_dry_run_begins_anew(world: World) {
    let dry = |now| BeginImport { is_dry_run: true, takes_over: false, ..world.begin(1, now) };
    assert!(matches!(world.begin_import(dry(at(0))).await.unwrap(), BegunImport::Begun(_)));
    assert!(matches!(world.begin_import(dry(at(100))).await.unwrap(), BegunImport::Begun(_)), "it is silent");
}

pub(super) async fn a_changed_file_does_not_go_on(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let batch = world.batch(&job, vec![record("ada")], at(1));
    world.write(&mut job, batch).await;
    world.end_import(job.0.id, job.1, ImportState::Failed, None, at(2)).await.unwrap();

    let changed = world.begin(2, at(3));
    assert_eq!(world.begin_import(changed).await.unwrap(), BegunImport::Changed(job.0.id));
    let another_format = BeginImport { from: "auth0".to_owned(), ..world.begin(2, at(3)) };
    assert_eq!(world.begin_import(another_format).await.unwrap(), BegunImport::Changed(job.0.id));
    let upload = BeginImport { takes_over: false, ..world.begin(2, at(3)) };
    assert!(matches!(world.begin_import(upload).await.unwrap(), BegunImport::Begun(_)));
}

pub(super) async fn a_source_without_a_name_goes_on_with_the_same_bytes_alone(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let batch = world.batch(&job, vec![record("ada")], at(1));
    world.write(&mut job, batch).await;
    world.end_import(job.0.id, job.1, ImportState::Failed, None, at(2)).await.unwrap();

    let other = BeginImport { takes_over: false, ..world.begin(2, at(3)) };
    let claim = other.claim;
    let BegunImport::Begun(new) = world.begin_import(other).await.unwrap() else { panic!("not begun") };
    world.end_import(new.id, claim, ImportState::Done, None, at(4)).await.unwrap();
    let same = BeginImport { takes_over: false, ..world.begin(1, at(5)) };
    let BegunImport::Resumed(resumed) = world.begin_import(same).await.unwrap() else {
        panic!("not resumed")
    };

    assert_eq!((resumed.id, resumed.counts.read), (job.0.id, 1));
}

pub(super) async fn the_policy_decides_about_a_taken_address(world: World) {
    world.create_account(world.account("ada", at(0))).await.unwrap();
    let with_key =
        || ImportRecord { metadata: AppMetadata::new(object(json!({"a": 1}))).unwrap(), ..nameless("ada") };

    let skipped = world.import(ConflictPolicy::Skip, vec![with_key()], at(1)).await;
    assert_eq!(told(&skipped), [(RecordOutcome::Skipped, vec![ProblemCode::EmailTaken])]);

    let mut job = world.begun_import(ConflictPolicy::Fail, at(2)).await;
    let batch = world.batch(&job, vec![record("bob"), with_key(), record("eve")], at(2));
    let outcome = world.write_import_batch(batch).await.unwrap();
    let BatchOutcome::Written { counts, results, stopped } = outcome else { panic!("superseded") };
    assert_eq!(told(&results), [(RecordOutcome::Created, vec![])]);
    assert_eq!(
        (counts.read, stopped.map(|(line, problem)| (line, problem.code))),
        (1, Some((3, ProblemCode::EmailTaken)))
    );
    assert!(world.find_user_by_email(email("eve").key()).await.unwrap().is_none());
    job.0.counts = counts;
    world.end_import(job.0.id, job.1, ImportState::Done, None, at(3)).await.unwrap();

    let updated = world.import(ConflictPolicy::Update, vec![with_key()], at(4)).await;
    assert_eq!(told(&updated), [(RecordOutcome::Updated, vec![])]);
    let ada = world.find_user_by_email(email("ada").key()).await.unwrap().unwrap();
    assert_eq!((ada.metadata.as_map()["a"].as_i64(), ada.identities), (Some(1), vec!["google".to_owned()]));
    let nothing = world.import(ConflictPolicy::Update, vec![with_key()], at(5)).await;
    assert_eq!(told(&nothing), [(RecordOutcome::Skipped, vec![ProblemCode::EmailTaken])]);
}

pub(super) async fn an_unverified_side_opens_no_way_in(world: World) {
    let account = |name: &str| latchkey_store::NewAccount { password: None, ..world.account(name, at(0)) };
    world.create_account(account("ada")).await.unwrap();
    world
        .create_account(latchkey_store::NewAccount { email_verified: false, ..account("bob") })
        .await
        .unwrap();
    let strange = |name: &str, is_verified| ImportRecord {
        email_verified: is_verified,
        metadata: AppMetadata::default(),
        ..nameless(name)
    };

    let results =
        world.import(ConflictPolicy::Update, vec![strange("ada", false), strange("bob", true)], at(1)).await;

    let refused = (RecordOutcome::Skipped, vec![ProblemCode::NotTrusted]);
    assert_eq!(told(&results), [refused.clone(), refused]);
    for name in ["ada", "bob"] {
        let user = world.find_user_by_email(email(name).key()).await.unwrap().unwrap();
        assert!(user.identities.is_empty() && !user.has_password);
    }
}

pub(super) async fn a_pending_account_gives_way_to_a_verified_record(world: World) {
    for name in ["ada", "bob"] {
        world.pending(name, at(0)).await;
    }
    let unverified = ImportRecord { email_verified: false, ..record("bob") };

    let results = world.import(ConflictPolicy::Skip, vec![record("ada"), unverified], at(1)).await;

    let skipped = (RecordOutcome::Skipped, vec![ProblemCode::EmailTaken]);
    assert_eq!(told(&results), [(RecordOutcome::Created, vec![]), skipped]);
    let ada = world.find_user_by_email(email("ada").key()).await.unwrap().unwrap();
    assert!(ada.email_verified && !ada.is_pending && Some(ada.id) == results[0].user_id);
    assert!(world.find_user_by_email(email("bob").key()).await.unwrap().unwrap().is_pending);
}

pub(super) async fn clashes_of_ids_identities_and_usernames_are_found(world: World) {
    let id: UserId = world.user_id(at(0));
    let with_id = |name: &str| ImportRecord { id: Some(id), ..record(name) };
    let with = |name: &str, identity: &str, username: &str| ImportRecord {
        username: Some(Username::parse(username).unwrap()),
        identities: record(identity).identities,
        ..record(name)
    };
    let clashing = || {
        vec![
            with_id("ada"),
            with_id("bob"),
            with("eve", "ada", "eve-handle"),
            with("kim", "kim", "ada-handle"),
            record("ada"),
        ]
    };
    let results = world.import(ConflictPolicy::Skip, clashing(), at(1)).await;
    let refused = |code| (RecordOutcome::Refused, vec![code]);
    assert_eq!(
        told(&results),
        [
            (RecordOutcome::Created, vec![]),
            refused(ProblemCode::IdTaken),
            refused(ProblemCode::IdentityTaken),
            (RecordOutcome::Created, vec![ProblemCode::UsernameTaken]),
            refused(ProblemCode::DuplicateInFile),
        ]
    );
    let kim = world.find_user_by_email(email("kim").key()).await.unwrap().unwrap();
    assert!(world.find_profile(kim.id).await.unwrap().unwrap().username.is_none());

    let again = world.import(ConflictPolicy::Skip, clashing().split_off(1), at(2)).await;
    assert_eq!(
        told(&again)[..2],
        [refused(ProblemCode::IdTaken), refused(ProblemCode::IdentityTaken)],
        "of the database"
    );
}

pub(super) async fn an_id_that_the_metadata_have_no_room_for_is_in_the_report(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let of = |name: &str| ImportRecord {
        imported_id: Some(format!("u-{name}")),
        metadata: AppMetadata::default(),
        ..record(name)
    };
    let batch = world.batch(&job, vec![of("ada")], at(1));
    let results = world.write(&mut job, batch).await;
    let dry = ImportBatch { is_dry_run: true, is_stored: false, ..world.batch(&job, vec![of("bob")], at(2)) };
    let dry = world.write(&mut job, dry).await;

    let id = results[0].user_id.unwrap();
    let lines = world.list_import_problems(job.0.id, 0, 10).await.unwrap();
    assert_eq!(lines, [(1, json!({"importedId": "u-ada", "id": id.to_string()}).to_string())]);
    assert!(dry[0].report_lines().is_empty(), "a dry run gives no id");
}

pub(super) async fn an_operator_is_not_changed(world: World) {
    let operator = world.operator("ada", Role::Viewer, at(0)).await;
    let mine = ImportRecord { email: operator.user.email.clone(), ..record("ada") };
    let results = world.import(ConflictPolicy::Update, vec![mine], at(60)).await;
    assert_eq!(told(&results), [(RecordOutcome::Refused, vec![ProblemCode::OperatorProtected])]);
}

pub(super) async fn a_second_record_of_a_reserved_address_is_a_duplicate(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.moved(ada, "eva", at(1)).await;
    let mut job = world.begun_import(ConflictPolicy::Skip, at(2)).await;
    let mut batch = world.batch(&job, vec![record("ada")], at(2));
    for one in &mut batch.records {
        one.read.as_mut().unwrap().seen.email = true;
    }
    let dry = ImportBatch { is_dry_run: true, is_stored: false, ..batch.clone() };

    let (dry, real) = (world.write(&mut job, dry).await, world.write(&mut job, batch).await);

    assert_eq!(told(&dry), [(RecordOutcome::Refused, vec![ProblemCode::DuplicateInFile])]);
    assert_eq!(told(&real), told(&dry));
}

pub(super) async fn problems_are_counted_by_what_they_stand_for(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let mut batch = world.batch(&job, vec![record("ada")], at(1));
    let one = Problem::new(ProblemCode::FieldDropped);
    batch.records[0].problems = vec![one.clone(), Problem { count: 980, ..one }];

    world.write(&mut job, batch).await;

    let stored = world.find_import(job.0.id).await.unwrap().unwrap();
    assert_eq!(stored.counts.problems.get(&ProblemCode::FieldDropped), Some(&981));
}

pub(super) async fn a_dry_run_writes_no_account(world: World) {
    world.create_account(world.account("ada", at(0))).await.unwrap();
    let mut job = world.begun_import(ConflictPolicy::Skip, at(1)).await;
    let mut batch =
        ImportBatch { is_dry_run: true, ..world.batch(&job, vec![record("ada"), record("bob")], at(1)) };
    let stored = world.write(&mut job, batch.clone()).await;
    batch.is_stored = false;
    let BatchOutcome::Written { counts, results, .. } = world.write_import_batch(batch).await.unwrap() else {
        panic!("superseded")
    };

    assert_eq!(told(&stored), told(&results));
    assert_eq!((counts.created, counts.skipped), (1, 1));
    assert!(world.find_user_by_email(email("bob").key()).await.unwrap().is_none());
    assert_eq!(world.find_import(job.0.id).await.unwrap().unwrap().counts.read, 2);
    let lines = world.list_import_problems(job.0.id, 0, 10).await.unwrap();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].1.contains("email_taken") && !lines[0].1.contains('@'), "{}", lines[0].1);
}

pub(super) async fn an_undo_deletes_what_is_not_in_use(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let refused = BatchRecord {
        place: 4,
        file: None,
        line: 5,
        read: Err(Problem::new(ProblemCode::JsonInvalid)),
        problems: Vec::new(),
    };
    let mut batch = world.batch(&job, vec![record("ada"), record("bob"), record("eve")], at(1));
    batch.records.push(refused);
    let results = world.write(&mut job, batch).await;
    let ids: Vec<UserId> = results.iter().filter_map(|one| one.user_id).collect();
    world.end_import(job.0.id, job.1, ImportState::Done, None, at(2)).await.unwrap();
    let update =
        latchkey_store::UpdateUser { metadata: Some(AppMetadata::default()), ..world.change(ids[1], at(3)) };
    world.update_user(update).await.unwrap();

    let undo = |after| UndoImport {
        id: job.0.id,
        after,
        events: (0..2).map(|_| world.event(AuditKind::UserDeleted, at(4))).collect(),
        now: at(4),
    };
    let first = world.undo_import_batch(undo(0)).await.unwrap();
    assert_eq!(first, UndoneBatch { last: Some(2), deleted: 1, changed: 1, ..UndoneBatch::default() });
    let second = world.undo_import_batch(undo(2)).await.unwrap();
    assert_eq!(second, UndoneBatch { last: Some(3), deleted: 1, ..UndoneBatch::default() });
    assert_eq!(world.undo_import_batch(undo(3)).await.unwrap(), UndoneBatch::default());
    assert!(world.end_undo(job.0.id, world.event(AuditKind::ImportUndone, at(5)), at(5)).await.unwrap());
    assert!(!world.end_undo(job.0.id, world.event(AuditKind::ImportUndone, at(5)), at(5)).await.unwrap());

    assert!(
        world.find_user(ids[0]).await.unwrap().is_none() && world.find_user(ids[1]).await.unwrap().is_some()
    );
    assert_eq!(world.undo_import_batch(undo(0)).await.unwrap().gone, 1, "an undo can be repeated");
    assert_eq!(world.find_import(job.0.id).await.unwrap().unwrap().state, ImportState::Undone);
}

pub(super) async fn an_import_whose_undo_began_does_not_go_on(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let batch = world.batch(&job, vec![record("ada")], at(1));
    world.write(&mut job, batch).await;
    world.end_import(job.0.id, job.1, ImportState::Failed, None, at(2)).await.unwrap();
    let events = vec![world.event(AuditKind::UserDeleted, at(3))];
    let undo = UndoImport { id: job.0.id, after: 0, events, now: at(3) };
    assert_eq!(world.undo_import_batch(undo).await.unwrap().deleted, 1);

    let again = world.begin_import(world.begin(1, at(4))).await.unwrap();
    assert_eq!(again, BegunImport::Changed(job.0.id));
}

pub(super) async fn the_list_goes_both_ways_with_its_total(world: World) {
    // The second and the third begin at the same time, so that their ids decide.
    for seconds in [0, 1, 1, 2, 3] {
        world.import(ConflictPolicy::Skip, Vec::new(), at(seconds)).await;
    }
    let key = |page: &ImportPage, index: usize| {
        let job = &page.jobs[index];
        ImportKey { started_at: job.started_at, id: job.id }
    };
    let list = async |position, limit| world.list_imports(position, limit).await.unwrap();
    let all = list(ImportPosition::First, 5).await;
    assert_eq!((all.jobs.len(), all.total, all.has_more), (5, 5, false));
    assert!(all.jobs.is_sorted_by_key(|job| std::cmp::Reverse((job.started_at, job.id))));

    let first = list(ImportPosition::First, 2).await;
    let second = list(ImportPosition::After(key(&first, 1)), 2).await;
    let third = list(ImportPosition::After(key(&second, 1)), 2).await;
    assert_eq!([&first.jobs[..], &second.jobs, &third.jobs].concat(), all.jobs);
    assert_eq!(
        [&first, &second, &third].map(|page| (page.total, page.has_more)),
        [(5, true), (5, true), (5, false)]
    );

    let back = list(ImportPosition::Before(key(&third, 0)), 2).await;
    assert_eq!(back, second);
    let begin = list(ImportPosition::Before(key(&back, 0)), 2).await;
    assert_eq!(begin, ImportPage { has_more: false, ..first });
}
