//! Cases of imports into accounts that are there, and of what an export and an undo find changed.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use latchkey_domain::audit::AuditKind;
use latchkey_domain::email::Email;
use latchkey_domain::factors::FactorName;
use latchkey_domain::identity::{Issuer, ProviderKey};
use latchkey_domain::imported_hash::ImportedHash;
use latchkey_domain::imports::{
    ConflictPolicy, ImportRecord, ImportState, ImportTotp, Problem, ProblemCode, RecordOutcome,
};
use latchkey_domain::profile::{Name, NewProfile, ProfilePatch};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::AppMetadata;
use latchkey_store::{
    ExportReceiver, ExportedAccount, ExportedPage, NewAccount, UndoImport, UndoneBatch, UpdateProfile,
};
use serde_json::json;

use super::fixtures::{World, at, email, object};
use super::import_acts::{nameless, record, told};

const HASH: &str = "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u";

fn with_password(name: &str) -> ImportRecord {
    ImportRecord { password: Some(ImportedHash::parse(HASH, false).unwrap()), ..plain(name) }
}

/// A record with an address and nothing else.
fn plain(name: &str) -> ImportRecord {
    ImportRecord { identities: Vec::new(), metadata: AppMetadata::default(), ..nameless(name) }
}

async fn bare(world: &World, name: &str) -> latchkey_domain::ids::UserId {
    let account = NewAccount { password: None, ..world.account(name, at(0)) };
    world.create_account(account).await.unwrap();
    world.find_user_by_email(email(name).key()).await.unwrap().unwrap().id
}

pub(super) async fn a_record_that_is_two_accounts_fills_none(world: World) {
    let ada = bare(&world, "ada").await;
    let results = world.import(ConflictPolicy::Skip, vec![record("bob")], at(1)).await;
    let bob = results[0].user_id.unwrap();

    let by_id = ImportRecord { id: Some(bob), ..with_password("ada") };
    let by_identity = ImportRecord { identities: record("bob").identities, ..with_password("ada") };
    for (of_bob, code) in [(by_id, ProblemCode::IdTaken), (by_identity, ProblemCode::IdentityTaken)] {
        let results = world.import(ConflictPolicy::Update, vec![of_bob], at(2)).await;
        assert_eq!(told(&results), [(RecordOutcome::Refused, vec![code])]);
        assert!(!world.user(ada).await.has_password);
    }
    let own = ImportRecord { id: Some(ada), ..with_password("ada") };
    let results = world.import(ConflictPolicy::Update, vec![own], at(3)).await;
    assert_eq!(told(&results), [(RecordOutcome::Updated, vec![])]);
    assert!(world.user(ada).await.has_password);
}

pub(super) async fn an_update_gives_no_password_without_its_factor(world: World) {
    let ada = bare(&world, "ada").await;
    let bob = bare(&world, "bob").await;
    let totp = ImportTotp { secret: vec![7; 20], name: FactorName::of_totp() };
    let with_totp = ImportRecord { has_two_step: true, totp: vec![totp], ..with_password("ada") };
    let mut job = world.begun_import(ConflictPolicy::Update, at(1)).await;
    let mut batch = world.batch(&job, vec![with_totp, with_password("bob")], at(1));
    batch.records[1].problems = vec![Problem::of(ProblemCode::FactorNotCarried, "totp", "is encrypted")];

    let results = world.write(&mut job, batch).await;

    let left = (RecordOutcome::Skipped, vec![ProblemCode::FactorNotCarried]);
    assert_eq!(told(&results)[0], left);
    assert_eq!(results[1].outcome, RecordOutcome::Skipped);
    for id in [ada, bob] {
        assert!(!world.user(id).await.has_password, "the password alone would sign in");
    }
}

pub(super) async fn an_update_tells_what_it_does_not_take(world: World) {
    bare(&world, "ada").await;
    let more = ImportRecord {
        is_banned: true,
        custom: object(json!({"team": "x"})),
        metadata: AppMetadata::new(object(json!({"plan": "pro"}))).unwrap(),
        identities: Vec::new(),
        ..record("ada")
    };

    let results = world.import(ConflictPolicy::Update, vec![more], at(1)).await;

    assert_eq!(told(&results), [(RecordOutcome::Updated, vec![ProblemCode::FieldDropped])]);
    let message = &results[0].problems[0].message;
    assert!(message.ends_with("name, username, custom, banned"), "{message}");
}

