//! Audit events as the console shows them: actors and users by name, details in words.

use std::collections::HashMap;

use latchkey_domain::audit::{Actor, AuditEvent};
use latchkey_domain::client::Client;
use latchkey_domain::ids::UserId;
use latchkey_domain::user::User;
use latchkey_pages::When;
use latchkey_pages::console::views::{By, ClientShown, Detail, EventRow, PersonLink};
use latchkey_service::{Error, Service};
use serde_json::Value;

/// Whether events name the user concerned. The page of a user leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum People {
    Named,
    Omitted,
}

/// Returns events as rows.
pub(crate) async fn rows(
    service: &Service,
    events: Vec<AuditEvent>,
    people: People,
) -> latchkey_service::Result<Vec<EventRow>> {
    let mut known = Known { service, users: HashMap::new() };
    let mut rows = Vec::with_capacity(events.len());
    for event in events {
        let person = match event.user_id.filter(|_| people == People::Named) {
            Some(id) => Some(known.person(id).await?),
            None => None,
        };
        rows.push(EventRow {
            id: event.id,
            kind: event.kind,
            at: When(event.at),
            by: known.by(event.actor).await?,
            person,
            client: event.client.map(|client| shown(&client)),
            details: event.details.iter().map(|(name, value)| detail(name, value)).collect(),
        });
    }
    Ok(rows)
}

/// Users that were read for the events of one page; `None` for a deleted one.
struct Known<'a> {
    service: &'a Service,
    users: HashMap<UserId, Option<User>>,
}

impl Known<'_> {
    async fn user(&mut self, id: UserId) -> latchkey_service::Result<Option<&User>> {
        if !self.users.contains_key(&id) {
            let found = match self.service.admin.find_user(id).await {
                Ok(user) => Some(user),
                Err(Error::Refused(_)) => None,
                Err(error) => return Err(error),
            };
            self.users.insert(id, found);
        }
        Ok(self.users.get(&id).and_then(Option::as_ref))
    }

    async fn person(&mut self, id: UserId) -> latchkey_service::Result<PersonLink> {
        let email = self.user(id).await?.map(|user| user.email.as_typed().to_owned());
        Ok(PersonLink { id, email })
    }

    async fn by(&mut self, actor: Actor) -> latchkey_service::Result<By> {
        Ok(match actor {
            Actor::User => By::User,
            Actor::Admin => By::Key,
            Actor::System => By::System,
            Actor::Operator(id) => {
                let name = self.user(id).await?.map(|user| user.email.as_typed().to_owned());
                By::Operator { name: name.unwrap_or_else(|| id.to_string()) }
            }
        })
    }
}

fn shown(client: &Client) -> ClientShown {
    ClientShown { device: client.device().into(), address: client.address.to_string() }
}

/// Returns a detail as text: a list is joined, and names are told in words.
fn detail(name: &str, value: &Value) -> Detail {
    let text = text(value);
    let value = if name == "act" { words(&text) } else { text };
    let name = match name {
        "amr" => "methods".to_owned(),
        "kid" => "key".to_owned(),
        name => words(name),
    };
    Detail { name, value }
}

/// Returns the words of a name in snake or camel case: `import id` of `importId`.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        match letter {
            '_' => words.push(' '),
            letter if letter.is_ascii_uppercase() => words.extend([' ', letter.to_ascii_lowercase()]),
            letter => words.push(letter),
        }
    }
    words
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(values) => values
            .iter()
            .map(|(name, value)| format!("{name} {}", text(value)))
            .collect::<Vec<_>>()
            .join("; "),
        other => other.to_string(),
    }
}
