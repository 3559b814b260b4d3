//! URL on the command line that may contain a password.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::settings::Secret;

/// URL as typed. Clap does not parse it, because clap's error message would repeat the URL with its password. `Debug`
/// redacts it.
#[derive(Clone)]
pub struct SecretUrl(pub Arc<Secret>);

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretUrl(…)")
    }
}

impl FromStr for SecretUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(Arc::new(Secret::new(text.to_owned()))))
    }
}
