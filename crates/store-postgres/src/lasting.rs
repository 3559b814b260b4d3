//! Faults of a start that waiting does not mend: somebody has to change a setting or the server.

use std::error::Error;

use latchkey_store::StoreError;
use tokio_postgres::error::SqlState;

use crate::errors::ServerFault;

/// Why there will be no connection, however long one waits. Sentences end in what to do; none holds a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LastingFault {
    /// The user or the password is wrong, or the server wants none of them from here.
    #[error("the server refuses the user ({0}): mend user and password, or the server's pg_hba.conf")]
    Credentials(String),
    /// A password is wanted and none is there.
    #[error(
        "the server wants a password and the address has none: write postgres://user:password@host/database"
    )]
    NoPassword,
    /// The database does not exist.
    #[error("{0}: make it with CREATE DATABASE, or mend the name")]
    NoDatabase(String),
    /// The user may not do what the service needs.
    #[error(
        "the user lacks a right ({0}): make it the owner of the database, or run `latchkey migrate` as the owner and \
         grant the user of the service CONNECT on the database, USAGE on the schema, and SELECT, INSERT, UPDATE, DELETE \
         on all its tables"
    )]
    NoRight(String),
    /// The server has no TLS, and the address demands it.
    #[error(
        "the server has no TLS and sslmode demands it: switch ssl on at the server, or write sslmode=disable on a \
         network that you trust"
    )]
    NoTls,
    /// The server's certificate is not trusted, or not of this host.
    #[error("the server's certificate is refused ({0}): mend the host's name or the certificate authorities")]
    Certificate(String),
    /// Anything else that the engine is sure of.
    #[error("{0}")]
    Other(String),
}

impl LastingFault {
    /// What is lasting of an error; `None` where the next try may go better.
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

    /// The whole of an error as one line: what happened, and why.
    #[must_use]
    pub fn text_of(error: &StoreError) -> String {
        said(&chain(error))
    }
}

fn of_driver(error: &tokio_postgres::Error) -> Option<LastingFault> {
    let Some(said) = error.as_db_error() else {
        // The driver has no other way to tell them.
        let says = |words: &str| {
            error.to_string().contains(words)
                || error.source().is_some_and(|source| source.to_string().contains(words))
        };
        return match () {
            () if says("password missing") => Some(LastingFault::NoPassword),
            () if says("server does not support TLS") => Some(LastingFault::NoTls),
            () => None,
        };
    };
    of_server(said.code(), said.message())
}

fn of_server(code: &SqlState, message: &str) -> Option<LastingFault> {
    let text = message.to_owned();
    match code {
        code if *code == SqlState::INVALID_PASSWORD
            || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            Some(LastingFault::Credentials(text))
        }
        code if *code == SqlState::INVALID_CATALOG_NAME => Some(LastingFault::NoDatabase(text)),
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => Some(LastingFault::NoRight(text)),
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

/// The causes, without the contract's own words and without saying the same twice.
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
