//! Decision what becomes of a record, from what the database has already. Both engines share it, and the dry run.

use serde_json::{Map, Value};

use super::{ConflictPolicy, ImportRecord, Problem, ProblemCode};
use crate::user::{AppMetadata, UserId};

/// Account that has the email address of a record.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct Occupant {
    /// Id of the account.
    pub id: UserId,
    /// True if the address is verified.
    pub email_verified: bool,
    /// True if the account was signed up, and never verified.
    pub is_pending: bool,
    /// True if the account is banned.
    pub is_banned: bool,
    /// True if the account has a grant as an operator.
    pub is_operator: bool,
    /// True if the account has a password.
    pub has_password: bool,
    /// Application data of the account.
    pub metadata: Map<String, Value>,
}

/// What the database, or an earlier record of the file, has of a record already.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clash {
    /// Account with the email address.
    pub occupant: Option<Occupant>,
    /// True if the address is reserved for the account that left it.
    pub is_reserved: bool,
    /// Account with the id.
    pub id_owner: Option<UserId>,
    /// Account with the username.
    pub username_owner: Option<UserId>,
    /// Account of each identity of the record.
    pub identity_owners: Vec<Option<UserId>>,
    /// True if another account, or an earlier record, has a passkey of the record.
    pub is_passkey_taken: bool,
    /// True if an earlier record of the file has the email address.
    pub is_duplicate: bool,
    /// True if the source asks for a second factor that was left out of the record already.
    pub has_lost_factor: bool,
}

/// What a record adds to an account.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filling {
    /// Application data of the account afterwards; `None` leaves it as it is.
    pub metadata: Option<AppMetadata>,
    /// True if the account gets the password of the record.
    pub takes_password: bool,
    /// Positions of the identities that are linked.
    pub identities: Vec<usize>,
}

impl Filling {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Decision about a record. Problems are those of fields that are left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Create an account.
    Create {
        /// Pending account with the address, which is deleted first.
        replaces: Option<UserId>,
        /// True if the account gets the username of the record.
        keeps_username: bool,
    },
    /// Fill what the account lacks.
    Update {
        /// Account with the address.
        id: UserId,
        /// What it gets.
        filling: Filling,
        /// Problems of what is left out.
        problems: Vec<Problem>,
    },
    /// Leave the account as it is.
    Skip(Vec<Problem>),
    /// Refuse the record.
    Refuse(Problem),
    /// End the import before the record.
    Stop(Problem),
}

/// Decides what becomes of a record.
#[must_use]
pub fn judge(record: &ImportRecord, clash: &Clash, policy: ConflictPolicy) -> Verdict {
    if clash.is_duplicate {
        let message = "an earlier record has the address";
        return refuse_or_stop(Problem::of(ProblemCode::DuplicateInFile, "email", message), policy);
    }
    let gives_way = |found: &&Occupant| {
        found.is_pending && !found.is_banned && !found.is_operator && record.email_verified
    };
    let replaces = clash.occupant.as_ref().filter(gives_way).map(|found| found.id);
    if replaces.is_none()
        && let Some(verdict) = judge_taken(record, clash, policy)
    {
        return verdict;
    }
    let strange = strange_owner(clash, replaces).or_else(|| {
        let message = "another account has a passkey of the record";
        clash.is_passkey_taken.then(|| Problem::of(ProblemCode::IdentityTaken, "passkeys", message))
    });
    match strange {
        None => {
            let keeps_username = clash.username_owner.is_none_or(|owner| Some(owner) == replaces);
            Verdict::Create { replaces, keeps_username }
        }
        Some(problem) => refuse_or_stop(problem, policy),
    }
}

/// Returns the clash of the id or an identity with an account other than `own`.
fn strange_owner(clash: &Clash, own: Option<UserId>) -> Option<Problem> {
    let is_other = |owner: &Option<UserId>| owner.is_some() && *owner != own;
    if is_other(&clash.id_owner) {
        return Some(Problem::of(ProblemCode::IdTaken, "id", "another account has the id"));
    }
    let message = "an identity is linked to another account";
    let is_taken = clash.identity_owners.iter().any(is_other);
    is_taken.then(|| Problem::of(ProblemCode::IdentityTaken, "identities", message))
}

fn refuse_or_stop(problem: Problem, policy: ConflictPolicy) -> Verdict {
    match policy {
        ConflictPolicy::Fail => Verdict::Stop(problem),
        ConflictPolicy::Skip | ConflictPolicy::Update => Verdict::Refuse(problem),
    }
}

