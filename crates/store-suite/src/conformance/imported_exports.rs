//! Cases of imports of an export of ours: passkeys, times, and the end of a file that is not whole.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::{ImportId, UserId};
use latchkey_domain::imports::{
    ConflictPolicy, ImportPasskey, ImportRecord, ImportState, ProblemCode, RecordOutcome,
};
use latchkey_domain::passkey::{Aaguid, CredentialId, PasskeyState, RpId, Transports, UserHandle};
use latchkey_domain::user::AppMetadata;
use latchkey_store::{BegunImport, UndoImport, UndoneBatch, UpdateUser};

use super::fixtures::{World, at};
use super::import_acts::{record, told};

/// A passkey with this credential id.
fn passkey(credential: u8) -> ImportPasskey {
    ImportPasskey {
        credential_id: CredentialId::parse(&[credential; 16]).unwrap(),
        public_key: vec![7; 77],
        rp_id: RpId::new("example.org"),
        name: FactorName::of_totp(),
        aaguid: Aaguid::new([5; 16]),
        transports: Transports::new(["usb"]),
        state: PasskeyState { counter: u32::MAX, is_backed_up: false },
        is_backup_eligible: true,
        created_at: Some(at(-900)),
        last_used_at: Some(at(-800)),
    }
}

fn with_passkey(name: &str, credential: u8) -> ImportRecord {
    let user_handle = Some(UserHandle::new([9; 16]));
    ImportRecord { has_two_step: true, user_handle, passkeys: vec![passkey(credential)], ..record(name) }
}

pub(super) async fn passkeys_are_kept_and_belong_to_one_account(world: World) {
    let records = vec![with_passkey("ada", 1), with_passkey("bob", 1), with_passkey("eve", 2)];
    let results = world.import(ConflictPolicy::Skip, records, at(1)).await;
    let refused = (RecordOutcome::Refused, vec![ProblemCode::IdentityTaken]);
    let created = (RecordOutcome::Created, vec![]);
    assert_eq!(told(&results), [created.clone(), refused.clone(), created]);

    let again = world.import(ConflictPolicy::Skip, vec![with_passkey("kim", 2)], at(2)).await;
    assert_eq!(told(&again), [refused], "of the database");

    let credential = CredentialId::parse(&[1; 16]).unwrap();
    let (found, user) = world.known_passkey(&credential, &RpId::new("example.org")).await.expect("a passkey");
    assert_eq!(user.two_step_at, Some(at(1)));
    assert_eq!(
        (found.user_handle, found.public_key.len(), found.counter),
        (UserHandle::new([9; 16]), 77, u32::MAX)
    );
    let passkey = found.passkey;
    assert_eq!((passkey.created_at, passkey.last_used_at), (at(-900), Some(at(-800))));
    assert_eq!((passkey.transports.to_stored().as_str(), passkey.is_backed_up), ("usb", false));
}

pub(super) async fn times_of_a_record_are_kept_and_do_not_hinder_an_undo(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let old = |name: &str| ImportRecord {
        updated_at: Some(at(-500)),
        last_sign_in_at: Some(at(-600)),
        ..record(name)
    };
    let later = ImportRecord { updated_at: Some(at(900)), ..record("kim") };
    let batch = world.batch(&job, vec![old("ada"), old("bob"), later], at(1));
    let results = world.write(&mut job, batch).await;
    let ids: Vec<UserId> = results.iter().filter_map(|one| one.user_id).collect();
    world.end_import(job.0.id, job.1, ImportState::Done, None, at(2)).await.unwrap();
    let ada = world.user(ids[0]).await;
    assert_eq!((ada.created_at, ada.updated_at, ada.last_sign_in_at), (at(-1_000), at(-500), Some(at(-600))));
    assert_eq!(world.user(ids[2]).await.updated_at, at(1), "no account is changed in the future");

    let update = UpdateUser { metadata: Some(AppMetadata::default()), ..world.change(ids[1], at(3)) };
    world.update_user(update).await.unwrap();
    let events = (0..3).map(|_| world.event(AuditKind::UserDeleted, at(4))).collect();
    let undo = UndoImport { id: job.0.id, after: 0, events, now: at(4) };

    let undone = world.undo_import_batch(undo).await.unwrap();

    assert_eq!(undone, UndoneBatch { last: Some(3), deleted: 2, changed: 1, ..UndoneBatch::default() });
}

pub(super) async fn the_end_of_a_failed_import_is_the_last_line_of_its_report(world: World) {
    let (job, claim) = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let id = job.id;
    let line = || Some("{\"message\":\"torn\"}".to_owned());
    assert!(
        !world
            .end_import(id, world.id(at(0), ImportId::new).as_uuid(), ImportState::Failed, line(), at(1))
            .await
            .unwrap()
    );
    assert!(world.list_import_problems(id, 0, 10).await.unwrap().is_empty());
    for _ in 0..2 {
        assert!(world.end_import(id, claim, ImportState::Failed, line(), at(1)).await.unwrap());
    }
    let lines = world.list_import_problems(id, 0, 10).await.unwrap();
    assert_eq!(
        lines.iter().map(|(_, line)| line.clone()).collect::<Vec<_>>(),
        line().into_iter().collect::<Vec<_>>()
    );
    assert!(world.list_import_problems(id, lines[0].0, 10).await.unwrap().is_empty());
    assert!(!world.renew_import(id, claim, at(2)).await.unwrap(), "it does not run any more");

    assert!(matches!(world.begin_import(world.begin(1, at(3))).await.unwrap(), BegunImport::Begun(_)));
    assert_eq!(world.list_import_problems(id, 0, 10).await.unwrap().len(), 1, "it is over");
}
