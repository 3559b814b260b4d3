//! Deletion of an account with everything that belongs to it.

use latchkey_domain::ids::UserId;

use crate::form::Script;
use crate::tables::{codes, link_tokens, outbox, users};

/// Deletes a user with all that belongs to the user. Codes, links and mails are deleted explicitly. They have no
/// foreign key to the user, because decoys without a user would then cost less to write.
pub(crate) fn delete(writes: &mut Script, id: UserId) {
    codes::delete_all_codes_of(writes, id);
    link_tokens::delete_all_of(writes, id);
    outbox::delete_all_of(writes, id);
    users::delete(writes, id);
}
