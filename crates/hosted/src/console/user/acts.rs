//! What the forms of a user's page do. Each calls the use case that the API and the command line call.

use std::str::FromStr;

use latchkey_domain::identity::{ProviderKey, Subject};
use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::strict_json::parse_object;
use latchkey_domain::user::AppMetadata;
use latchkey_http::path::PathText;
use latchkey_pages::console::{Notice, Problem, Refusal};
use latchkey_service::Error;
use latchkey_service::admin::{HelpMail, UserChange};
use latchkey_service::refusal::{
    IDENTITY_NOT_FOUND, OPERATOR_PROTECTED, PASSKEY_NOT_FOUND, PROFILE_NOT_FOUND, SESSION_NOT_FOUND,
};

use super::super::mails;
use super::super::rejection::Rejection;
use super::super::seen;
use super::super::stop::Outcome;
use super::super::submission::{ConsoleSubmission, Sent};
use super::super::users;
use super::super::visit::ConsoleVisit;
use super::forms::{ACT, PROVIDER, SUBJECT, UserAct};
use crate::errors::PageError;
use crate::fields::Fields;

/// Name of the field of a new password.
const NEW_PASSWORD: &str = "new_password";

pub(super) async fn act(PathText(id): PathText, mut sent: Sent) -> Outcome {
    let id = UserId::from_str(&id).map_err(|_| sent.visit.not_found())?;
    let name = sent.visit.query.optional(ACT)?.unwrap_or_default();
    let act = UserAct::parse(&name).ok_or_else(PageError::bad_request)?;
    sent.visit.concerns(id);
    let submission = sent.must(act.needed()).await?;
    if let Some(needed) = act.needed_for_operators() {
        submission.must_be_recent_for_operators(needed, &[id]).await?;
    }
    let ConsoleSubmission { visit, mut fields } = submission;
    match run(act, id, &visit, &mut fields).await {
        Ok(notice @ Notice::AccountDeleted { .. }) => visit.go_to_with(users::PATH, notice),
        Ok(notice) => visit.go_to_with(visit.path(), notice),
        Err(rejection) => {
            if rejection.is(OPERATOR_PROTECTED.name) {
                visit.record_refusal(act.needed()).await?;
            }
            refuse(&visit, id, &fields, rejection).await
        }
    }
}

/// Shows the page again with what was typed, except a password.
async fn refuse(visit: &ConsoleVisit, id: UserId, fields: &Fields, rejection: Rejection) -> Outcome {
    let mut view = super::view(visit, id).await?;
    if let Some(address) = &mut view.acts.change_address {
        address.email = fields.text("email")?;
    }
    let metadata = fields.text("metadata")?;
    if !metadata.is_empty() {
        view.metadata_now = seen::is_other(fields, &view.metadata)?.then_some(view.metadata);
        view.metadata = metadata;
    }
    visit.refuse(rejection, &view)
}

async fn run(
    act: UserAct,
    id: UserId,
    visit: &ConsoleVisit,
    fields: &mut Fields,
) -> Result<Notice, Rejection> {
    match act {
        UserAct::EndSessions => end_sessions(id, visit).await,
        UserAct::EndSession => end_session(id, visit, fields).await,
        UserAct::SendVerification => send(id, HelpMail::Verification, visit).await,
        UserAct::SendReset => send(id, HelpMail::Reset, visit).await,
        UserAct::RetryMail => mails::retry(visit, &fields.text("id")?).await,
        UserAct::LiftLimits => lift_limits(id, visit).await,
        UserAct::Ban => {
            let banned = UserChange { banned: Some(true), ..UserChange::default() };
            change(id, visit, banned, Notice::AccountBanned).await
        }
        UserAct::Unban => {
            let unbanned = UserChange { banned: Some(false), ..UserChange::default() };
            change(id, visit, unbanned, Notice::AccountUnbanned).await
        }
        UserAct::Keep => {
            let kept = UserChange { restore: true, ..UserChange::default() };
            change(id, visit, kept, Notice::DeletionStopped).await
        }
        UserAct::MarkVerified => {
            let verified = UserChange { email_verified: Some(true), ..UserChange::default() };
            change(id, visit, verified, Notice::AddressVerified).await
        }
        UserAct::ChangeAddress => change_address(id, visit, fields).await,
        UserAct::SaveMetadata => save_metadata(id, visit, fields).await,
        UserAct::SetPassword => set_password(id, visit, fields).await,
        UserAct::RemoveProfileText => remove_profile_text(id, visit).await,
        UserAct::RemovePasskey => remove_passkey(id, visit, fields).await,
        UserAct::RemoveFactors => remove_factors(id, visit).await,
        UserAct::Unlink => unlink(id, visit).await,
        UserAct::Delete => delete(id, visit, fields).await,
    }
}

