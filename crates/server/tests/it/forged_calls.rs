//! Forged forms: what another site, another browser or another session can send in place of a form of ours.

use latchkey_hosted::page_routes;
use latchkey_testkit::browser::Form;
use latchkey_testkit::console::form_token;
use latchkey_testkit::{Answer, Browser, Request, TestApp};
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OpenFlags};

use crate::console_user_calls::Desk;

const TOKEN: &str = "form_token";
const BOUNDARY: &str = "----latchkey";

/// A form on the page that shows it, filled in so that it has an effect.
pub(crate) struct Sheet {
    pub(crate) browser: Browser,
    pub(crate) page: Answer,
    /// Part of the address of the form.
    pub(crate) action: String,
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Id of the console session; empty before the sign-in. Forms of `/auth` say themselves what they are bound to.
    pub(crate) session: String,
    /// Contents of the file that the form uploads.
    pub(crate) file: Option<&'static str>,
}

/// Somebody else, who is signed in and gets form tokens.
pub(crate) struct Stranger {
    pub(crate) secret: String,
    /// What the form tokens are bound to beside browser and path.
    pub(crate) scope: String,
}

/// Paths below `prefix` that take forms: those of the list that the router is built from.
pub(crate) fn paths_of_forms(prefix: &str) -> Vec<&'static str> {
    let posts = page_routes().filter(|(path, method)| *method == "POST" && path.starts_with(prefix));
    posts.map(|(path, _)| path).collect()
}

/// All routes of pages and console, whether they are shown or not, with something in the place of each parameter.
pub(crate) fn all_routes() -> Vec<(String, &'static str)> {
    let filled = |path: &str| path.replace(['{', '}'], "");
    page_routes().map(|(path, method)| (filled(path), method)).collect()
}

