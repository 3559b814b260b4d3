//! The table `oauth_used_tokens`.

use latchkey_store::UsedToken;

use crate::bulk::{Column, Table};
use crate::form::{Script, Slot, statements, values};

/// The columns of `oauth_used_tokens`, the key first.
pub const TABLE: Table =
    Table::new("oauth_used_tokens", 1, &[Column::bytes("hash"), Column::int("expires_at")]);

statements! {
    CLAIM = "
    INSERT INTO oauth_used_tokens (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
}

/// Notes a token of a provider; no row is affected if it was used before. A second sign-in with the same token waits here
/// for the first.
pub(crate) fn claim(script: &mut Script, token: UsedToken) -> Slot {
    script.change(&CLAIM, values![&token.hash, token.expires_at])
}