/// Decides about a record whose address an account has, or is reserved for one; `None` if the address is free.
fn judge_taken(record: &ImportRecord, clash: &Clash, policy: ConflictPolicy) -> Option<Verdict> {
    let taken = |message| Problem::of(ProblemCode::EmailTaken, "email", message);
    let Some(occupant) = &clash.occupant else {
        let problem = taken("the address is reserved for the account that left it");
        return clash.is_reserved.then(|| match policy {
            ConflictPolicy::Fail => Verdict::Stop(problem),
            ConflictPolicy::Skip | ConflictPolicy::Update => Verdict::Skip(vec![problem]),
        });
    };
    let problem = taken("an account has the address");
    Some(match policy {
        ConflictPolicy::Skip => Verdict::Skip(vec![problem]),
        ConflictPolicy::Fail => Verdict::Stop(problem),
        ConflictPolicy::Update if occupant.is_operator => {
            let message = "the account has a role in the console, and is not changed";
            Verdict::Refuse(Problem::of(ProblemCode::OperatorProtected, "email", message))
        }
        // A record that says two accounts are one is wrong about one of them.
        ConflictPolicy::Update => strange_owner(clash, Some(occupant.id))
            .map_or_else(|| fill(record, occupant, clash), Verdict::Refuse),
    })
}

fn fill(record: &ImportRecord, occupant: &Occupant, clash: &Clash) -> Verdict {
    let (mut filling, mut problems) = (Filling::default(), Vec::new());
    fill_metadata(record, occupant, &mut filling, &mut problems);

    let wants_password = record.password.is_some() && !occupant.has_password;
    let is_free = |(at, owner): (usize, &Option<UserId>)| owner.is_none().then_some(at);
    let wanted: Vec<usize> = clash.identity_owners.iter().enumerate().filter_map(is_free).collect();
    if record.email_verified && occupant.email_verified {
        filling.takes_password = wants_password && !needs_factor(record, clash);
        filling.identities = wanted;
    } else if wants_password || !wanted.is_empty() {
        let field = if wants_password { "passwordHash" } else { "identities" };
        let message = "the address is not verified in the file, or not at the account";
        problems.push(Problem::of(ProblemCode::NotTrusted, field, message));
    }
    problems.extend(factor_problem(record, wants_password && needs_factor(record, clash)));
    if filling.is_empty() && problems.is_empty() {
        problems.push(Problem::of(ProblemCode::EmailTaken, "email", "the account lacks nothing"));
    }
    problems.extend(kept_problem(record, occupant));
    if filling.is_empty() {
        return Verdict::Skip(problems);
    }
    Verdict::Update { id: occupant.id, filling, problems }
}

/// True if the password alone does not sign in at the source.
fn needs_factor(record: &ImportRecord, clash: &Clash) -> bool {
    record.has_two_step || !record.totp.is_empty() || clash.has_lost_factor
}

/// Returns the problem of factors, which an account that is there does not get: a file must not decide what its owner has to
/// show. Without them its password would open more here than at the source, so it is left out too.
fn factor_problem(record: &ImportRecord, costs_password: bool) -> Option<Problem> {
    let (field, message) = if costs_password {
        ("passwordHash", "is left out with the second factor, which an account that is there does not get")
    } else if !record.totp.is_empty() {
        ("totp", "an account that is there gets no factor")
    } else if !record.passkeys.is_empty() {
        ("passkeys", "an account that is there gets no passkey")
    } else {
        return None;
    };
    Some(Problem::of(ProblemCode::FactorNotCarried, field, message))
}

/// Returns the problem of the fields that an account that is there does not take from a record.
fn kept_problem(record: &ImportRecord, occupant: &Occupant) -> Option<Problem> {
    let fields = [
        ("name", !record.name.as_str().is_empty()),
        ("username", record.username.is_some()),
        ("avatarUrl", record.avatar_url.is_some()),
        ("bio", record.bio.is_some()),
        ("locale", record.locale.is_some()),
        ("profileMetadata", !record.profile_metadata.as_map().is_empty()),
        ("custom", !record.custom.is_empty()),
        ("banned", record.is_banned && !occupant.is_banned),
        ("deletesAt", record.deletes_at.is_some()),
    ];
    let kept: Vec<&str> = fields.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
    let message = || format!("an account that is there does not take: {}", kept.join(", "));
    let one = |message| Problem { message, ..Problem::new(ProblemCode::FieldDropped) };
    (!kept.is_empty()).then(|| one(message()))
}

fn fill_metadata(
    record: &ImportRecord,
    occupant: &Occupant,
    filling: &mut Filling,
    problems: &mut Vec<Problem>,
) {
    let mut metadata = occupant.metadata.clone();
    for (key, value) in record.metadata.as_map() {
        if !metadata.contains_key(key) {
            metadata.insert(key.clone(), value.clone());
        }
    }
    if metadata.len() == occupant.metadata.len() {
        return;
    }
    match AppMetadata::new(metadata) {
        Ok(metadata) => filling.metadata = Some(metadata),
        Err(error) => problems.push(Problem::of(ProblemCode::FieldDropped, "metadata", error)),
    }
}
