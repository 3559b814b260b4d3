//! What is asked of a server: one script for each kind of request. Writes of profiles are in [`crate::patches`].

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::answer::Answer;
use crate::load::Script;
use crate::people::{NEW_PASSWORD, PASSWORD, email, refresh_token};

/// Starts a request.
pub(crate) fn head(out: &mut Vec<u8>, method: &str, path: &str) {
    for part in [method, " ", path, " HTTP/1.1\r\nhost: bench\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Ends it with a JSON body.
pub(crate) fn body(out: &mut Vec<u8>, json: &str) {
    let line = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", json.len());
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(json.as_bytes());
}

/// Somebody signed in: the access token, and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Bearer {
    /// The token.
    pub(crate) token: String,
    /// The user's id.
    pub(crate) user_id: String,
}

/// How the next one is picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    /// One after the other.
    InTurn,
    /// At random.
    Random,
}

/// A GET of one path by many bearers, or of many paths by nobody.
pub(crate) struct Get {
    requests: Vec<Vec<u8>>,
    next: usize,
    pick: Pick,
    rng: StdRng,
}

impl Get {
    /// The same path by each bearer.
    pub(crate) fn by_bearers(path: &str, bearers: &[Bearer], pick: Pick) -> Self {
        Self::new(bearers.iter().map(|bearer| request(path, Some(bearer))).collect(), pick)
    }

    /// Each path by nobody.
    pub(crate) fn paths(paths: impl Iterator<Item = String>, pick: Pick) -> Self {
        Self::new(paths.map(|path| request(&path, None)).collect(), pick)
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

/// Writes one GET.
pub(crate) fn get(out: &mut Vec<u8>, path: &str, bearer: Option<&Bearer>) {
    head(out, "GET", path);
    if let Some(bearer) = bearer {
        out.extend_from_slice(format!("authorization: Bearer {}\r\n", bearer.token).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

impl Script for Get {
    fn ask(&mut self, _connection: usize, out: &mut Vec<u8>) {
        let at = match self.pick {
            Pick::InTurn => self.next % self.requests.len(),
            Pick::Random => self.rng.random_range(0..self.requests.len()),
        };
        self.next += 1;
        out.extend_from_slice(&self.requests[at]);
    }
}

/// Where a refresh token travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// In the body.
    Body,
    /// In the cookie.
    Cookie,
}

/// Refreshes: each connection keeps one session and presents what the last answer gave.
pub(crate) struct Refresh {
    channel: Channel,
    tokens: Vec<(String, String)>,
}

impl Refresh {
    /// The seeded sessions of these people, one for each connection.
    pub(crate) fn seeded(people: impl Iterator<Item = u64>) -> Self {
        let tokens = people.map(|number| (refresh_token(number).expose(), String::new())).collect();
        Self { channel: Channel::Body, tokens }
    }

    /// The sessions of cookies and their CSRF tokens, one for each connection.
    pub(crate) fn cookies(tokens: Vec<(String, String)>) -> Self {
        Self { channel: Channel::Cookie, tokens }
    }
}

impl Script for Refresh {
    fn ask(&mut self, connection: usize, out: &mut Vec<u8>) {
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

    fn hear(&mut self, connection: usize, answer: &Answer<'_>) {
        let next = match self.channel {
            Channel::Body => answer.member("refreshToken"),
            Channel::Cookie => answer.cookie(),
        };
        if let Some(next) = next {
            next.clone_into(&mut self.tokens[connection].0);
        }
    }
}

/// One refresh for each of many seeded sessions: gives their access tokens.
pub(crate) struct Collect {
    people: Vec<u64>,
    next: usize,
    /// What was collected.
    pub(crate) bearers: Vec<Bearer>,
}

impl Collect {
    /// Of these people.
    pub(crate) fn new(people: Vec<u64>) -> Self {
        Self { bearers: Vec::with_capacity(people.len()), people, next: 0 }
    }
}

impl Script for Collect {
    fn ask(&mut self, _connection: usize, out: &mut Vec<u8>) {
        let token = refresh_token(self.people[self.next]).expose();
        self.next += 1;
        head(out, "POST", "/api/auth/refresh?client_type=mobile");
        body(out, &format!(r#"{{"refreshToken":"{token}"}}"#));
    }

    fn hear(&mut self, _connection: usize, answer: &Answer<'_>) {
        if let (Some(token), Some(user_id)) = (answer.member("accessToken"), answer.member("id")) {
            self.bearers.push(Bearer { token: token.to_owned(), user_id: user_id.to_owned() });
        }
    }

    fn is_done(&self) -> bool {
        self.next >= self.people.len()
    }
}

/// Sign-ins with the right password; a web client's sessions are kept.
pub(crate) struct SignIn {
    people: u64,
    next: u64,
    most: u64,
    /// Cookies and their CSRF tokens.
    pub(crate) cookies: Vec<(String, String)>,
}

impl SignIn {
    /// By these many people in turn, at most so often.
    pub(crate) fn new(people: u64, most: u64) -> Self {
        Self { people, next: 0, most, cookies: Vec::new() }
    }
}

impl Script for SignIn {
    fn ask(&mut self, _connection: usize, out: &mut Vec<u8>) {
        head(out, "POST", "/api/auth/sessions");
        let number = self.next % self.people;
        self.next += 1;
        body(out, &format!(r#"{{"email":"{}","password":"{PASSWORD}"}}"#, email(number)));
    }

    fn hear(&mut self, _connection: usize, answer: &Answer<'_>) {
        if let (Some(cookie), Some(csrf)) = (answer.cookie(), answer.member("csrfToken")) {
            self.cookies.push((cookie.to_owned(), csrf.to_owned()));
        }
    }

    fn is_done(&self) -> bool {
        self.next >= self.most
    }
}

/// Sign-ups of new people.
pub(crate) struct SignUp {
    prefix: String,
    next: u64,
}

impl SignUp {
    /// Of people whose addresses begin so.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), next: 0 }
    }
}

impl Script for SignUp {
    fn ask(&mut self, _connection: usize, out: &mut Vec<u8>) {
        head(out, "POST", "/api/auth/users?client_type=mobile");
        let address = format!("{}{}@new.example.org", self.prefix, self.next);
        self.next += 1;
        body(out, &format!(r#"{{"email":"{address}","password":"{NEW_PASSWORD}","name":"New Person"}}"#));
    }
}