pub(super) async fn a_password_is_as_proven_as_the_record_says(world: World) {
    let unproven = ImportRecord { is_password_proven: Some(false), ..with_password("ada") };
    let unknown = with_password("bob");
    let proven =
        ImportRecord { email_verified: false, is_password_proven: Some(true), ..with_password("eve") };
    world.import(ConflictPolicy::Skip, vec![unproven, unknown, proven], at(1)).await;
    bare(&world, "kim").await;
    let filled = ImportRecord { is_password_proven: Some(false), ..with_password("kim") };
    world.import(ConflictPolicy::Update, vec![filled], at(2)).await;

    let found = exported(&world, None).await;
    let proven = |name: &str| {
        let of = |one: &&ExportedAccount| one.user.email.key() == email(name).key();
        found.iter().find(of).unwrap().has_proven_password
    };
    assert_eq!(["ada", "bob", "eve", "kim"].map(proven), [false, true, true, false]);
}

pub(super) async fn an_export_has_the_issuers_of_identities(world: World) {
    world.import(ConflictPolicy::Skip, vec![record("ada")], at(1)).await;

    let found = exported(&world, None).await;

    let identity = &found[0].identities[0];
    assert_eq!(identity.provider, ProviderKey::parse("google").unwrap());
    assert_eq!(Some(identity.issuer.clone()), Issuer::parse("https://accounts.google.com"));
}

pub(super) async fn an_export_since_a_time_has_what_owners_changed(world: World) {
    let old = |name: &str| ImportRecord { updated_at: Some(at(-500)), ..record(name) };
    let records = vec![old("ada"), old("bob"), old("eve")];
    let results = world.import(ConflictPolicy::Skip, records, at(1)).await;
    let (ada, eve) = (results[0].user_id.unwrap(), results[2].user_id.unwrap());
    let patch = ProfilePatch { name: Some(Name::parse("Ada L.").unwrap()), ..ProfilePatch::default() };
    let update =
        UpdateProfile { user_id: ada, session: None, patch, if_version: None, create: None, now: at(50) };
    world.update_profile(update).await.unwrap();
    assert!(world.delete_profile(world.act(eve, AuditKind::ProfileDeleted, at(60))).await.unwrap().unwrap());

    let emails = async |since| -> Vec<Email> {
        let mut emails: Vec<_> =
            exported(&world, since).await.into_iter().map(|one| one.user.email).collect();
        emails.sort_by(|one, other| one.key().as_str().cmp(other.key().as_str()));
        emails
    };
    assert_eq!(emails(None).await.len(), 3);
    assert_eq!(emails(Some(at(50))).await, [email("ada"), email("eve")]);
    assert_eq!(emails(Some(at(60))).await, [email("eve")]);
    assert_eq!(emails(Some(at(61))).await, []);
}

pub(super) async fn an_undo_keeps_accounts_whose_profile_came_or_went(world: World) {
    let mut job = world.begun_import(ConflictPolicy::Skip, at(0)).await;
    let mut batch = world.batch(&job, vec![record("ada"), plain("bob"), plain("eve")], at(1));
    for without in &mut batch.records[1..] {
        without.read.as_mut().unwrap().profile = None;
    }
    let results = world.write(&mut job, batch).await;
    let [ada, bob, eve] = [0, 1, 2].map(|at: usize| results[at].user_id.unwrap());
    world.end_import(job.0.id, job.1, ImportState::Done, None, at(2)).await.unwrap();
    let delete = async |id| world.delete_profile(world.act(id, AuditKind::ProfileDeleted, at(3))).await;
    assert!(delete(ada).await.unwrap().unwrap());
    assert!(!delete(eve).await.unwrap().unwrap(), "there was none");
    let create = NewProfile { id: world.profile_id(at(3)), name: Name::default(), avatar_url: None };
    let update = UpdateProfile {
        user_id: bob,
        session: None,
        patch: ProfilePatch::default(),
        if_version: None,
        create: Some(create),
        now: at(3),
    };
    world.update_profile(update).await.unwrap();

    let events = (0..3).map(|_| world.event(AuditKind::UserDeleted, at(4))).collect();
    let undo = UndoImport { id: job.0.id, after: 0, events, now: at(4) };
    let undone = world.undo_import_batch(undo).await.unwrap();

    assert_eq!(undone, UndoneBatch { last: Some(3), deleted: 1, changed: 2, ..UndoneBatch::default() });
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<ExportedAccount>>>);

impl ExportReceiver for Kept {
    fn take<'a: 'f, 'f>(&'a mut self, page: ExportedPage) -> Pin<Box<dyn Future<Output = bool> + Send + 'f>>
    where
        Self: 'f,
    {
        if let ExportedPage::Accounts(accounts) = page {
            self.0.lock().unwrap().extend(accounts);
        }
        Box::pin(ready(true))
    }
}

async fn exported(world: &World, since: Option<Timestamp>) -> Vec<ExportedAccount> {
    let kept = Kept::default();
    world.export_accounts(since, Box::new(kept.clone())).await.unwrap();
    std::mem::take(&mut *kept.0.lock().unwrap())
}
