//! Round trips of each operation: at most two. `--nocapture` prints the table.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(unused_must_use, reason = "an operation is run for its round trips, whatever its outcome")]

mod contract;
mod identity_world;
mod limit_world;
mod link_world;

use latchkey_domain::codes::{CodeForm, CodeMac, Purpose};
use latchkey_domain::identity::{Issuer, LegacyIdentities, ProviderKey};
use latchkey_domain::ids::{KeyId, LeaseId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::operator::Protection;
use latchkey_domain::page::Page;
use latchkey_domain::profile::{Bio, ProfilePatch, Username};
use latchkey_domain::search::SearchQuery;
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::user_list::{UserFilter, UserSearch, UserSort, UserState};
use latchkey_store::{
    Accounts, AdminUsers, Audit, CodeAttempt, Consent, EmailCodes, EndedSession, FailedSignIn, Identities,
    Lease, Limits, LinkIdentity, Linker, ListEvents, ListLiveSessions, ListMails, ListUsers, MailFate,
    NewAccount, NewEmailCode, NewOAuthCode, NewSigningKey, NewToken, OAuthFlows, Outbox, PendingSignUp,
    PresentedCode, Profiles, RefreshSession, RequestEmailCode, ResetPassword, RetryMail, SessionFilter,
    SessionList, SessionPosition, Sessions, SettingChange, Settings, SignIn, SigningKeys, Store,
    UnlinkIdentity, Unlinker, UpdateProfile, UpdateUser, UserPosition,
};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore, Prepared};
use latchkey_store_suite::cluster::counting_proxy::{self, RoundTrips};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use latchkey_store_suite::conformance::numbered::{
    LANE, account, at, code, email, entry, event, key, mail, presented, refresh, session, token, user_id,
};
use tempfile::TempDir;

