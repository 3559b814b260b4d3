//! Grants for addresses without an account.

use super::Grant;
use crate::email::Email;
use crate::id::id;

id! {
    /// Id of a grant for an address. Its audit events have it in common, because none names the address.
    AddressGrantId
}

/// A grant for an address without an account. It sleeps until its activation link is used: then the account that has the
/// address by that time gets it, if it is verified.
///
/// The link is shown to an owner or on the terminal, never mailed. So it proves that an owner trusts its holder, and not that
/// the holder reads the mailbox: the address is verified by a mailed code all the same, and the second factor is added last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressGrant {
    /// Id of the grant.
    pub id: AddressGrantId,
    /// Address of the account to be.
    pub email: Email,
    /// Role, and the expiry of the link. It is never active.
    pub grant: Grant,
}
