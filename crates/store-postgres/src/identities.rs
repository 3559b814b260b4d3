//! Identities. Who may open which account with one is decided by [`latchkey_domain::identity`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::identity::{
    Candidate, IdentityRules, IdentityVerdict, ProvenIdentity, ProviderKey, Subject, judge_sign_in,
    keeps_a_way_in,
};
use latchkey_domain::ids::UserId;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    Identities, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity, SignInWithIdentity, StoreError,
    StoreResult, UnlinkIdentity, UnlinkOutcome,
};
use tokio_postgres::Row;

use crate::accounts::{self, Account, Pending, account_columns, account_tables};
use crate::errors::{EngineFault, Fallible, again};
use crate::profiles::{self, profile_columns};
use crate::proof::{Proven, prove};
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, values};
use crate::{audit, challenges, sessions, sign_up};

/// Most identities of a user that are listed.
const LISTED: u32 = 1_000;

/// The account that an identity is about: the one that it is linked to, else the one of its address.
macro_rules! concerned {
    () => {
        "coalesce((SELECT user_id FROM identities WHERE provider = $1 AND subject = $2),
            (SELECT id FROM users WHERE email_key = $3))"
    };
}

const LOCK_CONCERNED: &str = concat!("SELECT id FROM users WHERE id = ", concerned!(), " FOR NO KEY UPDATE");
const FIND_CONCERNED: &str = concat!(
    "SELECT EXISTS (SELECT 1 FROM identities AS k WHERE k.provider = $1 AND k.subject = $2), ",
    account_columns!(),
    " FROM ",
    account_tables!(),
    " WHERE u.id = ",
    concerned!()
);
const FIND_PROFILE: &str =
    concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = ", concerned!());
const FIND_OWNER: &str = "SELECT user_id FROM identities WHERE provider = $1 AND subject = $2";
const LINK: &str = "
    INSERT INTO identities (provider, subject, user_id, created_at, email) VALUES ($1, $2, $3, $4, $5)";
const UNLINK: &str = "DELETE FROM identities WHERE provider = $1 AND subject = $2 AND user_id = $3";
const LIST: &str = "
    SELECT provider, subject, email, created_at FROM identities WHERE user_id = $1
    ORDER BY created_at, provider, subject LIMIT $2";