impl Sheet {
    pub(crate) fn new(browser: Browser, page: Answer, action: &str) -> Self {
        let (fields, session) = (Vec::new(), String::new());
        Self { browser, page, action: action.to_owned(), fields, session, file: None }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Asserts that no forged form does anything, and that the form itself does.
    pub(crate) async fn check(&self, app: &TestApp, path: &str, stranger: &Stranger) {
        let before = stored(app);
        for (how, forged) in self.forged(stranger) {
            let refused = self.browser.send(forged).await;
            let is_refused = refused.status == 403 && refused.text().contains("Load the page again");
            assert!(is_refused, "{path}, {how}: {refused:?}");
            refused.hosted(403);
        }
        assert_stored(app, &before, path);

        let done = self.send().await;
        assert!([200, 303].contains(&done.status), "{path}: the form itself is refused: {done:?}");
        assert!(stored(app) != before, "{path}: the form itself does nothing: {done:?}");
    }

    /// Sends the form as it is on its page.
    pub(crate) async fn send(&self) -> Answer {
        self.browser.send(self.request(Some(&self.token()))).await
    }

    /// The same form in the browser of another operator, with the right token of that one.
    pub(crate) fn of(&self, desk: &Desk<'_>) -> Request {
        let action = self.form().action;
        self.request(Some(&desk.token(action.split('?').next().expect("a path"))))
    }

    /// Forged forms, each with its name.
    fn forged(&self, stranger: &Stranger) -> Vec<(&'static str, Request)> {
        let (form, right, secret) = (self.form(), self.token(), self.secret());
        let path = form.action.split('?').next().expect("a path");
        let scope = self.scope(&form, &right);
        let made = |secret: &str, path: &str, scope: &str| {
            self.request(Some(&format!("{}.{scope}", form_token(secret, path, scope))))
        };
        // So that each token below is wrong in what its name says alone.
        assert!(right.starts_with(&form_token(&secret, path, &scope)), "another form token: {:?}", self.page);
        let own = || self.request(Some(&right));
        vec![
            ("without token", self.request(None)),
            ("with an empty token", self.request(Some(""))),
            ("with the token of a stranger", made(&stranger.secret, path, &stranger.scope)),
            ("with a token of another session", made(&secret, path, &stranger.scope)),
            ("with a token of another browser", made(&stranger.secret, path, &scope)),
            ("with a token of another path", made(&secret, "/auth/elsewhere", &scope)),
            ("from a foreign origin", own().header("origin", "https://evil.example")),
            ("from no origin", own().header("origin", "null")),
            ("cross-site", own().without_header("origin").header("sec-fetch-site", "cross-site")),
            ("from nowhere", own().without_header("origin").without_header("sec-fetch-site")),
        ]
    }

    fn form(&self) -> Form {
        let form = Form::of(self.page.text(), &self.action);
        form.unwrap_or_else(|| panic!("no form to {}: {:?}", self.action, self.page))
    }

    /// The form token of the page.
    fn token(&self) -> String {
        let found = self.form().hidden.into_iter().find(|(name, _)| name == TOKEN);
        found.expect("a form token").1
    }

    fn secret(&self) -> String {
        self.browser.cookie("latchkey_browser").expect("a browser that has opened a page")
    }

    /// What the form token is bound to: the flow of the address, or the session.
    fn scope(&self, form: &Form, token: &str) -> String {
        let flow = form.action.split_once("flow=").and_then(|(_, rest)| rest.split('&').next());
        let named = token.split_once('.').map(|(_, scope)| scope);
        flow.or(named).unwrap_or(&self.session).to_owned()
    }

    /// The request of the form with this token, from our own page.
    fn request(&self, token: Option<&str>) -> Request {
        let is_typed = |name: &str| name == TOKEN || self.fields.iter().any(|(typed, _)| *typed == name);
        let hidden = self.form().hidden.into_iter().filter(|(name, _)| !is_typed(name));
        let typed = self.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let typed = typed.chain(token.map(|token| (TOKEN.to_owned(), token.to_owned())));
        let pairs: Vec<_> = hidden.chain(typed).collect();
        let request = self.browser.form(&self.page, &self.action, &[]);
        if let Some(file) = self.file {
            request.raw(&format!("multipart/form-data; boundary={BOUNDARY}"), multipart(&pairs, file))
        } else {
            let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
            request.raw("application/x-www-form-urlencoded", body)
        }
    }
}

fn multipart(pairs: &[(String, String)], file: &str) -> String {
    let part = |head: String| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name={head}\r\n");
    let fields = pairs.iter().map(|(name, value)| part(format!("\"{name}\"\r\n\r\n{value}")));
    let file = part(format!("\"file\"; filename=\"people.jsonl\"\r\n\r\n{file}"));
    fields.collect::<String>() + &file + &format!("--{BOUNDARY}--\r\n")
}

/// Everything that is stored: all rows of all tables.
pub(crate) fn stored(app: &TestApp) -> Vec<String> {
    app.database().map_or_else(|| rows(app), |database| database.rows())
}

/// All rows of the SQLite file. Its bytes would not do: they also change when the log is written back.
fn rows(app: &TestApp) -> Vec<String> {
    let file = app.folder().join("latchkey.db");
    let file = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    // Virtual tables have their rows in tables of their own.
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'";
    let mut tables = file.prepare(tables).unwrap();
    let tables: Vec<String> =
        tables.query_map((), |row| row.get(0)).unwrap().map(|name| name.unwrap()).collect();
    let mut lines = Vec::new();
    for table in tables {
        let mut all = file.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let width = all.column_count();
        let line = |row: &rusqlite::Row<'_>| {
            let cells: rusqlite::Result<Vec<Cell>> = (0..width).map(|at| row.get(at)).collect();
            Ok(format!("{table}: {:?}", cells?))
        };
        lines.extend(all.query_map((), line).unwrap().map(|line| line.unwrap()));
    }
    lines
}

/// Asserts that nothing was stored since `before`.
#[track_caller]
pub(crate) fn assert_stored(app: &TestApp, before: &[String], what: &str) {
    let after = stored(app);
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|row| !those.contains(row)).cloned().collect()
    };
    assert!(after == before, "{what}: {:#?} became {:#?}", only(before, &after), only(&after, before));
}
