//! List of all routes, for tests that apply to every route. It comes from the endpoints of the router.
#![allow(unreachable_pub, reason = "one crate; `pub` reads easier")]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use latchkey_http::api::endpoints;
use latchkey_http::endpoint::{Access, Body, Endpoint, JsonRequest, Size};
use latchkey_testkit::{Request, TestApp, User, Value};

use crate::schema::resolve;

/// Credentials of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// No credentials.
    Anybody,
    /// A user's access token.
    User,
    /// An admin key.
    Admin,
}

/// Body of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// JSON object of at most 64 KiB with, among others, these fields.
    Json(Vec<&'static str>),
    /// JSON object of at most 256 KiB with, among others, these fields.
    Profile(Vec<&'static str>),
}

#[derive(Debug)]
pub struct Route {
    pub method: &'static str,
    /// Path with `{…}` for its parameters, as in the OpenAPI document.
    pub path: &'static str,
    pub who: Who,
    pub takes: Takes,
    /// True if the route reads a form besides JSON.
    pub takes_form: bool,
    accepts_user: bool,
    is_of_the_document: bool,
}

/// User id that no account has.
pub const NOBODY: &str = "00000000-0000-7000-8000-000000000000";

/// Spellings of fields that are accepted besides those in the OpenAPI document.
const OTHER_SPELLINGS: [(&str, &str); 4] = [
    ("redirectUri", "redirect_uri"),
    ("redirectTo", "redirect_uri"),
    ("codeChallenge", "code_challenge"),
    ("codeVerifier", "code_verifier"),
];

/// All routes, including those of development mode. Sign-up counts as public; with an admin key the same path creates a
/// user.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| endpoints().map(Route::of).collect());

impl Route {
    fn of(endpoint: &'static Endpoint) -> Self {
        let who = match endpoint.access {
            Access::User => Who::User,
            Access::Admin => Who::Admin,
            _ => Who::Anybody,
        };
        let takes = match endpoint.body {
            Body::None | Body::Empty | Body::Form(_) | Body::File(_) => Takes::Nothing,
            Body::Json(request) if request.size == Size::Usual => Takes::Json(fields(&request)),
            Body::Json(request) => Takes::Profile(fields(&request)),
        };
        let is_of_the_document = endpoint.access != Access::Development;
        Self {
            method: endpoint.method.as_str(),
            path: endpoint.path,
            who,
            takes,
            takes_form: matches!(endpoint.body, Body::Json(request) if request.or_form),
            accepts_user: endpoint.access == Access::PublicOrUser,
            is_of_the_document,
        }
    }

    /// Path of the route with an unused id in it.
    pub fn path_of_an_unknown_id(&self) -> String {
        let path = self.path.replace("{id}", NOBODY).replace("{userId}", NOBODY);
        path.replace("{provider}", "nobody").replace("{key}", "nobody")
    }

    /// Request with credentials and without a body.
    pub fn request(&self, app: &TestApp, user: &User) -> Request {
        self.request_to(&self.path_of_an_unknown_id(), app, user)
    }

    /// Request with credentials to another path.
    pub fn request_to(&self, path: &str, app: &TestApp, user: &User) -> Request {
        match self.who {
            Who::Anybody if !self.accepts_user => app.anon().request(self.method, path),
            Who::Anybody | Who::User => user.request(self.method, path),
            Who::Admin => app.admin().request(self.method, path),
        }
    }

    /// Fields of the body; empty without a body.
    pub fn fields(&self) -> &[&'static str] {
        match &self.takes {
            Takes::Nothing => &[],
            Takes::Json(fields) | Takes::Profile(fields) => fields,
        }
    }

    /// True if the route exists in production mode, and so in the OpenAPI document.
    pub fn is_of_the_document(&self) -> bool {
        self.is_of_the_document
    }

    pub fn takes_body(&self) -> bool {
        self.takes != Takes::Nothing
    }
}

/// Fields that a request reads, by their names in the OpenAPI document. A flat profile gets a custom field besides.
fn fields(request: &JsonRequest) -> Vec<&'static str> {
    let keys: BTreeSet<_> = (request.keys)().into_iter().collect();
    let has_another = |key| OTHER_SPELLINGS.iter().any(|(other, name)| *other == key && keys.contains(name));
    let custom = keys.contains("profile").then_some("colour");
    keys.iter().copied().filter(|key| !has_another(*key)).chain(custom).collect()
}

/// Routes that read and respond with JSON to a request without parameters. Two more need a cookie and a setting.
pub fn plain_reads(document: &Value) -> impl Iterator<Item = &'static Route> {
    let is_plain = move |route: &&Route| {
        let read = &document["paths"][route.path]["get"];
        let parameters = read["parameters"].as_array().into_iter().flatten();
        let needs_parameter = route.path.contains('{')
            || parameters.clone().any(|one| resolve(document, one)["required"] == true);
        let is_json = read["responses"]["200"]["content"]["application/json"].is_object();
        route.method == "GET" && is_json && !needs_parameter
    };
    let needs_more = |route: &&Route| ["/api/auth/csrf", "/.well-known/webauthn"].contains(&route.path);
    ROUTES.iter().filter(move |route| is_plain(route) && !needs_more(route))
}

/// Routes that take a body.
pub fn with_body() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.takes_body())
}
