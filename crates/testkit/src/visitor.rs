//! Minimal browser for the pages of one site. It stores cookies, follows redirects, submits forms, and stops at a
//! redirect to another site.

use std::collections::BTreeMap;

use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Client, RequestBuilder, redirect};
use url::Url;

/// Maximum number of redirects in a row that common browsers follow.
const MOST_REDIRECTS: usize = 20;

/// Cookies of one site, by path and name. They never expire, because the service sets their lifetime by the
/// test's clock.
#[derive(Default)]
struct Cookies(BTreeMap<(String, String), String>);

impl Cookies {
    fn keep(&mut self, headers: &HeaderMap) {
        for cookie in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            let mut parts = cookie.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let path = parts.find_map(|part| part.strip_prefix("path=")).unwrap_or("/");
            let at = (path.to_owned(), name.to_owned());
            if value.is_empty() {
                self.0.remove(&at);
            } else {
                self.0.insert(at, value.to_owned());
            }
        }
    }

    fn of(&self, path: &str) -> String {
        let ours = self.0.iter().filter(|((of, _), _)| path.starts_with(of.as_str()));
        ours.map(|((_, name), value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }
}

/// A browser on one site.
pub struct Visitor {
    http: Client,
    site: Url,
    cookies: Cookies,
    at: Url,
    left_for: Option<Url>,
    /// Text of the current page. Failed assertions print it.
    page: String,
}

impl Visitor {
    /// Creates a browser on the site with this URL.
    pub fn at(site: &str) -> Self {
        let http = Client::builder().redirect(redirect::Policy::none()).no_proxy().build().unwrap();
        let site = Url::parse(site).expect("an address");
        let cookies = Cookies::default();
        Self { http, at: site.clone(), site, cookies, left_for: None, page: String::new() }
    }

    /// Opens a page.
    pub async fn open(&mut self, address: &str) {
        self.at = Url::parse(address).expect("an address");
        let request = self.http.get(self.at.clone());
        self.follow(request).await;
    }

    /// Submits the page's form with these fields, to the URL of the page.
    pub async fn submit(&mut self, fields: &[(&str, &str)]) {
        assert!(self.page.contains("<form"), "no form at {}:\n{}", self.at, self.page);
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.http.post(self.at.clone());
        self.follow(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await;
    }

    /// Returns the redirect target at which the browser left the site.
    #[track_caller]
    pub fn left_for(&self) -> String {
        let Some(left_for) = &self.left_for else { panic!("still at {}:\n{}", self.at, self.page) };
        left_for.to_string()
    }

    async fn follow(&mut self, request: RequestBuilder) {
        let mut request = request;
        for _ in 0..MOST_REDIRECTS {
            let cookies = self.cookies.of(self.at.path());
            let answer = request.header(COOKIE, cookies).send().await.expect("an answer");
            self.cookies.keep(answer.headers());
            let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(target) = location.map(|text| self.at.join(text).expect("an address")) else {
                self.page = answer.text().await.expect("a page");
                return;
            };
            if target.origin() != self.site.origin() {
                self.left_for = Some(target);
                return;
            }
            self.at = target.clone();
            request = self.http.get(target);
        }
        panic!("redirected for ever, at {}", self.at);
    }
}
