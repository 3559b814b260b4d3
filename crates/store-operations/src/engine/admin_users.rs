//! Operations on users that are reserved for admins: implementation of [`AdminUsers`].

use std::borrow::Cow;

use async_trait::async_trait;
use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::Email;
use latchkey_domain::email_verification::Verification;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::{Effect, Protection};
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_domain::user_list::{UserFilter, UserSearch};
use latchkey_store::{
    AccountAct, AdminUsers, ClearedProfile, GuardedResult, ListUsers, ReplacePassword, StoreResult,
    UpdateUser, UpdateUserOutcome, UserPage, UserPosition,
};

use super::{Engine, Own};
use crate::form::{Decided, Executor, NameQuery, Results, Script, Slot};
use crate::operations::operator_guard::OperatorReads;
use crate::operations::prove_mailbox::{Proven, prove};
use crate::operations::{account_acts, delete_account, request_code};
use crate::tables::users::list::broad::{self, Sizes};
use crate::tables::users::list::{Read, Way};
use crate::tables::{
    audit_events, codes, link_tokens, outbox, profiles, sessions, sign_up_attempts, undo_tokens, users,
};

#[crate::measured]
#[async_trait]
impl<E: Own> AdminUsers for Engine<E> {
    /// Lists a page of users. The page and the total number of users come from one snapshot.
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage> {
        match &list.filter.search {
            Some(search) => self.search_users(list, search).await,
            None => self.list_without_search(list).await,
        }
    }

    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome> {
        let mut reads = Script::default();
        users::lock_by_id(&mut reads, update.id);
        let guard = OperatorReads::find(&mut reads, greatest_effect(&update));
        let found = users::find_by_id(&mut reads, update.id);
        let profile = profiles::find_by_user(&mut reads, update.id);
        let owner = update.email.as_ref().map(|email| {
            let owner = users::find_other_owner(&mut reads, email.key(), update.id);
            (owner, undo_tokens::find_reservation(&mut reads, email.key(), Some(update.id), update.now))
        });
        self.transact(reads, move |results| {
            let Some(account) = users::account(results, found)? else {
                return Ok(Decided::Return(UpdateUserOutcome::NotFound));
            };
            let update = without_idle_parts(&account.user, &update);
            let guard = guard.lessened_to(effect(&account.user, &update));
            if let Err(refusal) = guard.judge(results, update.protection, &[update.id])? {
                return Ok(Decided::Return(UpdateUserOutcome::Refused(refusal)));
            }
            if let Some((owner, reservation)) = owner
                && (results.any(owner)? || undo_tokens::is_reserved(results, reservation)?)
            {
                return Ok(Decided::Return(UpdateUserOutcome::EmailTaken));
            }
            let proven = Proven { account, profile: profiles::profile(results, profile)? };
            let mut writes = Script::default();
            change(&mut writes, &proven, &update)?;
            let user = users::find_by_id(&mut writes, update.id);
            Ok(Decided::write(writes, move |results| updated(results, user)))
        })
        .await
    }

    /// Deletes users. An id that occurs twice is deleted once, and the first of its audit events is written.
    async fn delete_users(
        &self,
        ids: &[UserId],
        events: Vec<AuditEvent>,
        protection: Protection,
    ) -> GuardedResult<u64> {
        let mut named: Vec<(UserId, Option<AuditEvent>)> = Vec::with_capacity(ids.len());
        let mut events = events.into_iter();
        named.extend(ids.iter().map(|id| (*id, events.next())));
        // The stable sort puts the first event of a duplicate id first. The fixed order of locks prevents deadlocks.
        named.sort_by_key(|(id, _)| *id);
        named.dedup_by_key(|(id, _)| *id);
        let mut reads = Script::default();
        let locks: Vec<Slot> = named.iter().map(|(id, _)| users::lock_to_delete(&mut reads, *id)).collect();
        let guard = OperatorReads::find(&mut reads, Effect::Loss);
        self.transact(reads, move |results| {
            let ids: Vec<_> = named.iter().map(|(id, _)| *id).collect();
            if let Err(refusal) = guard.judge(results, protection, &ids)? {
                return Ok(Decided::Return(Err(refusal)));
            }
            let (mut writes, mut deleted) = (Script::default(), 0);
            for ((id, event), lock) in named.iter().zip(&locks) {
                if results.any(*lock)? {
                    delete_account::delete(&mut writes, *id);
                    if let Some(event) = event {
                        audit_events::record_of(&mut writes, event.clone(), *id)?;
                    }
                    deleted += 1;
                }
            }
            Ok(Decided::done(writes, Ok(deleted)))
        })
        .await
    }

    async fn end_all_sessions(&self, act: AccountAct) -> GuardedResult<Option<u64>> {
        account_acts::end_all_sessions(&self.0, act).await
    }

