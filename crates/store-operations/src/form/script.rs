//! Scripts: the statements that an operation gives to an engine together.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::Take;
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;

use super::{Sql, Value};

/// Statements that run in their order, all or none. PostgreSQL gets them in one round trip.
#[derive(Default)]
pub struct Script {
    statements: Vec<Statement>,
}

/// The place of a statement's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// One step of a script.
pub enum Statement {
    /// Yields rows and changes none. SQLite runs it whenever its result is asked for, after all changes of the script:
    /// a read whose result is asked for stands behind them.
    Read(&'static Sql, Vec<Value>),
    /// Changes rows, and yields none.
    Change(&'static Sql, Vec<Value>),
    /// Takes tokens out of buckets.
    Take(TakeRequest),
    /// Writes a profile. Engines keep their search up to date with it.
    Profile(ProfileWrite),
    /// Tells other instances that settings or keys changed, with the commit.
    Announce,
}

/// Tokens to be taken from all buckets, or from none where one is empty.
#[derive(Clone)]
pub struct TakeRequest {
    /// One per bucket.
    pub takes: Vec<Take>,
    /// Takes nothing unless this session lives and its user has this address.
    pub only_for: Option<(SessionId, EmailKey)>,
    /// The time of the request.
    pub now: Timestamp,
}

/// A profile to be written.
pub enum ProfileWrite {
    /// A new one. Search finds it unless its user is banned or pending.
    Create(Profile),
    /// One that exists, with a changed name, username or bio.
    Save(Profile),
    /// One that exists, with none of the texts changed that search compares.
    SaveUnsearched(Profile),
    /// One that exists, and nothing of its former texts may stay in an index.
    Clear(Profile),
}

impl Statement {
    const fn is_changing(&self) -> bool {
        !matches!(self, Self::Read(..))
    }
}

impl Slot {
    /// The number of the statement in its script, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

impl Script {
    /// The statements, in their order.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The statements, to be turned into an engine's own.
    #[must_use]
    pub fn into_statements(self) -> Vec<Statement> {
        self.statements
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.statements.iter().any(Statement::is_changing)
    }

    /// Whether changes stand behind this statement.
    #[must_use]
    pub fn is_changing_after(&self, slot: Slot) -> bool {
        self.statements.iter().skip(slot.0 + 1).any(Statement::is_changing)
    }

    fn add(&mut self, statement: Statement) -> Slot {
        self.statements.push(statement);
        Slot(self.statements.len() - 1)
    }

    /// Reads rows; with a row lock where the text has one.
    pub fn read(&mut self, sql: &'static Sql, values: Vec<Value>) -> Slot {
        self.add(Statement::Read(sql, values))
    }

    /// Changes rows.
    pub fn change(&mut self, sql: &'static Sql, values: Vec<Value>) -> Slot {
        self.add(Statement::Change(sql, values))
    }

    /// Takes a token from each bucket, or from none where one is empty.
    pub fn take(&mut self, takes: &[Take], now: Timestamp) -> Slot {
        self.add(Statement::Take(TakeRequest { takes: takes.to_vec(), only_for: None, now }))
    }

    /// The same, and from none unless the session lives and its user has this address.
    pub fn take_for(&mut self, takes: &[Take], session: SessionId, email: &EmailKey, now: Timestamp) -> Slot {
        let only_for = Some((session, email.clone()));
        self.add(Statement::Take(TakeRequest { takes: takes.to_vec(), only_for, now }))
    }

    /// Writes a profile.
    pub fn write_profile(&mut self, write: ProfileWrite) {
        self.add(Statement::Profile(write));
    }

    /// Writes a new profile.
    pub fn create_profile(&mut self, profile: Profile) {
        self.write_profile(ProfileWrite::Create(profile));
    }

    /// Tells other instances that settings or keys changed.
    pub fn announce(&mut self) {
        self.add(Statement::Announce);
    }

    /// A script of one read.
    #[must_use]
    pub fn of_read(sql: &'static Sql, values: Vec<Value>) -> (Self, Slot) {
        let mut script = Self::default();
        let slot = script.read(sql, values);
        (script, slot)
    }

    /// A script of one change.
    #[must_use]
    pub fn of_change(sql: &'static Sql, values: Vec<Value>) -> (Self, Slot) {
        let mut script = Self::default();
        let slot = script.change(sql, values);
        (script, slot)
    }
}
