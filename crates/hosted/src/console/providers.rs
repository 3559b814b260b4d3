//! `/console/providers`: the identity providers that are configured, with the redirect URI to register and a form that
//! tries discovery and keys, and the built-in ones that only need credentials.

use std::time::Duration;

use axum::routing::get;
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::operator::Act;
use latchkey_pages::console::views::{Provider, ProviderTest, Providers, Source};
use latchkey_service::providers::KnownProvider;
use serde::{Deserialize, Serialize};

use super::page::Page;
use super::stop::{Outcome, Stop};
use super::submission::Sent;
use super::visit::ConsoleVisit;
use crate::sealed::Carried;

const PATH: &str = "/console/providers";
/// Query parameter of the form: the key of the provider to try.
const TEST: &str = "test";
/// Query parameter with the sealed result of a try.
const TRIED: &str = "tried";
/// Time in which the page with the result can be loaded again.
const LIFETIME: Duration = Duration::from_mins(10);
const HELP: &str = "https://github.com/latchkey/latchkey/blob/main/docs/configuration.md";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(test));

/// The result of a try, on its way to the page that shows it.
#[derive(Serialize, Deserialize)]
struct Tried {
    provider: String,
    /// The number of keys, or the reason of the failure.
    outcome: Result<u64, String>,
}

impl Carried for Tried {
    const KIND: &'static str = "console-provider-test";
}

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.page(&view(&visit).await?)
}

/// Asks the provider for its discovery document and keys.
async fn test(sent: Sent) -> Outcome {
    let visit = sent.must(Act::ManageProviders).await?.visit;
    let key = visit.query.optional(TEST)?.unwrap_or_default();
    let known = all(&visit).into_iter().find(|known| known.key.as_str() == key && known.has_discovery());
    let known = known.ok_or_else(|| visit.not_found())?;
    let outcome =
        visit.service().oauth.test_provider(&known, visit.party(), Some(&visit.to_client())).await?;
    let outcome = outcome.map(|count| count as u64).map_err(|error| error.to_string());
    let tried = visit.seal(visit.now.plus(LIFETIME), Tried { provider: key, outcome })?;
    visit.go_to(&format!("{PATH}?{TRIED}={tried}"))
}

fn all(visit: &ConsoleVisit) -> Vec<KnownProvider> {
    let oauth = &visit.service().oauth;
    let kinds = [ProviderKind::BuiltIn, ProviderKind::Custom];
    kinds.into_iter().flat_map(|kind| oauth.list_providers(kind)).collect()
}

async fn view(visit: &ConsoleVisit) -> Result<Providers, Stop> {
    let counts = visit.service().admin.statistics(1).await?.counts.providers;
    let tried = visit.query.optional(TRIED)?.and_then(|text| visit.open::<Tried>(&text));
    let one = |known: KnownProvider| {
        let key = known.key.as_str();
        let result = tried.as_ref().filter(|tried| tried.provider == key).map(|tried| &tried.outcome);
        let test = visit.form_of_with(Act::ManageProviders, PATH, &[(TEST, key)]);
        Provider {
            key: key.to_owned(),
            name: known.name().to_owned(),
            kind: known.kind,
            is_on: known.description.enabled,
            redirect_uri: visit.service().oauth.callback_url(&known),
            linked: counts.get(key).copied().unwrap_or_default(),
            source: if known.is_pinned { Source::Configured } else { Source::Stored },
            test: test.filter(|_| known.has_discovery()),
            result: result.map(|outcome| match outcome {
                Ok(count) => ProviderTest::Good { count: *count },
                Err(reason) => ProviderTest::Failed { reason: reason.clone() },
            }),
        }
    };
    let available = visit.service().oauth.unconfigured_providers();
    Ok(Providers {
        configured: all(visit).into_iter().map(one).collect(),
        available: available.into_iter().map(str::to_owned).collect(),
        help: HELP,
    })
}
