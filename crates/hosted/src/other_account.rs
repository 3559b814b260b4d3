//! The notice that the session of another account in this browser has ended, because a different one signed in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::errors::PageError;
use crate::sealed::Carried;
use crate::visit::Visit;

/// Time in which the page after the sign-in can be opened and reloaded with the notice.
const LIFETIME: Duration = Duration::from_mins(1);

/// The address of the account whose page session ended. The page after the sign-in says so.
#[derive(Serialize, Deserialize)]
pub(crate) struct Left(String);

impl Carried for Left {
    const KIND: &'static str = "left";
}

impl Left {
    /// Query parameter of the sealed value.
    const PARAMETER: &'static str = "left";

    /// Returns the address that a visit is to be told.
    pub(crate) fn of(visit: &Visit) -> Option<String> {
        let opened = visit.open::<Self>(&visit.query.optional(Self::PARAMETER).ok()??)?;
        (opened.ends > visit.now).then_some(opened.value.0)
    }

    /// Adds the address of the flow to that of the next page.
    pub(crate) fn tell(visit: &Visit, next: String) -> Result<String, PageError> {
        let Some(email) = visit.flow().left.clone() else { return Ok(next) };
        let text = visit.seal(visit.now.plus(LIFETIME), Self(email))?;
        let separator = if next.contains('?') { '&' } else { '?' };
        Ok(format!("{next}{separator}{}={text}", Self::PARAMETER))
    }
}
