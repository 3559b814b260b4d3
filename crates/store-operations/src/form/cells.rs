//! Decoding of rows, column by column. An invalid stored value yields [`StoreError::Corrupt`], never a panic.

use std::net::IpAddr;

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{StoreError, StoreResult};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Error: the column has another type than requested, or does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongKind;

/// Value read from a column; `Ok(None)` for null.
pub type Cell<T> = Result<Option<T>, WrongKind>;

/// A row as returned by an engine. Columns are numbered from 0.
pub trait Row {
    fn int(&self, at: usize) -> Cell<i64>;
    fn flag(&self, at: usize) -> Cell<bool>;
    fn text(&self, at: usize) -> Cell<&str>;
    fn bytes(&self, at: usize) -> Cell<&[u8]>;
    fn id(&self, at: usize) -> Cell<Uuid>;
    fn is_null(&self, at: usize) -> bool;
}

/// Cursor over the columns of a row. Each method decodes the next column, named for the error message.
pub struct Cells<'r> {
    row: &'r dyn Row,
    table: &'static str,
    at: usize,
}

impl<'r> Cells<'r> {
    #[must_use]
    pub fn new(row: &'r dyn Row) -> Self {
        Self { row, table: "", at: 0 }
    }

    /// Sets the name of the table that the next columns belong to, for error messages.
    pub fn of(&mut self, table: &'static str) -> &mut Self {
        self.table = table;
        self
    }

    #[must_use]
    pub fn corrupt(&self, column: &'static str) -> StoreError {
        StoreError::Corrupt { table: self.table, column }
    }

    fn maybe<T>(
        &mut self,
        column: &'static str,
        read: fn(&'r dyn Row, usize) -> Cell<T>,
    ) -> StoreResult<Option<T>> {
        let value = read(self.row, self.at);
        self.at += 1;
        value.map_err(|WrongKind| self.corrupt(column))
    }

    fn get<T>(&mut self, column: &'static str, read: fn(&'r dyn Row, usize) -> Cell<T>) -> StoreResult<T> {
        self.maybe(column, read)?.ok_or_else(|| self.corrupt(column))
    }

    /// True if the next column is null. Does not advance to the next column.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.row.is_null(self.at)
    }

    pub fn int(&mut self, column: &'static str) -> StoreResult<i64> {
        self.get(column, Row::int)
    }

    pub fn maybe_int(&mut self, column: &'static str) -> StoreResult<Option<i64>> {
        self.maybe(column, Row::int)
    }

    pub fn count(&mut self, column: &'static str) -> StoreResult<u32> {
        self.int(column)?.try_into().map_err(|_| self.corrupt(column))
    }

    pub fn flag(&mut self, column: &'static str) -> StoreResult<bool> {
        self.get(column, Row::flag)
    }

    pub fn time(&mut self, column: &'static str) -> StoreResult<Timestamp> {
        self.int(column).map(Timestamp::from_millis)
    }

    pub fn maybe_time(&mut self, column: &'static str) -> StoreResult<Option<Timestamp>> {
        Ok(self.maybe_int(column)?.map(Timestamp::from_millis))
    }

    pub fn text(&mut self, column: &'static str) -> StoreResult<&'r str> {
        self.get(column, Row::text)
    }

    pub fn maybe_text(&mut self, column: &'static str) -> StoreResult<Option<String>> {
        Ok(self.maybe(column, Row::text)?.map(str::to_owned))
    }

    /// Decodes a text with `parse`. If `parse` returns `None`, the stored value is invalid.
    pub fn parsed<T>(&mut self, column: &'static str, parse: impl Fn(&str) -> Option<T>) -> StoreResult<T> {
        parse(self.text(column)?).ok_or_else(|| self.corrupt(column))
    }

    pub fn bytes(&mut self, column: &'static str) -> StoreResult<Vec<u8>> {
        self.get(column, Row::bytes).map(<[u8]>::to_vec)
    }

    pub fn maybe_bytes(&mut self, column: &'static str) -> StoreResult<Option<Vec<u8>>> {
        Ok(self.maybe(column, Row::bytes)?.map(<[u8]>::to_vec))
    }

    pub fn array<const N: usize>(&mut self, column: &'static str) -> StoreResult<[u8; N]> {
        let bytes = self.get(column, Row::bytes)?;
        bytes.try_into().map_err(|_| self.corrupt(column))
    }

    pub fn hash(&mut self, column: &'static str) -> StoreResult<TokenHash> {
        self.array(column).map(TokenHash::from_bytes)
    }

    pub fn maybe_hash(&mut self, column: &'static str) -> StoreResult<Option<TokenHash>> {
        if self.is_null() {
            self.at += 1;
            return Ok(None);
        }
        self.hash(column).map(Some)
    }

    pub fn id<T: From<Uuid>>(&mut self, column: &'static str) -> StoreResult<T> {
        self.get(column, Row::id).map(T::from)
    }

    pub fn maybe_id<T: From<Uuid>>(&mut self, column: &'static str) -> StoreResult<Option<T>> {
        Ok(self.maybe(column, Row::id)?.map(T::from))
    }

    pub fn email(&mut self, column: &'static str) -> StoreResult<Email> {
        self.parsed(column, Email::from_stored)
    }

    pub fn maybe_email(&mut self, column: &'static str) -> StoreResult<Option<Email>> {
        let text = self.maybe(column, Row::text)?;
        text.map(|text| Email::from_stored(text).ok_or_else(|| self.corrupt(column))).transpose()
    }

    pub fn json(&mut self, column: &'static str) -> StoreResult<Value> {
        self.parsed(column, |text| serde_json::from_str(text).ok())
    }

    pub fn object(&mut self, column: &'static str) -> StoreResult<Map<String, Value>> {
        self.parsed(
            column,
            |text| if text == "{}" { Some(Map::new()) } else { serde_json::from_str(text).ok() },
        )
    }

    /// Decodes two columns, `address` and `user_agent`. The address must not be null.
    pub fn client(&mut self) -> StoreResult<Client> {
        self.maybe_client()?.ok_or_else(|| self.corrupt("address"))
    }

    /// Decodes two columns, `address` and `user_agent`. Returns `None` if the address is null.
    pub fn maybe_client(&mut self) -> StoreResult<Option<Client>> {
        let address = self.maybe("address", Row::text)?.map(str::parse::<IpAddr>).transpose();
        let address = address.map_err(|_| self.corrupt("address"))?;
        let user_agent = self.maybe_text("user_agent")?;
        Ok(address.map(|address| Client { address: ClientAddress::new(address), user_agent, locale: None }))
    }
}
