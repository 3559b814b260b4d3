//! Somebody with a browser, on the pages of one site: keeps its cookies, follows its redirects, sends its forms. Ends
//! where the site sends them elsewhere.

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, RequestBuilder, redirect};
use url::Url;

/// As many redirects as browsers follow.
const MOST_REDIRECTS: usize = 20;

/// A visitor of one site.
pub struct Visitor {
    http: Client,
    site: Url,
    at: Url,
    left_for: Option<Url>,
    /// The page that they see, for messages.
    page: String,
}

impl Visitor {
    /// A visitor of the site with this address.
    pub fn at(site: &str) -> Self {
        let http = Client::builder()
            .cookie_store(true)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        let site = Url::parse(site).expect("an address");
        Self { http, at: site.clone(), site, left_for: None, page: String::new() }
    }

    /// Opens a page.
    pub async fn open(&mut self, address: &str) {
        self.at = Url::parse(address).expect("an address");
        let request = self.http.get(self.at.clone());
        self.follow(request).await;
    }

    /// Sends the form of the page with these fields, to the address of the page.
    pub async fn submit(&mut self, fields: &[(&str, &str)]) {
        assert!(self.page.contains("<form"), "no form at {}:\n{}", self.at, self.page);
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.http.post(self.at.clone());
        self.follow(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await;
    }

    /// Where the site sent them.
    #[track_caller]
    pub fn left_for(&self) -> String {
        let Some(left_for) = &self.left_for else { panic!("still at {}:\n{}", self.at, self.page) };
        left_for.to_string()
    }

    async fn follow(&mut self, request: RequestBuilder) {
        let mut request = request;
        for _ in 0..MOST_REDIRECTS {
            let answer = request.send().await.expect("an answer");
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
