//! Parameters and bodies of admin calls. An unknown body key or query parameter is 400 `VALIDATION_ERROR` with the
//! nearest known name, so that a misspelt name is never silently ignored.

use axum::extract::{FromRequest, Request};
use latchkey_domain::reason::Reason;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::body::{JsonBody, fields_of, from_object};
use crate::error::{ApiError, Result, codes};
use crate::query::{Query, names_of};
use crate::settings::RouterState;

/// Query parameter that every call accepts: clients add `client_type` to all their calls.
const EVERYWHERE: &str = "client_type";

/// Maximum length, in characters, of an unknown name quoted in an error message.
const NAME_SHOWN: usize = 64;

/// Minimum similarity (0 to 1) of a known name that an error message suggests.
const LIKENESS: f64 = 0.6;

/// The JSON body of an admin call. Its known keys are the fields of the struct.
pub trait AdminRequest: DeserializeOwned {
    /// Keys that are accepted and ignored. In a PUT or PATCH these are the keys that the GET of the resource returns
    /// and the change cannot write.
    const IGNORED: &'static [&'static str] = &[];
}

/// A JSON body like [`JsonBody`] whose unknown keys are refused.
pub struct AdminBody<T>(pub T);

/// Body of a call that expects none: absent, or an empty JSON object.
#[derive(Deserialize)]
pub struct NoKeys {}

impl AdminRequest for NoKeys {}

impl<S: RouterState, T: AdminRequest> FromRequest<S> for AdminBody<T> {
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

/// The raw query string of an admin call. [`AdminQuery::knowing`] parses it.
pub struct AdminQuery(pub(crate) String);

impl AdminQuery {
    /// Parses the parameters. A parameter whose name is not in `known` is 400 `VALIDATION_ERROR`.
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

/// Finds the known name most similar to `name`, ignoring case, `_` and `-`.
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
