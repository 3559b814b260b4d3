//! Parameters and bodies of admin calls. Nothing unknown is ignored: a key or parameter that the call does not know is
//! 400 `VALIDATION_ERROR` with the nearest known name, so that a misspelt one never passes for a change.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequest, Request};
use latchkey_domain::reason::Reason;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::body::{JsonBody, fields_of, from_object};
use crate::error::{ApiError, Result, codes};
use crate::query::{Query, names_of};
use crate::settings::HttpSettings;

/// Known on every call: clients add it to all of theirs.
const EVERYWHERE: &str = "client_type";

/// Most characters of an unknown name that a message repeats.
const NAME_SHOWN: usize = 64;

/// Least likeness of a name that is suggested, from 0 to 1.
const LIKENESS: f64 = 0.6;

/// The body of an admin call. Its known keys are the fields of the struct.
pub trait AdminRequest: DeserializeOwned {
    /// Known keys that are accepted and ignored: in a PUT or PATCH, those that the GET of the resource shows and this
    /// request does not write.
    const IGNORED: &'static [&'static str] = &[];
}

/// A JSON body like [`JsonBody`] that refuses unknown keys.
pub struct AdminBody<T>(pub T);

/// The body of a call that takes none: an empty one, or an object without keys.
#[derive(Deserialize)]
pub struct NoKeys {}

impl AdminRequest for NoKeys {}

impl<S, T> FromRequest<S> for AdminBody<T>
where
    S: Send + Sync,
    T: AdminRequest,
    Arc<HttpSettings>: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let JsonBody(object) = JsonBody::<Map<String, Value>>::from_request(request, state).await?;
        let fields = fields_of::<T>();
        let known = || fields.iter().chain(T::IGNORED).copied();
        for key in object.keys() {
            check_name(key, known())?;
        }
        from_object(object).map(Self)
    }
}

/// The query string of an admin call, before its parameters are known.
pub struct AdminQuery(pub(crate) String);

impl AdminQuery {
    /// The parameters, where all of them are among `known`; another one is refused by name.
    pub fn knowing(&self, known: &[&str]) -> Result<Query> {
        let query = Query::parse(&self.0)?;
        for name in names_of(&self.0) {
            match name {
                Some(name) => check_name(&name, known.iter().copied())?,
                None => return Err(undecodable()),
            }
        }
        Ok(query)
    }
}

fn check_name<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
    if name == EVERYWHERE || known.clone().any(|known| known == name) {
        return Ok(());
    }
    let shown: String = name.chars().take(NAME_SHOWN).collect();
    let problem = match nearest(&shown, known.chain([EVERYWHERE])) {
        Some(nearest) => format!("is not known here; did you mean `{nearest}`?"),
        None => "is not known here; leave it out".to_owned(),
    };
    Err(ApiError::validation(&shown, &problem).reason(Reason::Unknown))
}

/// The known name that looks most like this one; case and separators do not count.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(name);
    known
        .map(|known| (strsim::normalized_damerau_levenshtein(&wanted, &plain(known)), known))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

fn undecodable() -> ApiError {
    ApiError::new(&codes::VALIDATION_ERROR, "The name of a query parameter is not percent-encoded UTF-8.")
        .reason(Reason::Malformed)
}

#[cfg(test)]
mod tests;
