//! `GET /api/profiles/search`.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderName;
use latchkey_domain::reason::Reason;
use latchkey_domain::search::{SearchQuery, SearchQueryError};
use latchkey_service::refusal::MISSING_QUERY;

use super::PublicProfileBody;
use crate::answer::Json;
use crate::app::App;
use crate::client::ClientInfo;
use crate::error::{ApiError, Result};
use crate::query::{Query, page_of};

const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");
const PAGE: HeaderName = HeaderName::from_static("x-page");
const PAGE_SIZE: HeaderName = HeaderName::from_static("x-page-size");

/// `GET /api/profiles/search?q=&limit=&offset=`
pub async fn get(State(app): State<App>, client: ClientInfo, query: Query) -> Result<Response> {
    let text = query.optional("q")?.unwrap_or_default();
    let search = SearchQuery::parse(&text).map_err(refusal)?;
    let page = page_of(query.optional("limit")?.as_deref(), query.optional("offset")?.as_deref())?;

    let hits = app.service.search_profiles(&search, page, &client.to_domain()).await?;
    let headers = [
        (TOTAL_COUNT, hits.total.to_string()),
        (PAGE, page.number().to_string()),
        (PAGE_SIZE, page.limit().to_string()),
    ];
    let profiles: Vec<_> = hits.profiles.into_iter().map(PublicProfileBody::from).collect();
    Ok((headers, Json(profiles)).into_response())
}

fn refusal(error: SearchQueryError) -> ApiError {
    match error {
        SearchQueryError::Missing => (&MISSING_QUERY).into(),
        SearchQueryError::TooLong => ApiError::validation("q", &error.to_string()).reason(Reason::TooLong),
    }
}
