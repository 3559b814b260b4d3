//! The flow of a mailed link. The link leads to a page with the flow in which the mail was asked for. The flow opens only in
//! the browser that began it, and as long as it lasts. Otherwise the page has no flow, and the link works all the same.

use latchkey_service::accounts::sign_up::RedirectInput;

use super::Visit;
use crate::errors::PageError;
use crate::flow::{self, Flow};

impl Visit {
    /// Returns the page of a mailed link, with the flow unless that makes the address too long, which no request of an
    /// app does.
    pub(crate) fn mailed(&self, path: &str) -> RedirectInput {
        let page = format!("{}{path}", self.service().site().origin());
        let redirects = &self.service().settings().redirects;
        let with_flow = self.flow_text().map(|text| format!("{page}?{}={text}", flow::BEGUN));
        let redirect_to = with_flow.filter(|url| redirects.check(url).is_ok()).unwrap_or(page);
        RedirectInput { redirect_to: Some(redirect_to), email_redirect_to: None }
    }

    /// Goes on in the flow of a mailed link; false if the link has none, or one that this browser cannot open any more.
    pub(crate) fn take_up(&mut self) -> Result<bool, PageError> {
        let Some(text) = self.query.optional(flow::BEGUN)? else { return Ok(false) };
        let opened = self.open::<Flow>(&text);
        let Some(begun) = opened.filter(|opened| self.end_of(&text, opened.ends) > self.now) else {
            return Ok(false);
        };
        self.change_flow(|flow| *flow = begun.value)?;
        Ok(true)
    }
}
