//! Flows that are prolonged. The text of a flow stays what it is, with the forms of the page that has it, so nothing that was
//! typed is lost. A cookie has the later end.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use serde::{Deserialize, Serialize};

use super::Visit;
use crate::errors::PageError;
use crate::flow;
use crate::sealed::Carried;

/// Most flows whose later end is kept; the oldest goes first.
const MOST: usize = 8;
/// Bytes of the digest that names a flow.
const NAME_LENGTH: usize = 12;

/// The names of prolonged flows with their ends, in milliseconds since 1970.
#[derive(Default, Serialize, Deserialize)]
struct Prolonged(Vec<(String, i64)>);

impl Carried for Prolonged {
    const KIND: &'static str = "prolonged";
}

impl Visit {
    /// Returns the end of a flow: the one that is sealed into its text, or a later one.
    pub(super) fn end_of(&self, text: &str, sealed: Timestamp) -> Timestamp {
        let name = name(text);
        let prolonged = self.prolonged().0.into_iter().find(|(known, _)| *known == name);
        prolonged.map_or(sealed, |(_, ends)| sealed.max(Timestamp::from_millis(ends)))
    }

    /// Gives a flow its whole lifetime once more; returns the new end.
    pub(super) fn prolong(&mut self, text: &str) -> Result<Timestamp, PageError> {
        let (name, ends) = (name(text), self.now.plus(flow::LIFETIME));
        let mut kept = self.prolonged().0;
        kept.retain(|(known, ends)| *known != name && Timestamp::from_millis(*ends) > self.now);
        kept.insert(0, (name, ends.as_millis()));
        kept.truncate(MOST);
        let sealed = self.seal(ends, Prolonged(kept))?;
        let cookie = self.hosted.cookies.prolonged.set(&sealed, flow::LIFETIME);
        self.set_cookie(cookie)?;
        Ok(ends)
    }

    fn prolonged(&self) -> Prolonged {
        let cookie = self.hosted.cookies.prolonged.read(&self.headers);
        let opened = cookie.and_then(|cookie| self.open::<Prolonged>(cookie.expose()));
        opened.map(|opened| opened.value).unwrap_or_default()
    }
}

fn name(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&TokenHash::of(text.as_bytes()).as_bytes()[..NAME_LENGTH])
}