async fn end_sessions(id: UserId, visit: &ConsoleVisit) -> Result<Notice, Rejection> {
    visit.service().admin.end_all_sessions(id, visit.party(), Some(&visit.to_client())).await?;
    Ok(Notice::AllSessionsEnded)
}

/// Ends a session. One that has ended already is no problem.
async fn end_session(id: UserId, visit: &ConsoleVisit, fields: &Fields) -> Result<Notice, Rejection> {
    let session = fields.text("id")?.parse::<SessionId>().map_err(|_| visit.not_found())?;
    let (party, client) = (visit.party(), visit.to_client());
    let ended = visit.service().admin.end_session(id, session, party, Some(&client)).await;
    or_done(ended, &SESSION_NOT_FOUND)?;
    Ok(Notice::OneSessionEnded)
}

async fn send(id: UserId, mail: HelpMail, visit: &ConsoleVisit) -> Result<Notice, Rejection> {
    let (party, client) = (visit.party(), visit.to_client());
    let email = visit.service().admin.send_mail(id, mail, None, party, Some(&client)).await?;
    Ok(Notice::MailSent { email: email.as_typed().to_owned() })
}

async fn lift_limits(id: UserId, visit: &ConsoleVisit) -> Result<Notice, Rejection> {
    visit.service().admin.lift_limits(id, visit.party(), Some(&visit.to_client())).await?;
    Ok(Notice::LimitsLifted)
}

async fn change(
    id: UserId,
    visit: &ConsoleVisit,
    change: UserChange,
    notice: Notice,
) -> Result<Notice, Rejection> {
    visit.service().admin.change_user(id, change, visit.party(), Some(&visit.to_client())).await?;
    Ok(notice)
}

async fn change_address(id: UserId, visit: &ConsoleVisit, fields: &mut Fields) -> Result<Notice, Rejection> {
    let Some(email) = fields.email("email")? else { return Err(fields.rejection().into()) };
    let known = visit.service().admin.find_user(id).await?.email;
    let notice = match () {
        () if known.as_typed() == email.as_typed() => Notice::AddressSame,
        () if known.key() == email.key() => Notice::AddressSpelled,
        () => Notice::AddressChanged,
    };
    let moved = UserChange { email: Some(email), ..UserChange::default() };
    change(id, visit, moved, notice).await
}

async fn save_metadata(id: UserId, visit: &ConsoleVisit, fields: &Fields) -> Result<Notice, Rejection> {
    let known = visit.service().admin.find_user(id).await?.metadata;
    if seen::is_other(fields, &super::shown::json(known.as_map()))? {
        return Err(seen::changed(Refusal::MetadataChanged));
    }
    let metadata = metadata(&fields.text("metadata")?)
        .map_err(|line| Rejection::of(Problem::at("metadata", Refusal::InvalidMetadata { line })))?;
    let saved = UserChange { metadata: Some(metadata), ..UserChange::default() };
    change(id, visit, saved, Notice::MetadataSaved).await
}

/// Parses metadata. The error is the line of the first fault: for too large an object, the last one.
fn metadata(text: &str) -> Result<AppMetadata, u64> {
    let object = parse_object("metadata", text.as_bytes()).map_err(|problem| problem.line as u64)?;
    AppMetadata::new(object).map_err(|_| text.lines().count() as u64)
}