const NOTE_TOKEN: &str = "
    INSERT INTO oauth_used_tokens (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";

#[async_trait]
impl Identities for PostgresStore {
    async fn sign_in_with_identity(&self, sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome> {
        open_with_identity(self, &sign_in).await
    }

    async fn link_identity(&self, link: LinkIdentity) -> StoreResult<LinkOutcome> {
        link_identity(self, &link).await
    }

    async fn unlink_identity(&self, unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome> {
        unlink_identity(self, &unlink).await
    }

    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>> {
        Ok(self.ask(LIST, values![user_id, LISTED]).await?.list(read_linked)?)
    }
}

/// Where the account that an identity is about is found.
#[derive(Clone, Copy)]
pub(crate) struct Concerned(Slot);

/// What stands where an identity wants to sign in, and what it may do.
pub(crate) struct Judged {
    pub(crate) verdict: IdentityVerdict,
    /// The account that it is about, if there is one.
    pub(crate) account: Option<Account>,
}

impl Concerned {
    /// Reads it.
    pub(crate) fn find(script: &mut Script, identity: &ProvenIdentity) -> Self {
        Self(script.add(FIND_CONCERNED, concerned(identity)))
    }

    /// Judges a sign-in as things stand.
    pub(crate) fn judge(
        self,
        answers: &Answers,
        identity: &ProvenIdentity,
        rules: IdentityRules,
    ) -> Fallible<Judged> {
        let found = answers.find(self.0, |row| {
            let mut cells = Cells::new(row, "identities");
            Ok((cells.flag("user_id")?, accounts::read_account(cells.of("users"))?))
        })?;
        let verdict = match &found {
            Some((true, owner)) => judge_sign_in(identity, Some(&owner.user), None, rules),
            Some((false, account)) => {
                let was_ever_verified = account.first_verified_at.is_some();
                let candidate = Candidate { user: &account.user, was_ever_verified };
                judge_sign_in(identity, None, Some(candidate), rules)
            }
            None => judge_sign_in(identity, None, None, rules),
        };
        Ok(Judged { verdict, account: found.map(|(_, account)| account) })
    }
}

fn named(identity: &ProvenIdentity) -> Vec<Value> {
    values![identity.provider.as_str(), identity.subject.as_str()]
}

fn concerned(identity: &ProvenIdentity) -> Vec<Value> {
    let mut values = named(identity);
    values.push(Value::from(identity.email.as_ref().map(|email| email.key().as_str())));
    values
}

/// Reads whose an identity is.
pub(crate) fn find_owner(script: &mut Script, identity: &ProvenIdentity) -> Slot {
    script.add(FIND_OWNER, named(identity))
}

/// Whose an identity is.
pub(crate) fn owner(answers: &Answers, slot: Slot) -> Fallible<Option<UserId>> {
    answers.find(slot, |row| Cells::new(row, "identities").id("user_id"))
}

async fn open_with_identity(
    store: &PostgresStore,
    sign_in: &SignInWithIdentity,
) -> StoreResult<IdentityOutcome> {
    let identity = &sign_in.identity;
    let mut reads = Script::default();
    // Whoever brings the same token waits here for the first.
    let noted = sign_in.token.map(|token| reads.add(NOTE_TOKEN, values![&token.hash, token.expires_at]));
    let locked = reads.add(LOCK_CONCERNED, concerned(identity));
    let concerned_account = Concerned::find(&mut reads, identity);
    let profile = reads.add(FIND_PROFILE, concerned(identity));
    store
        .transact(&reads, |answers| {
            if noted.is_some_and(|slot| answers.affected(slot) == 0) {
                let mut writes = Script::default();
                audit::record(&mut writes, sign_in.events.replayed.clone())?;
                return Ok(Step::done(writes, IdentityOutcome::Replayed));
            }
            let Judged { verdict, account } = concerned_account.judge(answers, identity, sign_in.rules)?;
            let held = answers.find(locked, |row| Cells::new(row, "users").id::<UserId>("id"))?;
            if account.as_ref().map(|account| account.user.id) != held {
                // It was made, linked or deleted between the lock and the look.
                return Err(again(EngineFault::Moved));
            }
            if let IdentityVerdict::Refused(refusal) = verdict {
                let mut writes = Script::default();
                audit::record(&mut writes, AuditEvent { user_id: held, ..sign_in.events.refused.clone() })?;
                return Ok(Step::done(writes, IdentityOutcome::Refused(refusal)));
            }
            let proven = match account {
                Some(account) => Some(Proven { account, profile: profiles::profile(answers, profile)? }),
                None => None,
            };
            open(sign_in, verdict, proven.as_ref())
        })
        .await
}

/// Does what the verdict says and opens the session.
fn open(
    sign_in: &SignInWithIdentity,
    verdict: IdentityVerdict,
    proven: Option<&Proven>,
) -> Fallible<Step<IdentityOutcome>> {
    let SignInWithIdentity { identity, session, events, .. } = sign_in;
    let now = session.created_at;
    let user_id = proven.map_or(sign_in.user_id, |proven| proven.account.user.id);
    let mut writes = Script::default();
    let mut happened = Vec::new();
    match (verdict, proven) {
        (IdentityVerdict::Create, _) => {
            let account = sign_in.account().ok_or(StoreError::Corrupt { table: "users", column: "email" })?;
            accounts::insert(&mut writes, &account, account.email.key().as_str(), Pending::No)?;
            if !account.email_verified {
                sign_up::contest(&mut writes, user_id, now);
            }
            link(&mut writes, user_id, identity, now);
            happened.push(&events.signed_up);
        }
        (IdentityVerdict::TakeOver, Some(proven)) => {
            take_over(&mut writes, proven, sign_in)?;
            happened.extend([&events.verified, &events.linked]);
        }
        (IdentityVerdict::Link, Some(_)) => {
            link(&mut writes, user_id, identity, now);
            happened.push(&events.linked);
        }
        _ => {}
    }
    if proven.is_some_and(|proven| proven.account.user.is_pending) {
        sessions::pend_no_more(&mut writes, user_id, now);
    }
    sessions::open(&mut writes, user_id, session);
    happened.push(&events.signed_in);
    let of_session = |event: &AuditEvent| AuditEvent {
        user_id: Some(user_id),
        session_id: Some(session.id),
        ..event.clone()
    };
    audit::record_all(&mut writes, happened.into_iter().map(of_session).collect())?;
    let user = accounts::find_by_id(&mut writes, user_id);
    Ok(Step::write(writes, move |answers| {
        Ok(IdentityOutcome::Opened(Box::new(accounts::user_that_is(answers, user)?)))
    }))
}

fn take_over(writes: &mut Script, proven: &Proven, sign_in: &SignInWithIdentity) -> Fallible<()> {
    let SignInWithIdentity { identity, session, .. } = sign_in;
    let (id, now) = (proven.account.user.id, session.created_at);
    challenges::end_all_of(writes, id, now);
    prove(writes, proven, Proof::Provider, now)?;
    if let Some(profile) = &proven.profile {
        let cleared = profile.without_public_text(now);
        profiles::save(writes, &cleared.introduced(&identity.name, identity.avatar_url.as_ref(), now))?;
    }
    link(writes, id, identity, now);
    Ok(())
}

fn link(writes: &mut Script, user_id: UserId, identity: &ProvenIdentity, now: Timestamp) {
    let mut values = named(identity);
    values.extend(values![user_id, now, identity.email.as_ref().map(Email::as_typed)]);
    writes.add(LINK, values);
    accounts::touch(writes, user_id, now);
}

async fn link_identity(store: &PostgresStore, request: &LinkIdentity) -> StoreResult<LinkOutcome> {
    let LinkIdentity { user_id, session_id, identity, event, now } = request;
    let (user_id, session_id, now) = (*user_id, *session_id, *now);
    let mut reads = Script::default();
    accounts::lock_by_id(&mut reads, user_id);
    let session = sessions::find_owner(&mut reads, session_id, now);
    let linked_to = find_owner(&mut reads, identity);
    let found = accounts::find_by_id(&mut reads, user_id);
    store
        .transact(&reads, |answers| {
            if sessions::owner(answers, session)? != Some(user_id) {
                return Ok(Step::Answer(LinkOutcome::Gone));
            }
            match owner(answers, linked_to)? {
                Some(owner) if owner == user_id => {
                    let user = accounts::user_that_is(answers, found)?;
                    return Ok(Step::Answer(LinkOutcome::Linked(Box::new(user))));
                }
                Some(_) => return Ok(Step::Answer(LinkOutcome::Taken)),
                None => {}
            }
            let mut writes = Script::default();
            link(&mut writes, user_id, identity, now);
            audit::record_in(&mut writes, event.clone(), user_id, session_id)?;
            let user = accounts::find_by_id(&mut writes, user_id);
            Ok(Step::write(writes, move |answers| {
                Ok(LinkOutcome::Linked(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}

async fn unlink_identity(store: &PostgresStore, request: &UnlinkIdentity) -> StoreResult<UnlinkOutcome> {
    let UnlinkIdentity { user_id, provider, subject, offered, event, now } = request;
    let user_id = *user_id;
    let mut reads = Script::default();
    accounts::lock_by_id(&mut reads, user_id);
    let all = reads.add(LIST, values![user_id, LISTED]);
    let found = accounts::find_by_id(&mut reads, user_id);
    let is_named = |one: &LinkedIdentity| {
        one.provider == provider.as_str()
            && subject.as_ref().map(Subject::as_str).is_none_or(|subject| subject == one.subject)
    };
    store
        .transact(&reads, |answers| {
            let all = answers.list(all, read_linked)?;
            let (named, left): (Vec<_>, Vec<_>) = all.into_iter().partition(is_named);
            let Some(account) = accounts::account(answers, found)?.filter(|_| !named.is_empty()) else {
                return Ok(Step::Answer(UnlinkOutcome::NotFound));
            };
            let left: Vec<_> = left.iter().filter_map(|one| ProviderKey::parse(&one.provider).ok()).collect();
            if !keeps_a_way_in(account.user.has_password, &left, offered) {
                return Ok(Step::Answer(UnlinkOutcome::LastWayIn));
            }
            let mut writes = Script::default();
            for one in named {
                writes.add(UNLINK, values![one.provider, one.subject, user_id]);
            }
            accounts::touch(&mut writes, user_id, *now);
            audit::record_of(&mut writes, event.clone(), user_id)?;
            let user = accounts::find_by_id(&mut writes, user_id);
            Ok(Step::write(writes, move |answers| {
                Ok(UnlinkOutcome::Unlinked(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}

fn read_linked(row: &Row) -> Fallible<LinkedIdentity> {
    let mut cells = Cells::new(row, "identities");
    Ok(LinkedIdentity {
        provider: cells.text("provider")?.to_owned(),
        subject: cells.text("subject")?.to_owned(),
        email: cells.maybe_email("email")?,
        created_at: cells.time("created_at")?,
    })
}
