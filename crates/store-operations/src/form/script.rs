//! Scripts: batches of SQL statements that an operation passes to an engine.

use std::sync::Arc;

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::Take;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

use super::{Sql, Value};

/// Values of one row that a [`Statement::Rows`] writes. Cloning it is cheap.
pub type ManyValues = Arc<[Value]>;

/// Statements that are executed in order, all or none. PostgreSQL gets them in one round trip.
#[derive(Default)]
pub struct Script {
    statements: Vec<Statement>,
}

/// Handle of a statement in a script, by which its result is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

pub enum Statement {
    /// Returns rows and changes none. SQLite executes it when its result is requested, after all changes of the
    /// script, so a read must come after the changes.
    Read(&'static Sql, Vec<Value>),
    /// Changes rows and returns none.
    Change(&'static Sql, Vec<Value>),
    Take(TakeRequest),
    /// Writes a profile. The engine also updates its search index.
    Profile(ProfileWrite),
    /// Executes a statement once for each row. PostgreSQL gets one array per column, so the text for PostgreSQL takes its
    /// rows from `unnest`. Its result is not requested.
    Rows(&'static Sql, Vec<ManyValues>),
    /// Inserts profiles, each with the values of `tables::profiles::create_values` and its searchable text.
    NewProfiles(Vec<Arc<(Vec<Value>, SearchText)>>),
    /// Notifies the other instances of the service, at the commit, that settings, identity providers or
    /// signing keys changed.
    Announce,
}

/// Request for one token from each of several token buckets of rate limits. Either all are taken, or none if
/// a bucket is empty.
#[derive(Clone)]
pub struct TakeRequest {
    /// Buckets to take one token from, each at most once.
    pub takes: Vec<Take>,
    /// Session and email address. If given, tokens are taken only if the session is live and its user has this address.
    pub only_for: Option<(SessionId, EmailKey)>,
    pub now: Timestamp,
}

/// Write of a profile. The variants differ in their effect on the search index.
pub enum ProfileWrite {
    /// Inserts a profile. It is visible in search unless its user is banned or pending.
    Create(Profile),
    /// Updates a profile whose name, username or bio changed.
    Save(Profile),
    /// Updates a profile without a change of searchable text.
    SaveUnsearched(Profile),
    /// Updates a profile and removes its previous text from the search index at once.
    Clear(Profile),
}

impl Statement {
    const fn is_changing(&self) -> bool {
        !matches!(self, Self::Read(..))
    }
}

impl Slot {
    /// Returns the handle of the statement at this position, from 0.
    pub(crate) const fn at(position: usize) -> Self {
        Self(position)
    }

    /// Returns the position of the statement in the script, from 0.
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

    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.statements.iter().any(Statement::is_changing)
    }

    #[must_use]
    pub fn is_changing_after(&self, slot: Slot) -> bool {
        self.statements.iter().skip(slot.0 + 1).any(Statement::is_changing)
    }

    fn add(&mut self, statement: Statement) -> Slot {
        self.statements.push(statement);
        Slot(self.statements.len() - 1)
    }

    /// Adds a read. It locks rows if its SQL has a locking clause.
    pub fn read(&mut self, sql: &'static Sql, values: Vec<Value>) -> Slot {
        self.add(Statement::Read(sql, values))
    }

    pub fn change(&mut self, sql: &'static Sql, values: Vec<Value>) -> Slot {
        self.add(Statement::Change(sql, values))
    }

    /// Adds a statement that is executed once for each row; none without rows.
    pub fn change_many(&mut self, sql: &'static Sql, rows: Vec<ManyValues>) {
        if !rows.is_empty() {
            self.add(Statement::Rows(sql, rows));
        }
    }

    /// Adds the insertion of several profiles.
    pub fn create_profiles(&mut self, profiles: Vec<Arc<(Vec<Value>, SearchText)>>) {
        if !profiles.is_empty() {
            self.add(Statement::NewProfiles(profiles));
        }
    }

    /// Adds a statement that takes a token from each bucket, or none if one of them is empty.
    pub fn take(&mut self, takes: &[Take], now: Timestamp) -> Slot {
        self.add(Statement::Take(TakeRequest { takes: takes.to_vec(), only_for: None, now }))
    }

    /// Adds a statement that takes a token from each bucket, or none if one of them is empty, if the session
    /// is not live, or if its user has another email address.
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

    /// Adds a notification of the other instances of the service that settings, identity providers or signing
    /// keys changed.
    pub fn announce(&mut self) {
        self.add(Statement::Announce);
    }

    #[must_use]
    pub fn of_read(sql: &'static Sql, values: Vec<Value>) -> (Self, Slot) {
        let mut script = Self::default();
        let slot = script.read(sql, values);
        (script, slot)
    }

    #[must_use]
    pub fn of_change(sql: &'static Sql, values: Vec<Value>) -> (Self, Slot) {
        let mut script = Self::default();
        let slot = script.change(sql, values);
        (script, slot)
    }
}
