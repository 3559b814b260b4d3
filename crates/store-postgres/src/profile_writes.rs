//! Statements that write profiles, with the trigrams of the search index.

use std::sync::Arc;

use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_store::StoreResult;
use latchkey_store_operations::form;
use latchkey_store_operations::form::ProfileWrite;
use latchkey_store_operations::tables::profiles::{
    CREATE_ALL_WITH_TRIGRAMS, CREATE_WITH_TRIGRAMS, SAVE_UNSEARCHED, SAVE_WITH_TRIGRAMS, create_values,
    save_unsearched_values, save_values, searched_text,
};

use crate::script::Script;
use crate::values::Value;
use crate::{columns, trigrams};

/// Adds a statement that writes a profile. Trigrams are computed only if the searchable text may have
/// changed.
pub(crate) fn add(script: &mut Script, write: &ProfileWrite) -> StoreResult<()> {
    match write {
        ProfileWrite::Create(profile) => {
            script.add(CREATE_WITH_TRIGRAMS, with_trigrams(create_values(profile)?, profile));
        }
        ProfileWrite::Save(profile) | ProfileWrite::Clear(profile) => {
            script.add(SAVE_WITH_TRIGRAMS, with_trigrams(save_values(profile)?, profile));
        }
        ProfileWrite::SaveUnsearched(profile) => {
            let values = save_unsearched_values(profile)?.into_iter().map(Value::from);
            script.add(SAVE_UNSEARCHED.postgres(), values.collect());
        }
    }
    Ok(())
}

/// Adds a statement that inserts profiles, given as one array per column.
pub(crate) fn add_all(script: &mut Script, profiles: &[Arc<(Vec<form::Value>, SearchText)>]) {
    let mut values = columns::of(profiles, |profile, at| profile.0.get(at));
    values
        .push(Value::Texts(profiles.iter().map(|profile| Some(trigrams::array_text(&profile.1))).collect()));
    script.add(CREATE_ALL_WITH_TRIGRAMS, values);
}

fn with_trigrams(values: Vec<form::Value>, profile: &Profile) -> Vec<Value> {
    let mut values: Vec<Value> = values.into_iter().map(Value::from).collect();
    values.push(Value::Trigrams(trigrams::of_text(&searched_text(profile))));
    values
}
