//! From rows to the types of the domain. A value that no row may hold is [`StoreError::Corrupt`], never a panic.

use std::net::IpAddr;

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, KeyId, LeaseId, MailId, ProfileId, SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::StoreError;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::errors::{Fallible, Fault};

/// Reads the columns of a row in their order.
pub(crate) struct Cells<'r> {
    row: &'r Row<'r>,
    table: &'static str,
    at: usize,
}

impl<'r> Cells<'r> {
    /// Begins at the first column, which is of `table`.
    pub(crate) const fn new(row: &'r Row<'r>, table: &'static str) -> Self {
        Self { row, table, at: 0 }
    }

    /// Says of which table the next columns are.
    pub(crate) const fn of(&mut self, table: &'static str) -> &mut Self {
        self.table = table;
        self
    }

    /// That the column holds no such thing.
    pub(crate) fn corrupt(&self, column: &'static str) -> Fault {
        StoreError::Corrupt { table: self.table, column }.into()
    }

    fn next(&mut self) -> Fallible<ValueRef<'r>> {
        let value = self.row.get_ref(self.at)?;
        self.at += 1;
        Ok(value)
    }

    fn read<T>(&mut self, column: &'static str, read: impl FnOnce(ValueRef<'r>) -> Option<T>) -> Fallible<T> {
        let value = self.next()?;
        read(value).ok_or_else(|| self.corrupt(column))
    }

    /// The same for a column that can be null.
    fn read_maybe<T>(
        &mut self,
        column: &'static str,
        read: impl FnOnce(ValueRef<'r>) -> Option<T>,
    ) -> Fallible<Option<T>> {
        match self.next()? {
            ValueRef::Null => Ok(None),
            value => read(value).map(Some).ok_or_else(|| self.corrupt(column)),
        }
    }

    pub(crate) fn int(&mut self, column: &'static str) -> Fallible<i64> {
        self.read(column, |value| value.as_i64().ok())
    }

    pub(crate) fn count(&mut self, column: &'static str) -> Fallible<u32> {
        self.read(column, |value| value.as_i64().ok()?.try_into().ok())
    }

    pub(crate) fn flag(&mut self, column: &'static str) -> Fallible<bool> {
        self.read(column, |value| match value {
            ValueRef::Integer(0) => Some(false),
            ValueRef::Integer(1) => Some(true),
            _ => None,
        })
    }

    pub(crate) fn time(&mut self, column: &'static str) -> Fallible<Timestamp> {
        self.int(column).map(Timestamp::from_millis)
    }

    pub(crate) fn maybe_time(&mut self, column: &'static str) -> Fallible<Option<Timestamp>> {
        self.read_maybe(column, |value| value.as_i64().ok().map(Timestamp::from_millis))
    }

    pub(crate) fn text(&mut self, column: &'static str) -> Fallible<&'r str> {
        self.read(column, |value| value.as_str().ok())
    }

    pub(crate) fn maybe_text(&mut self, column: &'static str) -> Fallible<Option<String>> {
        self.read_maybe(column, |value| value.as_str().ok().map(str::to_owned))
    }

    /// A text that stands for something else.
    pub(crate) fn parsed<T>(
        &mut self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Fallible<T> {
        self.read(column, |value| parse(value.as_str().ok()?))
    }

    pub(crate) fn bytes(&mut self, column: &'static str) -> Fallible<Vec<u8>> {
        self.read(column, |value| value.as_blob().ok().map(<[u8]>::to_vec))
    }

    pub(crate) fn maybe_bytes(&mut self, column: &'static str) -> Fallible<Option<Vec<u8>>> {
        self.read_maybe(column, |value| value.as_blob().ok().map(<[u8]>::to_vec))
    }

    pub(crate) fn array<const N: usize>(&mut self, column: &'static str) -> Fallible<[u8; N]> {
        self.read(column, |value| value.as_blob().ok()?.try_into().ok())
    }

    pub(crate) fn hash(&mut self, column: &'static str) -> Fallible<TokenHash> {
        self.array(column).map(TokenHash::from_bytes)
    }

    pub(crate) fn id<T: Id>(&mut self, column: &'static str) -> Fallible<T> {
        self.array(column).map(T::from_blob)
    }

    pub(crate) fn maybe_id<T: Id>(&mut self, column: &'static str) -> Fallible<Option<T>> {
        self.read_maybe(column, |value| value.as_blob().ok()?.try_into().ok().map(T::from_blob))
    }

    pub(crate) fn email(&mut self, column: &'static str) -> Fallible<Email> {
        self.parsed(column, |text| Email::parse(text).ok())
    }

    pub(crate) fn maybe_email(&mut self, column: &'static str) -> Fallible<Option<Email>> {
        self.read_maybe(column, |value| Email::parse(value.as_str().ok()?).ok())
    }

    pub(crate) fn json(&mut self, column: &'static str) -> Fallible<Value> {
        self.parsed(column, |text| serde_json::from_str(text).ok())
    }

    pub(crate) fn object(&mut self, column: &'static str) -> Fallible<Map<String, Value>> {
        self.parsed(
            column,
            |text| if text == "{}" { Some(Map::new()) } else { serde_json::from_str(text).ok() },
        )
    }

    /// Two columns, `address` and `user_agent`.
    pub(crate) fn client(&mut self) -> Fallible<Client> {
        let client = self.maybe_client()?;
        client.ok_or_else(|| self.corrupt("address"))
    }

    /// Two columns, `address` and `user_agent`; none without an address.
    pub(crate) fn maybe_client(&mut self) -> Fallible<Option<Client>> {
        let address = self.read_maybe("address", |value| value.as_str().ok()?.parse::<IpAddr>().ok())?;
        let user_agent = self.maybe_text("user_agent")?;
        Ok(address.map(|address| Client { address: ClientAddress::new(address), user_agent }))
    }
}

/// An identifier that is kept as the 16 bytes of its UUID.
pub(crate) trait Id: Copy {
    fn blob(&self) -> [u8; 16];
    fn from_blob(bytes: [u8; 16]) -> Self;
}

macro_rules! ids {
    ($($name:ident)*) => {
        $(impl Id for $name {
            fn blob(&self) -> [u8; 16] {
                self.as_uuid().into_bytes()
            }

            fn from_blob(bytes: [u8; 16]) -> Self {
                Self::from_uuid(Uuid::from_bytes(bytes))
            }
        })*
    };
}

ids!(UserId ProfileId SessionId MailId EventId LeaseId KeyId);

/// The text of a JSON object.
pub(crate) fn object_text(object: &Map<String, Value>) -> Fallible<String> {
    serde_json::to_string(object).map_err(|error| crate::errors::driver(error).into())
}
