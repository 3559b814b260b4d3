//! Permanent faults at startup, for which a retry is useless until an operator changes a setting or the server.

use std::error::Error;

use latchkey_store::StoreError;
use tokio_postgres::error::SqlState;

use crate::errors::ServerFault;

/// Permanent reason for a failed connection. Each message ends with the remedy, and none contains a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermanentFault {
    /// The user or password is wrong, or `pg_hba.conf` rejects the client.
    #[error(
        "the server refuses the user ({0}): correct the user and the password, or the server's pg_hba.conf"
    )]
    Credentials(String),
    /// The server requires a password and the URL has none.
    #[error(
        "the server wants a password and the address has none: write postgres://user:password@host/database"
    )]
    NoPassword,
    #[error("{0}: create it with CREATE DATABASE, or correct the name")]
    NoDatabase(String),
    /// The user lacks a privilege that the service needs.
    #[error(
        "the user lacks a privilege ({0}): make it the owner of the database, or run `latchkey migrate` as the owner and \
         grant the user of the service CONNECT on the database, USAGE on the schema, and SELECT, INSERT, UPDATE, DELETE \
         on all its tables"
    )]
    NoRight(String),
    /// The server does not support TLS, and `sslmode` requires it.
    #[error(
        "the server has no TLS and sslmode demands it: switch ssl on at the server, or write sslmode=disable on a \
         network that you trust"
    )]
    NoTls,
    /// The server's certificate is not trusted, or was issued for another host.
    #[error(
        "the server's certificate is refused ({0}): correct the host name or the certificate authorities"
    )]
    Certificate(String),
    /// Any other error that the engine knows to be permanent.
    #[error("{0}")]
    Other(String),
}

impl PermanentFault {
    /// Returns the permanent fault behind an error, or `None` if a retry may succeed.
    #[must_use]
    pub fn of(error: &StoreError) -> Option<Self> {
        let chain = chain(error);
        for link in &chain {
            let fault = link.downcast_ref::<tokio_postgres::Error>().and_then(of_driver);
            let fault = fault.or_else(|| {
                link.downcast_ref::<ServerFault>().and_then(|fault| of_server(&fault.code, &fault.message))
            });
            if fault.is_some() {
                return fault;
            }
            if let Some(refused) = certificate(*link) {
                return Some(Self::Certificate(refused));
            }
        }
        match error {
            StoreError::Unavailable(_) => None,
            _ => Some(Self::Other(said(&chain))),
        }
    }

    /// Joins the messages of an error and its causes in one line.
    #[must_use]
    pub fn text_of(error: &StoreError) -> String {
        said(&chain(error))
    }
}

fn of_driver(error: &tokio_postgres::Error) -> Option<PermanentFault> {
    let Some(said) = error.as_db_error() else {
        // The driver has no error codes for these errors, so their messages are compared.
        let says = |words: &str| {
            error.to_string().contains(words)
                || error.source().is_some_and(|source| source.to_string().contains(words))
        };
        return match () {
            () if says("password missing") => Some(PermanentFault::NoPassword),
            () if says("server does not support TLS") => Some(PermanentFault::NoTls),
            () => None,
        };
    };
    of_server(said.code(), said.message())
}

fn of_server(code: &SqlState, message: &str) -> Option<PermanentFault> {
    let text = message.to_owned();
    match code {
        code if *code == SqlState::INVALID_PASSWORD
            || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            Some(PermanentFault::Credentials(text))
        }
        code if *code == SqlState::INVALID_CATALOG_NAME => Some(PermanentFault::NoDatabase(text)),
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => Some(PermanentFault::NoRight(text)),
        _ => None,
    }
}

fn certificate(error: &(dyn Error + 'static)) -> Option<String> {
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    let refused = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let refused = refused.or_else(|| error.downcast_ref::<rustls::Error>())?;
    matches!(refused, rustls::Error::InvalidCertificate(_)).then(|| refused.to_string())
}

fn chain(error: &StoreError) -> Vec<&(dyn Error + 'static)> {
    let mut chain = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(link) = next {
        chain.push(link);
        next = link.source();
    }
    chain
}

/// Joins the messages of an error's causes with colons. Leaves out the first message, which is that of
/// [`StoreError`], and repetitions.
fn said(chain: &[&(dyn Error + 'static)]) -> String {
    let mut text = String::new();
    for part in chain.iter().skip(1).map(ToString::to_string) {
        if text.contains(&part) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&part);
    }
    text
}
