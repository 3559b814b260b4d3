//! Scripts: batches of statements that an operation hands to an engine.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::Take;
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;

use super::{Sql, Value};

/// Statements executed in order, all or none. PostgreSQL gets them in one round trip.
#[derive(Default)]
pub struct Script {
    statements: Vec<Statement>,
}

/// Handle of a statement's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// A statement of a script.
pub enum Statement {
    /// Returns rows and changes none. SQLite executes it when its result is requested, after all changes of the
    /// script, so a read must come after the changes.
    Read(&'static Sql, Vec<Value>),
    /// Changes rows and returns none.
    Change(&'static Sql, Vec<Value>),
    /// Takes from token buckets.
    Take(TakeRequest),
    /// Writes a profile; the engine keeps its search index up to date.
    Profile(ProfileWrite),
    /// Notifies other instances, on commit, that settings, providers or keys changed.
    Announce,
}

/// Tokens to take from all buckets, or from none if one is empty.
#[derive(Clone)]
pub struct TakeRequest {
    /// At most one per bucket.
    pub takes: Vec<Take>,
    /// Condition: this session is live and its user has this address; otherwise nothing is taken.
    pub only_for: Option<(SessionId, EmailKey)>,
    /// Time of the request.
    pub now: Timestamp,
}

/// A profile write.
pub enum ProfileWrite {
    /// Insert. Visible in search unless its user is banned or pending.
    Create(Profile),
    /// Update of an existing profile with a changed name, username or bio.
    Save(Profile),
    /// Update of an existing profile without a change of searchable text.
    SaveUnsearched(Profile),
    /// Update of an existing profile that must also remove its previous text from the index.
    Clear(Profile),
}

impl Statement {
    const fn is_changing(&self) -> bool {
        !matches!(self, Self::Read(..))
    }
}

impl Slot {
    /// Zero-based position in the script.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

impl Script {
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    #[must_use]
    pub fn into_statements(self) -> Vec<Statement> {
        self.statements
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// True if any statement changes rows.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.statements.iter().any(Statement::is_changing)
    }

    /// True if a statement after this one changes rows.
    #[must_use]
    pub fn is_changing_after(&self, slot: Slot) -> bool {
        self.statements.iter().skip(slot.0 + 1).any(Statement::is_changing)
    }

    fn add(&mut self, statement: Statement) -> Slot {
        self.statements.push(statement);
        Slot(self.statements.len() - 1)
    }

    /// Adds a read; it locks rows if its text says so.
    pub fn read(&mut self, sql: &'static Sql, values: Vec<Value>) -> Slot {
        self.add(Statement::Read(sql, values))
    }

    /// Adds a change.
    pub fn change(&mut self, sql: &'static Sql, values: Vec<Value>) -> Slot {
        self.add(Statement::Change(sql, values))
    }

    /// Adds a take from each bucket, all or none.
    pub fn take(&mut self, takes: &[Take], now: Timestamp) -> Slot {
        self.add(Statement::Take(TakeRequest { takes: takes.to_vec(), only_for: None, now }))
    }

    /// Adds a conditional take: it needs a live session whose user has this address.
    pub fn take_for(&mut self, takes: &[Take], session: SessionId, email: &EmailKey, now: Timestamp) -> Slot {
        let only_for = Some((session, email.clone()));
        self.add(Statement::Take(TakeRequest { takes: takes.to_vec(), only_for, now }))
    }

    pub fn write_profile(&mut self, write: ProfileWrite) {
        self.add(Statement::Profile(write));
    }

    pub fn create_profile(&mut self, profile: Profile) {
        self.write_profile(ProfileWrite::Create(profile));
    }

    /// Adds a notification of other instances.
    pub fn announce(&mut self) {
        self.add(Statement::Announce);
    }

    /// Script of one read.
    #[must_use]
    pub fn of_read(sql: &'static Sql, values: Vec<Value>) -> (Self, Slot) {
        let mut script = Self::default();
        let slot = script.read(sql, values);
        (script, slot)
    }

    /// Script of one change.
    #[must_use]
    pub fn of_change(sql: &'static Sql, values: Vec<Value>) -> (Self, Slot) {
        let mut script = Self::default();
        let slot = script.change(sql, values);
        (script, slot)
    }
}
