//! Writes of profiles. Triggers record which profiles are to be indexed for the search.

use std::sync::Arc;

use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_store_operations::form::{ProfileWrite, Sql, Value};
use latchkey_store_operations::tables::profiles::{
    CREATE, SAVE, SAVE_UNSEARCHED, create_values, save_unsearched_values, save_values,
};
use rusqlite::{Connection, params_from_iter};

use crate::errors::Fallible;
use crate::many_rows;
use crate::rows::Parameter;
use crate::search::pending;
use crate::statements::execute;

/// Writes a profile. Folding its text for search costs more than the write itself, so an unchanged text is
/// not folded again.
pub(crate) fn write(conn: &Connection, write: &ProfileWrite) -> Fallible<()> {
    match write {
        ProfileWrite::Create(profile) => run(conn, &CREATE, &create_values(profile)?),
        ProfileWrite::Save(profile) => save(conn, profile),
        ProfileWrite::SaveUnsearched(profile) => {
            run(conn, &SAVE_UNSEARCHED, &save_unsearched_values(profile)?)
        }
        ProfileWrite::Clear(profile) => {
            save(conn, profile)?;
            pending::index_profile_of(conn, profile.user_id)
        }
    }
}

/// Inserts profiles, whose text is folded already.
pub(crate) fn create_all(conn: &Connection, profiles: &[Arc<(Vec<Value>, SearchText)>]) -> Fallible<()> {
    let rows: Vec<&[Value]> = profiles.iter().map(|profile| profile.0.as_slice()).collect();
    many_rows::insert(conn, CREATE.sqlite(), &rows)
}

fn save(conn: &Connection, profile: &Profile) -> Fallible<()> {
    run(conn, &SAVE, &save_values(profile)?)
}

fn run(conn: &Connection, sql: &Sql, values: &[Value]) -> Fallible<()> {
    execute(conn, sql.sqlite(), params_from_iter(values.iter().map(Parameter)))?;
    Ok(())
}
