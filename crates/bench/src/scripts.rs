//! Request scripts ([`crate::load::Script`]), one per kind of request. Those that write profiles are
//! in [`crate::patches`].

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::load::Script;
use crate::people::{NEW_PASSWORD, PASSWORD, email, refresh_token};
use crate::response::Response;

/// Appends the beginning of a request to the output.
pub(crate) fn head(out: &mut Vec<u8>, method: &str, path: &str) {
    for part in [method, " ", path, " HTTP/1.1\r\nhost: bench\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Appends a JSON body, which ends the request.
pub(crate) fn body(out: &mut Vec<u8>, json: &str) {
    let line = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", json.len());
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(json.as_bytes());
}

/// User id and access token of a signed-in user.
#[derive(Debug, Clone)]
pub(crate) struct Bearer {
    /// The token.
    pub(crate) token: String,
    /// Id of the user.
    pub(crate) user_id: String,
}

/// Order in which a script selects its users or paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// Round robin.
    InTurn,
    /// Random.
    Random,
}

/// Request script that GETs one path with many access tokens, or many paths without authentication.
pub(crate) struct Get {
    requests: Vec<Vec<u8>>,
    next: usize,
    pick: Pick,
    rng: StdRng,
}

impl Get {
    /// Makes a script that requests the same path with each of these access tokens.
    pub(crate) fn by_bearers(path: &str, bearers: &[Bearer], pick: Pick) -> Self {
        Self::new(bearers.iter().map(|bearer| request(path, Some(bearer))).collect(), pick)
    }

    /// Makes a script that requests each of these paths without authentication.
    pub(crate) fn paths(paths: impl Iterator<Item = String>, pick: Pick) -> Self {
        Self::new(paths.map(|path| request(&path, None)).collect(), pick)
    }

    /// Makes a script that requests each of these paths with an access token or an admin key.
    pub(crate) fn paths_by(paths: impl Iterator<Item = String>, bearer: &Bearer, pick: Pick) -> Self {
        Self::new(paths.map(|path| request(&path, Some(bearer))).collect(), pick)
    }

    fn new(requests: Vec<Vec<u8>>, pick: Pick) -> Self {
        Self { requests, next: 0, pick, rng: StdRng::seed_from_u64(2) }
    }
}

fn request(path: &str, bearer: Option<&Bearer>) -> Vec<u8> {
    let mut out = Vec::new();
    get(&mut out, path, bearer);
    out
}

/// Appends a GET request to the output.
pub(crate) fn get(out: &mut Vec<u8>, path: &str, bearer: Option<&Bearer>) {
    head(out, "GET", path);
    if let Some(bearer) = bearer {
        out.extend_from_slice(format!("authorization: Bearer {}\r\n", bearer.token).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

fn bearer_of(response: &Response<'_>) -> Option<Bearer> {
    let (token, user_id) = (response.member("accessToken")?, response.member("id")?);
    Some(Bearer { token: token.to_owned(), user_id: user_id.to_owned() })
}

impl Script for Get {
    fn next_request(&mut self, _connection: usize, out: &mut Vec<u8>) {
        let at = match self.pick {
            Pick::InTurn => self.next % self.requests.len(),
            Pick::Random => self.rng.random_range(0..self.requests.len()),
        };
        self.next += 1;
        out.extend_from_slice(&self.requests[at]);
    }
}

/// Place of the refresh token in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// In the JSON body.
    Body,
    /// In the refresh cookie.
    Cookie,
}

/// Request script of refreshes. Each connection has one session and presents the last token that it
/// received.
pub(crate) struct Refresh {
    channel: Channel,
    tokens: Vec<(String, String)>,
}

impl Refresh {
    /// Makes a script that refreshes the seeded sessions of these people, one per connection.
    pub(crate) fn seeded(people: impl Iterator<Item = u64>) -> Self {
        let tokens = people.map(|number| (refresh_token(number).expose(), String::new())).collect();
        Self { channel: Channel::Body, tokens }
    }

    /// Makes a script that refreshes these sessions, given as cookies with their CSRF tokens, one per
    /// connection.
    pub(crate) fn cookies(tokens: Vec<(String, String)>) -> Self {
        Self { channel: Channel::Cookie, tokens }
    }
}

impl Script for Refresh {
    fn next_request(&mut self, connection: usize, out: &mut Vec<u8>) {
        let (token, csrf) = &self.tokens[connection];
        match self.channel {
            Channel::Body => {
                head(out, "POST", "/api/auth/refresh?client_type=mobile");
                body(out, &format!(r#"{{"refreshToken":"{token}"}}"#));
            }
            Channel::Cookie => {
                head(out, "POST", "/api/auth/refresh");
                let line = format!("cookie: {token}\r\nx-csrf-token: {csrf}\r\ncontent-length: 0\r\n\r\n");
                out.extend_from_slice(line.as_bytes());
            }
        }
    }

    fn on_response(&mut self, connection: usize, response: &Response<'_>) {
        let next = match self.channel {
            Channel::Body => response.member("refreshToken"),
            Channel::Cookie => response.cookie(),
        };
        if let Some(next) = next {
            next.clone_into(&mut self.tokens[connection].0);
        }
    }
}

/// Request script that refreshes many seeded sessions once, to collect access tokens.
pub(crate) struct Collect {
    people: Vec<u64>,
    next: usize,
    /// Collected tokens.
    pub(crate) bearers: Vec<Bearer>,
}

impl Collect {
    /// Makes a script that refreshes the sessions of these people.
    pub(crate) fn new(people: Vec<u64>) -> Self {
        Self { bearers: Vec::with_capacity(people.len()), people, next: 0 }
    }
}

impl Script for Collect {
    fn next_request(&mut self, _connection: usize, out: &mut Vec<u8>) {
        let token = refresh_token(self.people[self.next]).expose();
        self.next += 1;
        head(out, "POST", "/api/auth/refresh?client_type=mobile");
        body(out, &format!(r#"{{"refreshToken":"{token}"}}"#));
    }

    fn on_response(&mut self, _connection: usize, response: &Response<'_>) {
        self.bearers.extend(bearer_of(response));
    }

    fn is_done(&self) -> bool {
        self.next >= self.people.len()
    }
}

/// Request script of sign-ins with the correct password. Collects the cookies of the web sessions.
pub(crate) struct SignIn {
    people: u64,
    next: u64,
    most: u64,
    /// Cookies of the sessions, each with its CSRF token.
    pub(crate) cookies: Vec<(String, String)>,
}

impl SignIn {
    /// Makes a script that signs this many people in, one after another, with at most `most`
    /// sign-ins.
    pub(crate) fn new(people: u64, most: u64) -> Self {
        Self { people, next: 0, most, cookies: Vec::new() }
    }
}

impl Script for SignIn {
    fn next_request(&mut self, _connection: usize, out: &mut Vec<u8>) {
        head(out, "POST", "/api/auth/sessions");
        let number = self.next % self.people;
        self.next += 1;
        body(out, &format!(r#"{{"email":"{}","password":"{PASSWORD}"}}"#, email(number)));
    }

    fn on_response(&mut self, _connection: usize, response: &Response<'_>) {
        if let (Some(cookie), Some(csrf)) = (response.cookie(), response.member("csrfToken")) {
            self.cookies.push((cookie.to_owned(), csrf.to_owned()));
        }
    }

    fn is_done(&self) -> bool {
        self.next >= self.most
    }
}

/// Request script of sign-ups of new people. Keeps the last one.
pub(crate) struct SignUp {
    prefix: String,
    next: u64,
    most: u64,
    /// Person of the last answer.
    pub(crate) last: Option<Bearer>,
}

impl SignUp {
    /// Makes a script that signs up at most this many people, whose addresses begin with this prefix.
    pub(crate) fn new(prefix: &str, most: u64) -> Self {
        Self { prefix: prefix.to_owned(), next: 0, most, last: None }
    }
}

impl Script for SignUp {
    fn next_request(&mut self, _connection: usize, out: &mut Vec<u8>) {
        head(out, "POST", "/api/auth/users?client_type=mobile");
        let address = format!("{}{}@new.example.org", self.prefix, self.next);
        self.next += 1;
        body(out, &format!(r#"{{"email":"{address}","password":"{NEW_PASSWORD}","name":"New Person"}}"#));
    }

    fn on_response(&mut self, _connection: usize, response: &Response<'_>) {
        self.last = bearer_of(response);
    }

    fn is_done(&self) -> bool {
        self.next >= self.most
    }
}
