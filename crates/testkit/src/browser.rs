//! Browser for the hosted pages: it keeps cookies, sends the `Origin` of the service with forms, and fills forms in.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::answer::Answer;
use crate::client::Client;
use crate::passkeys::Ceremony;
use crate::request::Request;

/// Browser without script. Redirects are followed by [`Browser::follow`] alone.
pub struct Browser {
    client: Client,
    origin: String,
    cookies: Mutex<BTreeMap<String, Stored>>,
}

/// A stored cookie.
struct Stored {
    value: String,
    /// True if it outlives the browser, because it has a `Max-Age`.
    is_lasting: bool,
}

impl Browser {
    /// A browser of a service at this public URL, which the client reaches.
    #[must_use]
    pub fn new(client: Client, public_url: &str) -> Self {
        let host = public_url.split_once("://").map_or(public_url, |(_, host)| host);
        Self {
            client: client.with_header("host", host),
            origin: public_url.to_owned(),
            cookies: Mutex::default(),
        }
    }

    /// Sets the client address in `X-Forwarded-For`.
    #[must_use]
    pub fn at(mut self, ip: &str) -> Self {
        self.client = self.client.at(ip);
        self
    }

    /// Adds a default header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.client = self.client.with_header(name, value);
        self
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(path)).await
    }

    /// Sends the form of a page whose address contains `action`, with its hidden fields and these. A field replaces a
    /// hidden one of the same name.
    pub async fn submit(&self, page: &Answer, action: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(self.form(page, action, fields)).await
    }

    /// Builds the request of [`Browser::submit`], so that a test can change it. [`Browser::send`] sends it.
    pub fn form(&self, page: &Answer, action: &str, fields: &[(&str, &str)]) -> Request {
        let form = Form::of(page.text(), action).unwrap_or_else(|| panic!("no form to {action}: {page:?}"));
        let hidden = form.hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let kept = hidden.filter(|(name, _)| !fields.iter().any(|(own, _)| own == name));
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept)
            .extend_pairs(fields.iter().copied())
            .finish();
        self.client
            .request("POST", &form.action)
            .raw("application/x-www-form-urlencoded", body)
            .header("origin", &self.origin)
            .header("sec-fetch-site", "same-origin")
    }

    /// Sends a request with the cookies, and stores those of the response.
    pub async fn send(&self, request: Request) -> Answer {
        let cookies = self.cookie_header();
        let request = if cookies.is_empty() { request } else { request.cookie(&cookies) };
        self.stored(request.send().await)
    }

    /// Sends a request like [`Self::send`], but returns an error if the service stops before it responds.
    pub async fn try_send(&self, request: Request) -> reqwest::Result<Answer> {
        let cookies = self.cookie_header();
        let request = if cookies.is_empty() { request } else { request.cookie(&cookies) };
        Ok(self.stored(request.try_send().await?))
    }

    /// Stores the cookies of a response.
    fn stored(&self, answer: Answer) -> Answer {
        for line in answer.set_cookies() {
            let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
            let (name, value) = pair.split_once('=').expect("a cookie");
            let mut cookies = self.cookies();
            if attributes.contains("Max-Age=0;") || value.is_empty() {
                cookies.remove(name);
            } else {
                let is_lasting = attributes.contains("Max-Age=");
                cookies.insert(name.to_owned(), Stored { value: value.to_owned(), is_lasting });
            }
        }
        answer
    }

    /// Opens the target of a redirect within the service.
    #[track_caller]
    pub fn follow(&self, answer: &Answer) -> impl Future<Output = Answer> {
        assert_eq!(answer.status, 303, "no redirect after a form: {answer:?}");
        let target = answer.header("location").unwrap_or_else(|| panic!("no location: {answer:?}"));
        assert!(target.starts_with('/'), "a redirect off the service: {answer:?}");
        let request = self.client.get(target);
        self.send(request)
    }

    /// Value of a cookie whose name contains `name`.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<String> {
        let cookies = self.cookies();
        cookies.iter().find(|(known, _)| known.contains(name)).map(|(_, stored)| stored.value.clone())
    }

    /// Adds a cookie.
    #[must_use]
    pub fn with_cookie(self, name: &str, value: String) -> Self {
        self.cookies().insert(name.to_owned(), Stored { value, is_lasting: false });
        self
    }

    /// Removes cookies whose names contain `name`.
    pub fn forget(&self, name: &str) {
        self.cookies().retain(|known, _| !known.contains(name));
    }

    /// Closes the browser and opens it again: cookies without `Max-Age` are gone.
    pub fn restart(&self) {
        self.cookies().retain(|_, stored| stored.is_lasting);
    }

    fn cookie_header(&self) -> String {
        let cookies = self.cookies();
        cookies.iter().map(|(name, stored)| format!("{name}={}", stored.value)).collect::<Vec<_>>().join("; ")
    }

    fn cookies(&self) -> MutexGuard<'_, BTreeMap<String, Stored>> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Form of a page.
pub struct Form {
    /// Address that the form is sent to.
    pub action: String,
    /// Names and values of the hidden fields.
    pub hidden: Vec<(String, String)>,
}

impl Form {
    /// First form of a page whose address contains `action`.
    #[must_use]
    pub fn of(html: &str, action: &str) -> Option<Self> {
        html.split("<form ").skip(1).find_map(|rest| {
            let form = rest.split("</form>").next()?;
            let found = attribute(form, "action").filter(|found| found.contains(action))?;
            let inputs = form.split("<input ").skip(1).filter(|input| input.starts_with("type=\"hidden\""));
            let hidden =
                inputs.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)));
            Some(Self { action: found, hidden: hidden.collect() })
        })
    }
}

/// Ceremony of the first passkey form of a page. The id is empty if the form has none.
#[must_use]
#[track_caller]
pub fn ceremony(page: &Answer) -> Ceremony {
    let form = page.text().split("<form ").find(|form| form.contains("data-passkey"));
    let form = form.unwrap_or_else(|| panic!("no form of a passkey: {page:?}"));
    let options = attribute(form, "data-options").expect("options");
    let id = form.split("name=\"ceremony_id\"").nth(1).and_then(|rest| attribute(rest, "value"));
    let options = serde_json::from_str(&options).expect("options in JSON");
    Ceremony { id: id.expect("a ceremony"), options }
}

/// Returns the value of the first attribute of this name.
fn attribute(html: &str, name: &str) -> Option<String> {
    let (_, rest) = html.split_once(&format!("{name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    Some(unescaped(value))
}

/// Address of the first link of a page that contains `part`.
#[must_use]
pub fn link(page: &Answer, part: &str) -> Option<String> {
    let links = page.text().split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.map(unescaped).find(|href| href.contains(part))
}

fn unescaped(html: &str) -> String {
    html.replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