    async fn end_session(&self, act: AccountAct, id: SessionId) -> GuardedResult<bool> {
        account_acts::end_session(&self.0, act, id).await
    }

    async fn replace_password(&self, replace: ReplacePassword) -> GuardedResult<bool> {
        account_acts::replace_password(&self.0, replace).await
    }

    async fn find_profile_of_any(&self, id: UserId) -> StoreResult<Option<Profile>> {
        let mut reads = Script::default();
        let found = profiles::find_by_user(&mut reads, id);
        self.read(reads, move |results| profiles::profile(results, found)).await
    }

    async fn clear_profile(&self, act: AccountAct) -> GuardedResult<ClearedProfile> {
        account_acts::clear_profile(&self.0, act).await
    }

    async fn delete_profile(&self, act: AccountAct) -> GuardedResult<bool> {
        account_acts::delete_profile(&self.0, act).await
    }
}

impl<E: Own> Engine<E> {
    async fn list_without_search(&self, list: &ListUsers) -> StoreResult<UserPage> {
        let mut reads = Script::default();
        let read = users::list::read(&mut reads, list, self.way_to_page(list).await?);
        self.read_page(list, reads, read).await
    }

    /// Reads a page of a search in one of three ways: like the list without it, if it matches every user; along the index of the
    /// order, if many match; or from all matches.
    async fn search_users(&self, list: &ListUsers, search: &UserSearch) -> StoreResult<UserPage> {
        let names = Self::names(search);
        let is_exact = names.is_exact;
        let mut reads = Script::default();
        let all = users::list::find_if_all_match(&mut reads, search);
        let found = broad::is_countable(list, search).then(|| broad::find_sizes(&mut reads, search, &names));
        let finish = move |results: &Results<'_>| {
            let sizes = found.map(|found| broad::sizes(results, found, is_exact)).transpose()?;
            Ok((results.any(all)?, sizes.flatten()))
        };
        let (is_of_all, sizes) = self.read_long(reads, finish).await?;
        if is_of_all {
            let filter = UserFilter { search: None, ..list.filter.clone() };
            return self.list_without_search(&ListUsers { filter, ..list.clone() }).await;
        }
        if let Some((sizes, span)) = sizes.and_then(|sizes| Some((sizes, sizes.span(list, is_exact)?)))
            && let Some(page) = self.walk_search(list, search, &names, sizes, span).await?
        {
            return Ok(page);
        }
        let mut reads = Script::default();
        let read = users::list::search(&mut reads, list, search, names);
        self.read_page(list, reads, read).await
    }

    /// Returns the search for names in the words of the engine. It is empty if the search has no words.
    fn names(search: &UserSearch) -> NameQuery {
        let Some(name) = &search.name else { return NameQuery::default() };
        let (longest, others) = search.words();
        E::name_query(name, longest, others)
    }

    /// Reads the page of a search along the index of its order, past at most `span` users. Returns `None` if the matches lie so
    /// far apart that it is not full then.
    async fn walk_search(
        &self,
        list: &ListUsers,
        search: &UserSearch,
        names: &NameQuery,
        sizes: Sizes,
        span: u64,
    ) -> StoreResult<Option<UserPage>> {
        let mut reads = Script::default();
        let found = broad::find_end(&mut reads, list, span);
        let of = list.clone();
        let end = self.read_long(reads, move |results| broad::end(results, found, &of)).await?;
        let is_whole = end.is_none();
        let mut reads = Script::default();
        let read = broad::walk(&mut reads, list, search, names.clone(), sizes, end);
        let page = self.read_page(list, reads, read).await?;
        Ok(Some(page).filter(|page| is_whole || page.has_more))
    }

    async fn read_page(&self, list: &ListUsers, reads: Script, read: Read) -> StoreResult<UserPage> {
        let (limit, is_backwards) = (list.limit as usize, matches!(list.position, UserPosition::Before(_)));
        let finish = move |results: &Results<'_>| {
            let (mut users, total) = users::list::users(results, &read)?;
            let has_more = users.len() > limit;
            users.truncate(limit);
            if is_backwards {
                users.reverse();
            }
            Ok(UserPage { users, total, has_more })
        };
        self.read_long(reads, finish).await
    }

    /// Chooses the way to a page of the list. Without a filter there is one only.
    async fn way_to_page(&self, list: &ListUsers) -> StoreResult<Way> {
        if list.filter == UserFilter::default() {
            return Ok(Way::Walk);
        }
        let mut reads = Script::default();
        let numbers = users::list::find_numbers(&mut reads, &list.filter);
        let list = list.clone();
        let finish =
            move |results: &Results<'_>| Ok(Way::of(&list, users::list::numbers(results, &numbers)?));
        self.read_long(reads, finish).await
    }
}

