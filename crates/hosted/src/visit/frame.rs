//! What the frame of a page shows of the visit, and the languages that the visit asks for.

use http::Extensions;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::locale::Locale;
use latchkey_pages::{Ending, Frame, Notice, Problem, When};
use latchkey_service::sessions::PageSession;
use url::form_urlencoded;

use super::Visit;
use crate::errors::{Told, Wish};
use crate::flow;
use crate::other_account::Left;

/// Query parameter that extends the flow.
pub(super) const STAY: &str = "stay";

impl Visit {
    /// Returns the frame of a page.
    pub(super) fn frame(&self, problems: Vec<Problem>) -> Frame {
        Frame {
            locale: self.locale.clone(),
            account: self.account(),
            problems,
            notice: self.notice(),
            ending: self.ending(),
            ..Frame::new(self.here(), When(self.now))
        }
    }

    /// Returns the wanted languages, before those of the browser: that of the query, of the flow, of the account.
    pub(super) fn languages(&self) -> Vec<&str> {
        let chosen = self.locale.iter().chain(&self.flow().locale).map(String::as_str);
        let own = self.session.as_ref().and_then(PageSession::locale).map(Locale::as_str);
        chosen.chain(own).collect()
    }

    /// Tells the layer of error pages what to show instead of this page.
    pub(super) fn tell(&self, request: &Extensions) {
        let languages = self.languages().into_iter().map(str::to_owned).collect();
        let wish = || Wish { here: self.here(), languages };
        if let Some(told) = request.get::<Told>() {
            told.get_or_init(wish);
        }
    }

    /// Returns the address of the signed-in user, which the pages of the account show.
    fn account(&self) -> Option<String> {
        let session = self.session.as_ref().filter(|_| self.path.starts_with("/auth/account"))?;
        Some(session.user().email.as_typed().to_owned())
    }

    /// Returns the address of another page, with the parameters of the request as they were sent.
    pub(crate) fn here_on(&self, path: &str) -> String {
        format!("{path}?{}", self.sent)
    }

    /// Returns the address of this page: its path, with the parameters of the request but `locale`, which the links to
    /// other languages add. What the flow has is left out.
    fn here(&self) -> String {
        let flow = self.flow_text().map(|text| (flow::PARAMETER, text));
        let is_kept = |name: &str| {
            let is_in_flow = flow.is_some() && flow::CONTENTS.contains(&name);
            !is_in_flow && !["locale", STAY].contains(&name)
        };
        let sent = form_urlencoded::parse(self.sent.as_bytes()).filter(|(name, _)| is_kept(name));
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.extend_pairs(flow).extend_pairs(sent).finish();
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }

    /// Returns the notice that the page before asked to show.
    fn notice(&self) -> Option<Notice> {
        if let Some(left) = Left::of(self) {
            return Some(Notice::OtherAccountLeft { email: left });
        }
        let key = self.query.optional("notice").ok()??;
        match key.as_str() {
            "provider_linked" => Some(Notice::ProviderLinked { provider: self.noticed_provider()? }),
            "provider_unlinked" => Some(Notice::ProviderUnlinked { provider: self.noticed_provider()? }),
            key => Notice::parse(key),
        }
    }

    /// Returns the name of the provider that a notice is about.
    fn noticed_provider(&self) -> Option<String> {
        let key = ProviderKey::parse(&self.query.optional("provider").ok()??).ok()?;
        Some(self.provider_name(key.as_str()))
    }

    /// Returns the end of what ends first: what the page is about, which nothing postpones; the flow, else the session, which
    /// any request postpones up to its absolute end.
    fn ending(&self) -> Option<Ending> {
        let session = || {
            let session = self.session.as_ref()?.session();
            let is_postponed = session.idle_expires_at < session.absolute_expires_at;
            Some((session.expires_at(), if is_postponed { self.here() } else { String::new() }))
        };
        let flow = self.flow.as_ref().map(|flow| (flow.ends, format!("{}&{STAY}=1", self.here())));
        let subject = self.subject_ends.get().map(|ends| (*ends, String::new()));
        let (ends, stay) = flow.or_else(session).into_iter().chain(subject).min_by_key(|(ends, _)| *ends)?;
        Some(Ending { seconds: ends.since(self.now).as_secs(), stay })
    }
}
