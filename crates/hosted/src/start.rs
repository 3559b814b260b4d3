//! `GET /`: the start page of development. In production the path does not exist.

use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::{HeaderMap, StatusCode};
use latchkey_http::query::Query;
use latchkey_pages::views::Start;
use latchkey_pages::{Frame, When};

use crate::errors::PageError;
use crate::hosted::Hosted;
use crate::language;
use crate::page::Page;
use crate::response::html;

pub(crate) const PAGE: Page = Page::of_reads("/", || get(show));

async fn show(State(hosted): State<Hosted>, query: Query, headers: HeaderMap) -> Result<Response, PageError> {
    let locale = query.optional("locale")?;
    let language = language::choose(&hosted, locale.as_deref().as_slice(), &headers);
    let frame = Frame::new("/", When(hosted.service.now()));
    let text = hosted.pages.render(language, &frame, &view(&hosted)).map_err(PageError::internal)?;
    Ok(html(StatusCode::OK, text))
}

fn view(hosted: &Hosted) -> Start {
    let links = [("pages", "/auth/sign-in"), ("inbox", "/dev/mail"), ("api", "/openapi.json")];
    let mut links = links.map(|(name, path)| (name, path.to_owned())).to_vec();
    links.extend(hosted.console.as_ref().map(|url| ("console", url.to_string())));
    Start {
        links,
        command: format!(
            "curl {}/api/auth/users -H 'content-type: application/json' \\\n  \
             -d '{{\"email\": \"ada@example.org\", \"password\": \"correct horse battery\"}}'",
            hosted.settings.public_origin()
        ),
    }
}