use identity_world::{flow, identity, with_identity};
use limit_world::{account_limits, guard, password, takes};
use link_world::{by_token, link, open_link};
/// A store behind the counting proxy, and the rows measured so far.
struct Measured {
    store: PostgresStore,
    trips: RoundTrips,
    table: Vec<(&'static str, usize)>,
    _guards: (TestDatabase, TempDir),
}

impl Measured {
    async fn new(prepared: Prepared) -> Self {
        let cluster = TestCluster::shared();
        let database = cluster.database();
        let folder = tempfile::tempdir().unwrap();
        let trips = counting_proxy::start(folder.path(), cluster.folder());
        let url = database
            .url()
            .replace(&cluster.folder().display().to_string(), &folder.path().display().to_string());
        // One connection, so that each named statement is prepared only once.
        let options = PostgresOptions { pool_size: 1, prepared, ..PostgresOptions::new(url) };
        let store = Postgres::connect(options).await.unwrap();
        Self { store, trips, table: Vec::new(), _guards: (database, folder) }
    }
}

/// Runs an operation of the contract and records its cost, with a note if there are several cases.
macro_rules! op {
    ($measured:ident . $method:ident ($($argument:expr),* $(,)?) $(, $case:literal)?) => {{
        let _ = $measured.trips.take();
        let outcome = $measured.store.$method($($argument),*).await.unwrap();
        let name = concat!(stringify!($method), $(", ", $case)?);
        $measured.table.push((name, $measured.trips.take()));
        outcome
    }};
}

mod account_acts;
mod email_change;
mod email_sign_in;
mod operators;
mod own_account;
mod page_sessions;
mod passkeys;
mod passwords;
mod providers;
mod two_step;

fn request(number: u64, purpose: Purpose, email_code: NewEmailCode) -> RequestEmailCode {
    RequestEmailCode {
        email: key(number),
        purpose,
        takes: takes(),
        email_code,
        mail: mail(next()),
        now: at(0),
    }
}

fn attempt(number: u64, code: u8) -> CodeAttempt {
    CodeAttempt {
        email: key(number),
        mac: CodeMac::from_bytes([code; 32]),
        form: CodeForm::SixDigits,
        lane: LANE,
        caller: Some(session(1).id),
        takes: takes(),
        event: event(next()),
        now: at(1),
    }
}

/// Returns a number that no id uses yet.
fn next() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(100_000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

async fn accounts(measured: &mut Measured) {
    let m = measured;
    op!(m.create_account_and_enter(account(1), entry(session(1))));
    op!(m.create_account(account(1)), "taken");
    op!(m.begin_sign_up(&key(2), &takes(), at(0))).unwrap();
    let pending = |number| PendingSignUp {
        account: NewAccount {
            id: user_id(next()),
            email_verified: false,
            event: event(next()),
            browser: Some(token(1)),
            ..account(number)
        },
        email_code: code(1),
        mail: mail(next()),
    };
    let sign_up = |number| {
        let mut sign_up = pending(number);
        if let Some(profile) = &mut sign_up.account.profile {
            profile.id =
                latchkey_domain::ids::ProfileId::new(at(0), [u8::try_from(next() % 256).unwrap(); 10]);
        }
        sign_up
    };
    op!(m.sign_up_pending(sign_up(2)), "free");
    op!(m.sign_up_pending(sign_up(2)), "pending");
    op!(m.sign_up_pending(sign_up(1)), "taken");
    op!(m.find_user(user_id(1)));
    op!(m.find_user_by_email(&key(1)));
}

async fn sessions(m: &mut Measured) {
    op!(m.begin_sign_in(&key(1), &takes(), Some(&guard()), at(0)), "with limits").unwrap();
    op!(m.begin_sign_in(&key(9), &[], Some(&guard()), at(0)), "without limits").unwrap();
    op!(m.fail_sign_in(FailedSignIn { guard: Some(guard()), event: event(next()), now: at(0) })).unwrap();
    let checked = account(1).password.unwrap();
    let sign_in = SignIn {
        user_id: user_id(1),
        checked: checked.clone(),
        rehashed: Some(password("new")),
        entry: entry(session(300)),
        guard: Some(guard()),
        event: event(next()),
    };
    let plain = SignIn { rehashed: None, entry: entry(session(2)), event: event(next()), ..sign_in.clone() };
    op!(m.sign_in(plain), "plain").unwrap();
    op!(m.sign_in(sign_in), "rehashed").unwrap();
    op!(m.find_live_session(session(1).id, at(1)));
    op!(m.find_session_owner(session(1).id, at(1)));
    op!(m.find_session_profile(session(1).id, at(1)));
    op!(m.is_refresh_token_good(presented(&session(1), session(1).refresh), at(1)));
    let refresh = || RefreshSession {
        mail: Some(mail(next())),
        ..refresh(presented(&session(1), session(1).refresh), event(next()), at(10))
    };
    op!(m.refresh_session(refresh()), "rotated");
    op!(m.refresh_session(refresh()), "same successor");
    op!(m.list_sessions(user_id(1), at(1)));
    let (filter, position) = (SessionFilter::default(), SessionPosition::First);
    op!(m.list_live_sessions(ListLiveSessions { filter, position, limit: 10, now: at(1) }));
    passwords::measure(m).await;
    op!(m.end_sessions(EndedSession::OthersOf(user_id(1), session(1).id), event(next()), at(12)), "others");
    let by_token = EndedSession::OfRefreshToken(presented(&session(1), token(5)));
    op!(m.end_sessions(by_token, event(next()), at(12)), "by token");
    op!(m.end_sessions(EndedSession::Own(user_id(1), session(1).id), event(next()), at(12)), "own");
    op!(m.refresh_session(RefreshSession { now: at(1_000), ..refresh() }), "refused");
}

async fn email_codes(m: &mut Measured) {
    let unverified = |number| NewAccount { email_verified: false, ..account(number) };
    m.store.create_account(unverified(3)).await.unwrap();
    m.store.create_account(unverified(4)).await.unwrap();
    m.store.create_account(unverified(5)).await.unwrap();
    op!(m.request_email_code(request(3, Purpose::VerifyEmail, code(1))), "code").unwrap();
    op!(m.request_email_code(request(30, Purpose::VerifyEmail, code(1))), "unknown address").unwrap();
    op!(m.verify_by_code(attempt(3, 9), entry(session(3))), "wrong").unwrap();
    op!(m.verify_by_code(attempt(3, 1), entry(session(3))), "right").unwrap();
    op!(m.verify_by_code(attempt(30, 1), entry(session(3))), "unknown address").unwrap();
    op!(m.request_email_code(request(4, Purpose::VerifyEmail, link(40))), "link").unwrap();
    op!(m.inspect_link(token(40), Purpose::VerifyEmail, &takes(), at(1))).unwrap();
    op!(m.open_verify_link(open_link(Consent::Unasked, takes(), event(next()))), "asks").unwrap();
    op!(m.open_verify_link(open_link(Consent::Given, takes(), event(next())))).unwrap();
    op!(m.open_verify_link(open_link(Consent::Unasked, Vec::new(), event(next()))), "again").unwrap();
    m.store.request_email_code(request(5, Purpose::VerifyEmail, link(50))).await.unwrap().unwrap();
    op!(m.verify_by_token(by_token(takes(), event(next())), entry(session(5)))).unwrap();
    op!(m.request_email_code(request(3, Purpose::ResetPassword, code(2))), "reset").unwrap();
    op!(m.use_email_code(attempt(3, 3), Purpose::ResetPassword)).unwrap();
    op!(m.exchange_reset_code(attempt(3, 2), NewToken { hash: token(60), expires_at: at(900) })).unwrap();
    op!(m.begin_reset(token(60), &takes(), at(2))).unwrap();
    let reset = || ResetPassword {
        token: token(60),
        password: password("reset"),
        event: event(next()),
        mail: Some(mail(next())),
        cleared: Some(mail(next())),
        now: at(2),
    };
    op!(m.reset_password(reset()), "good");
    op!(m.reset_password(reset()), "used");
}

async fn profiles_and_admin(measured: &mut Measured) {
    let m = measured;
    let patch = ProfilePatch {
        username: Some(Some(Username::parse("countess").unwrap())),
        bio: Some(Some(Bio::parse("of engines").unwrap())),
        ..ProfilePatch::default()
    };
    let (ada, session, now) = (user_id(1), Some(session(1).id), at(1));
    let update = |patch| UpdateProfile { user_id: ada, session, patch, if_version: None, create: None, now };
    op!(m.find_profile(user_id(1)));
    op!(m.update_profile(update(patch)));
    op!(m.update_profile(update(ProfilePatch::default())), "empty");
    op!(m.search_profiles(&SearchQuery::parse("engines us").unwrap(), Page::new(20, 0)));
    let list = |filter| ListUsers {
        filter,
        order: UserSort::Created.order(),
        position: UserPosition::Offset(0),
        limit: 10,
    };
    let searched = UserFilter { search: UserSearch::parse("user"), ..UserFilter::default() };
    let banned = UserFilter { state: Some(UserState::Banned), ..UserFilter::default() };
    op!(m.list_users(&list(UserFilter::default())), "all");
    op!(m.list_users(&list(searched)), "searched");
    op!(m.list_users(&list(banned)), "filtered");
    let change = UpdateUser {
        id: user_id(1),
        email: Some(email(11)),
        email_verified: Some(true),
        banned: Some(true),
        restore: None,
        metadata: Some(latchkey_domain::user::AppMetadata::default()),
        events: vec![event(next()), event(next())],
        mail: Some(mail(next())),
        protection: Protection::Operators,
        now: at(3),
    };
    op!(m.update_user(change));
    account_acts::measure(m).await;
    op!(m.delete_users(
        &[user_id(3), user_id(4), user_id(999)],
        vec![event(next()), event(next()), event(next())],
        Protection::Operators,
    ));
}

async fn identities(measured: &mut Measured) {
    let m = measured;
    m.store.create_account(account(6)).await.unwrap();
    m.store.create_account(NewAccount { email_verified: false, ..account(7) }).await.unwrap();
    op!(m.sign_in_with_identity(with_identity(next, "8", 8, 80)), "new account");
    op!(m.sign_in_with_identity(with_identity(next, "8", 8, 81)), "linked");
    op!(m.sign_in_with_identity(with_identity(next, "6", 6, 60)), "to be linked");
    op!(m.sign_in_with_identity(with_identity(next, "7", 7, 70)), "taken over");
    let (user_id, session_id, now) = (user_id(6), session(60).id, at(1));
    let linker = Some(Linker { user_id, session_id });
    let (identity_66, earlier, happened) = (identity("66", 9), LegacyIdentities::Apart, event(next()));
    let link = LinkIdentity {
        user_id,
        session_id,
        identity: identity_66,
        earlier,
        event: happened,
        mail: Some(mail(next())),
        now,
    };
    op!(m.link_identity(link));
    op!(m.list_identities(user_id));
    let provider = ProviderKey::parse("google").unwrap();
    op!(m.settle_issuers(&[(provider.clone(), Issuer::unknown())]));
    let flow = flow(token(next()), linker);
    op!(m.begin_flow(flow.clone()));
    op!(m.take_flow(flow.state, now));
    let code = NewOAuthCode {
        code: token(next()),
        code_challenge: token(1),
        identity: identity("67", 6),
        linker: None,
        rules: with_identity(next, "67", 6, 0).rules,
        created_at: now,
        expires_at: at(60),
    };
    op!(m.save_oauth_code(code.clone()));
    op!(m.take_oauth_code(PresentedCode { code: code.code, code_challenge: token(1), caller: None, now }));
    op!(m.unlink_identity(UnlinkIdentity {
        user_id,
        provider: provider.clone(),
        subject: None,
        offer: SignInOffer { providers: vec![provider], ..SignInOffer::default() },
        by: Unlinker::Admin(Protection::Operators),
        event: event(next()),
        mail: Some(mail(next())),
        now
    }));
}

async fn the_rest(measured: &mut Measured) {
    let m = measured;
    let lease = Lease { id: LeaseId::new(at(0), [9; 10]), until: at(60) };
    let mails = op!(m.claim_mails(lease, &MailSchedule::default(), 10, at(5)));
    op!(m.settle_mail(mails[0].id, lease.id, MailFate::Sent, at(6)));
    op!(m.next_mail_due());
    op!(m.list_mails(&ListMails::newest(None, 10)));
    op!(m.find_mail(mails[0].id));
    op!(m.retry_mails(vec![RetryMail { id: mails[0].id, event: event(next()) }], at(7)));
    op!(m.take(&takes(), at(0))).unwrap();
    op!(m.find_account_limits(&account_limits()));
    op!(m.load_settings());
    let changes = ["a", "b", "c"].map(|key| SettingChange { key: key.to_owned(), value: Some(1.into()) });
    op!(m.save_settings(&changes, event(next()), at(0)));
    op!(m.shared_version());
    let new_key = || NewSigningKey {
        id: KeyId::new(at(0), [u8::try_from(next() % 256).unwrap(); 10]),
        algorithm: "ES256".to_owned(),
        sealed: vec![1; 100],
        created_at: at(0),
    };
    let first = op!(m.ensure_signing_key(new_key()), "none");
    op!(m.ensure_signing_key(new_key()), "there");
    op!(m.list_signing_keys(at(0)));
    op!(m.rotate_signing_key(new_key(), first.id, at(100), event(next())));
    op!(m.record_event(event(next())));
    op!(m.list_events(ListEvents { limit: 10, ..ListEvents::default() }));
    op!(m.check());
    op!(m.purge(at(10_000_000)));
    op!(m.purge_sign_ups(at(10_000_000)));
}

async fn measure_all(prepared: Prepared) -> Measured {
    let mut measured = Measured::new(prepared).await;
    accounts(&mut measured).await;
    sessions(&mut measured).await;
    email_codes(&mut measured).await;
    two_step::measure(&mut measured).await;
    own_account::measure(&mut measured).await;
    operators::measure(&mut measured).await;
    page_sessions::measure(&mut measured).await;
    passkeys::measure(&mut measured).await;
    email_change::measure(&mut measured).await;
    email_sign_in::measure(&mut measured).await;
    profiles_and_admin(&mut measured).await;
    identities(&mut measured).await;
    providers::measure(&mut measured).await;
    the_rest(&mut measured).await;
    measured
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_takes_more_than_two_round_trips() {
    let measured = measure_all(Prepared::Never).await;
    contract::assert_all_measured(measured.table.iter().map(|(name, _)| *name));
    println!("| operation | round trips |\n|---|---|");
    for (name, trips) in &measured.table {
        println!("| {name} | {trips} |");
    }
    // A purge runs in the background and repeats while rows are left.
    let waited_for = measured.table.iter().filter(|(name, _)| *name != "purge");
    let slow: Vec<_> = waited_for.filter(|(_, trips)| !(1..=2).contains(trips)).collect();
    assert!(slow.is_empty(), "{slow:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_works_with_named_statements() {
    let measured = measure_all(Prepared::Named).await;
    let is_read_again = |(name, trips): &&(&str, usize)| *name == "refresh_session, refused" && *trips == 1;
    assert!(measured.table.iter().any(|row| is_read_again(&row)), "what is prepared is not prepared again");
}
