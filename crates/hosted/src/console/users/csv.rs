//! `/console/users/csv`: the list of users as a CSV file (RFC 4180).

use axum::body::Body;
use axum::response::Response;
use axum::routing::post;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use latchkey_domain::operator::Act;
use latchkey_domain::user::User;
use latchkey_domain::user_list::UserFilter;
use latchkey_pages::console::{Problem, Refusal};
use latchkey_service::admin::{ListUsers, UserPosition};

use super::typed::Typed;
use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::{Outcome, Stop};
use crate::console::submission::Sent;
use crate::console::user::state_of;
use crate::console::visit::ConsoleVisit;

pub(in crate::console) const PATH: &str = "/console/users/csv";
/// Most rows of a file.
const MOST: u64 = 10_000;
/// Number of users that are read at once.
const BATCH: u32 = 1_000;
/// What may separate cells or rows for a spreadsheet, besides the comma.
const SEPARATORS: [char; 4] = [';', '\t', '\r', '\n'];
const HEADS: [&str; 7] = ["id", "email", "name", "state", "ways", "created", "lastSignIn"];

const CONTENT: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");
const FILE: HeaderValue = HeaderValue::from_static("attachment; filename=\"users.csv\"");

pub(crate) const PAGE: Page = Page::of_acts(PATH, || post(act));

async fn act(sent: Sent) -> Outcome {
    let visit = sent.must(Act::ExportLists).await?.visit;
    let typed = Typed::of(&visit)?;
    let Some(users) = users(&visit, &typed).await? else {
        let rejection = Rejection::of(Problem::whole(Refusal::TooManyRows { most: MOST }));
        let view = super::view(&visit, &typed).await?;
        return visit.refuse(rejection, &view);
    };
    let filters = typed.filters().into_iter().filter(|(_, value)| !value.is_empty());
    let filters: Vec<_> = filters.map(|(name, _)| if name == "q" { "search" } else { name }).collect();
    let admin = &visit.service().admin;
    admin.note_export(users.len(), &filters, visit.party(), &visit.to_client()).await?;

    let mut text = String::new();
    line(&mut text, HEADS.map(str::to_owned));
    for user in &users {
        line(&mut text, cells(user));
    }
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, CONTENT);
    response.headers_mut().insert(CONTENT_DISPOSITION, FILE);
    Ok(visit.file(response))
}

/// Reads all users that pass the filters; `None` if they are too many for a file.
async fn users(visit: &ConsoleVisit, typed: &Typed) -> Result<Option<Vec<User>>, Stop> {
    let Some(filter) = typed.filter() else { return Ok(Some(Vec::new())) };
    let mut users: Vec<User> = Vec::new();
    let mut position = UserPosition::Offset(0);
    loop {
        let page = visit.service().admin.list_users(&batch(&filter, typed, position)).await?;
        if page.total > MOST {
            return Ok(None);
        }
        users.extend(page.users);
        match users.last().filter(|_| page.has_more) {
            Some(last) if (users.len() as u64) < MOST => {
                position = UserPosition::After(typed.order.sort.key_of(last));
            }
            _ => return Ok(Some(users)),
        }
    }
}

fn batch(filter: &UserFilter, typed: &Typed, position: UserPosition) -> ListUsers {
    ListUsers { filter: filter.clone(), order: typed.order, position, limit: BATCH }
}

fn cells(user: &User) -> [String; 7] {
    let name = user.profile.as_ref().map(|profile| profile.name.as_str().to_owned());
    [
        user.id.to_string(),
        user.email.as_typed().to_owned(),
        name.unwrap_or_default(),
        state_of(user).to_string(),
        user.providers().join(" "),
        user.created_at.to_string(),
        user.last_sign_in_at.map(|at| at.to_string()).unwrap_or_default(),
    ]
}

fn line<const N: usize>(text: &mut String, cells: [String; N]) {
    text.push_str(&cells.map(|cell| quoted(&cell)).join(","));
    text.push_str("\r\n");
}

/// Writes a cell. A spreadsheet would take one that begins like a formula for a formula, so it gets a `'` in front. So does
/// a part behind a semicolon, tab or line break: where those separate cells, our quotes stand in the middle of one and
/// hold nothing together. A quote before it would be read over.
fn quoted(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len() + 2);
    let mut begins = true;
    for sign in cell.chars() {
        if begins && matches!(sign, '=' | '+' | '-' | '@' | '\t' | '\r') {
            text.push('\'');
        }
        if sign == '"' {
            text.push('"');
        }
        text.push(sign);
        begins = SEPARATORS.contains(&sign) || (begins && sign == '"');
    }
    let is_quoted = cell.contains(SEPARATORS) || cell.contains([',', '"']);
    if is_quoted { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_that_begins_like_a_formula_is_text() {
        for start in ["=", "+", "-", "@"] {
            assert_eq!(quoted(&format!("{start}1")), format!("'{start}1"));
        }
        assert_eq!(quoted("\t1"), "\"'\t1\"");
        assert_eq!(quoted("\r=1"), "\"'\r'=1\"");
        assert_eq!(quoted("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
    }

    #[test]
    fn part_behind_another_separator_that_begins_like_a_formula_is_text() {
        assert_eq!(quoted("x;=cmd|' /C calc'!A0"), "\"x;'=cmd|' /C calc'!A0\"");
        assert_eq!(quoted("x\t@1\n+1"), "\"x\t'@1\n'+1\"");
        assert_eq!(quoted("\";-1"), "\"\"\";'-1\"");
        assert_eq!(quoted("x;\"=1"), "\"x;\"\"'=1\"");
    }

    #[test]
    fn cell_with_a_separator_or_a_line_break_is_quoted() {
        assert_eq!(quoted("Lovelace, Ada"), "\"Lovelace, Ada\"");
        assert_eq!(quoted("a;b"), "\"a;b\"");
        assert_eq!(quoted("a\tb"), "\"a\tb\"");
        assert_eq!(quoted("a\nb"), "\"a\nb\"");
        assert_eq!(quoted("Ada"), "Ada");
    }
}
