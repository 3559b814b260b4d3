//! Ceremonies as a whole: the test vectors of the standard, a software authenticator whose facts are falsified one by
//! one, and hostile bytes.
#![allow(clippy::unwrap_used)]

mod assertion;
mod authenticator;
mod fuzz;
mod hostile;
mod keys;
mod registration;
mod vectors;
