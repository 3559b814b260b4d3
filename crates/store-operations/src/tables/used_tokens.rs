//! Table `oauth_used_tokens`: hashes of provider tokens that were used for a sign-in, to detect replays.

use latchkey_store::UsedToken;

use crate::bulk::{Table, columns};
use crate::form::statements;

pub const TABLE: Table = Table::new("oauth_used_tokens", 1, columns! { bytes hash, int expires_at });

statements! {
    /// Marks a provider token as used. Affects no row if it was used before. A concurrent sign-in with the same token
    /// waits until the first one commits or rolls back.
    CLAIM: change claim(token: UsedToken) [&token.hash, token.expires_at] = "
    INSERT INTO oauth_used_tokens (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
}
