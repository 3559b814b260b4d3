//! Table `used_ceremonies`: completed WebAuthn ceremonies (registrations and sign-ins by passkey). Each succeeds at
//! most once.

use latchkey_domain::tokens::TokenHash;
use latchkey_store::Ceremony;

use crate::bulk::{Table, columns};
use crate::form::statements;

pub const TABLE: Table = Table::new("used_ceremonies", 1, columns! { bytes hash, int expires_at });

statements! {
    /// Marks a ceremony as used. Affects no row if it was used before. A concurrent use of the same ceremony waits
    /// until the first one commits or rolls back.
    CLAIM: change claim(ceremony: Ceremony) [&ceremony.hash, ceremony.expires_at] = "
    INSERT INTO used_ceremonies (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
    FIND: read find(hash: TokenHash) [&hash] = "SELECT 1 FROM used_ceremonies WHERE hash = $1";
}