fn updated(results: &Results<'_>, user: Slot) -> StoreResult<UpdateUserOutcome> {
    Ok(UpdateUserOutcome::Updated(Box::new(users::user_that_is(results, user)?)))
}

/// Returns the change without what the user has already, the address in this spelling or the ban: it changes nothing and is
/// no event.
fn without_idle_parts<'a>(user: &User, update: &'a UpdateUser) -> Cow<'a, UpdateUser> {
    let is_own = update.email.as_ref().is_some_and(|email| email.as_typed() == user.email.as_typed());
    let is_as_banned = update.banned == Some(user.is_banned());
    if !is_own && !is_as_banned {
        return Cow::Borrowed(update);
    }
    let mut rest = update.clone();
    if is_own {
        rest.email = None;
        rest.events.retain(|event| event.kind != AuditKind::EmailChanged);
    }
    if is_as_banned {
        rest.banned = None;
        rest.events.retain(|event| !matches!(event.kind, AuditKind::UserBanned | AuditKind::UserUnbanned));
    }
    Cow::Owned(rest)
}

/// Returns the greatest effect that a change can have on an operator, whatever the account is.
fn greatest_effect(update: &UpdateUser) -> Effect {
    let may_unverify = update.email_verified.map_or(update.email.is_some(), |is_verified| !is_verified);
    if may_unverify || update.banned == Some(true) { Effect::Loss } else { Effect::Change }
}

/// Returns the effect of a change on an operator: a ban and an unverified address close the console.
fn effect(user: &User, update: &UpdateUser) -> Effect {
    let unverifies = match update.email_verified {
        Some(is_verified) => !is_verified,
        None => is_moved(user, update),
    };
    if unverifies || update.banned == Some(true) { Effect::Loss } else { Effect::Change }
}

/// True if the change gives the user another address, not only another spelling.
fn is_moved(user: &User, update: &UpdateUser) -> bool {
    update.email.as_ref().is_some_and(|email| email.key() != user.email.key())
}

fn change(writes: &mut Script, there: &Proven, update: &UpdateUser) -> StoreResult<()> {
    let UpdateUser { id, email, email_verified, banned, metadata, restore, events, mail, now, .. } = update;
    let (id, now, user) = (*id, *now, &there.account.user);
    let is_moved = is_moved(user, update);
    if let Some(email) = email {
        set_email(writes, user, email, now);
    }
    if is_moved {
        outbox::notify(writes, user, mail.as_ref(), MailKind::EmailChanged, now);
    }
    match email_verified {
        Some(true) if is_moved || !user.email_verified => {
            codes::delete_codes_of(writes, id, Purpose::VerifyEmail);
            prove(writes, there, Verification::Vouched, None, now);
        }
        Some(false) => unverify(writes, id, now),
        None if is_moved => unverify(writes, id, now),
        Some(true) | None => {}
    }
    if let Some(restoral) = restore.as_ref().filter(|_| user.is_in_deletion()) {
        delete_account::restore(writes, user, restoral, now)?;
    }
    if let Some(is_banned) = banned {
        set_banned(writes, user, *is_banned, now);
    }
    if let Some(metadata) = metadata {
        users::set_metadata(writes, id, metadata)?;
    }
    if email.is_some() || email_verified.is_some() || banned.is_some() || metadata.is_some() {
        users::touch(writes, id, now);
    }
    events.iter().try_for_each(|event| audit_events::record_of(writes, event.clone(), id))
}

/// Changes the email address. Codes and tokens mailed to the former address become invalid, unless only the spelling
/// changes.
fn set_email(writes: &mut Script, user: &User, email: &Email, now: Timestamp) {
    users::set_email(writes, user.id, email);
    if email.key() != user.email.key() {
        request_code::end_all_of(writes, user.id, now);
        // An admin's change is final: undo links mailed to an earlier address must not revert it.
        undo_tokens::delete_all_of(writes, user.id);
        sign_up_attempts::delete(writes, user.id); // made for the former address
    }
}

/// Marks the email address as unverified. Verification links that were used already are invalidated too: a used link
/// still verifies when it is opened again.
fn unverify(writes: &mut Script, id: UserId, now: Timestamp) {
    link_tokens::supersede_tokens_of(writes, id, Purpose::VerifyEmail, now);
    users::set_unverified(writes, id);
}

fn set_banned(writes: &mut Script, user: &User, is_banned: bool, now: Timestamp) {
    if is_banned {
        request_code::end_all_of(writes, user.id, now);
        sessions::end_all_of(writes, user.id, now);
    }
    users::set_banned(writes, user.id, is_banned.then_some(now));
    profiles::show_or_hide(writes, user.id);
}