async fn set_password(id: UserId, visit: &ConsoleVisit, fields: &mut Fields) -> Result<Notice, Rejection> {
    let Some(password) = fields.password(NEW_PASSWORD)? else { return Err(fields.rejection().into()) };
    let (party, client) = (visit.party(), visit.to_client());
    let set = visit.service().admin.set_password(id, password, party, Some(&client)).await;
    let least = visit.service().settings().values.password_min_length;
    set.map_err(|error| of_new_password(error.into(), least))?;
    let user = visit.service().admin.find_user(id).await?;
    let is_mailed = user.may_be_notified(MailKind::PasswordReplaced);
    Ok(if is_mailed { Notice::PasswordReplaced } else { Notice::PasswordReplacedUnmailed })
}

/// Words a refusal of a new password: at its field, with the minimum length in force.
fn of_new_password(rejection: Rejection, least: usize) -> Rejection {
    rejection.with_least(least).with_problems(|problems| {
        for problem in problems.iter_mut().filter(|problem| problem.field == Some("password")) {
            problem.field = Some(NEW_PASSWORD);
        }
    })
}

/// Removes the text of the profile. A profile that is gone is no problem.
async fn remove_profile_text(id: UserId, visit: &ConsoleVisit) -> Result<Notice, Rejection> {
    let cleared = visit.service().admin.clear_profile(id, visit.party(), Some(&visit.to_client())).await;
    or_done(cleared, &PROFILE_NOT_FOUND)?;
    Ok(Notice::ProfileTextRemoved)
}

/// Removes a passkey. One that is gone is no problem.
async fn remove_passkey(id: UserId, visit: &ConsoleVisit, fields: &Fields) -> Result<Notice, Rejection> {
    let passkey = fields.text("id")?.parse::<PasskeyId>().map_err(|_| visit.not_found())?;
    let (party, client) = (visit.party(), visit.to_client());
    let removed = visit.service().passkeys.remove_of(id, passkey, party, &client).await;
    or_done(removed, &PASSKEY_NOT_FOUND)?;
    Ok(Notice::FactorRemoved)
}

async fn remove_factors(id: UserId, visit: &ConsoleVisit) -> Result<Notice, Rejection> {
    let (party, client) = (visit.party(), visit.to_client());
    visit.service().factors.reset(id, true, party, Some(&client)).await?;
    Ok(Notice::FactorsRemoved)
}

/// Unlinks an identity. One that is gone is no problem; what can be none is not found.
async fn unlink(id: UserId, visit: &ConsoleVisit) -> Result<Notice, Rejection> {
    let text = |name| visit.query.optional(name).map(Option::unwrap_or_default);
    let (provider, subject) = (text(PROVIDER)?, text(SUBJECT)?);
    if ProviderKey::parse(&provider).is_err() || Subject::parse(&subject).is_none() {
        return Err(visit.not_found().into());
    }
    let (party, client) = (visit.party(), visit.to_client());
    let identity = (provider.as_str(), Some(subject.as_str()));
    match visit.service().admin.unlink_identity(id, identity, party, Some(&client)).await {
        Ok(()) => Ok(Notice::IdentityRemoved),
        Err(Error::Refused(refusal)) if *refusal == IDENTITY_NOT_FOUND => Ok(Notice::IdentityGone),
        Err(error) => Err(error.into()),
    }
}

/// Deletes the account, if its address was typed.
async fn delete(id: UserId, visit: &ConsoleVisit, fields: &Fields) -> Result<Notice, Rejection> {
    let admin = &visit.service().admin;
    let email = admin.find_user(id).await?.email;
    if fields.text("confirmation")?.trim() != email.as_typed() {
        return Err(Rejection::of(Problem::at("confirmation", Refusal::NotConfirmed)));
    }
    admin.delete_users(&[id], visit.party(), Some(&visit.to_client())).await?;
    Ok(Notice::AccountDeleted { email: email.as_typed().to_owned() })
}

/// Takes a refusal that says that the thing is gone already for success.
fn or_done(done: Result<(), Error>, gone: &latchkey_service::Refusal) -> Result<(), Error> {
    match done {
        Err(Error::Refused(refusal)) if refusal == gone => Ok(()),
        done => done,
    }
}
