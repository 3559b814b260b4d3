//! Round trips of the operations on operators.

use latchkey_domain::operator::{AddressGrantId, Role};
use latchkey_store::{
    Accounts, ActivateOperator, AdoptGrant, GrantAddress, GrantOperator, NewToken, Operators,
    RenewActivation, RevokeAddress, RevokeOperator,
};

use super::{Measured, account, at, email, entry, event, next, session, token, user_id};

/// Number of the account.
const OPERATOR: u64 = 950;
/// Number of an account that is made after its grant.
const NEWCOMER: u64 = 951;

pub(super) async fn measure(measured: &mut Measured) {
    let m = measured;
    m.store.create_account_and_enter(account(OPERATOR), entry(session(OPERATOR))).await.unwrap();
    let (user_id, activation) = (user_id(OPERATOR), NewToken { hash: token(next()), expires_at: at(60) });
    let grant = GrantOperator {
        user_id,
        role: Role::Admin,
        granted_by: None,
        activation,
        event: event(next()),
        now: at(1),
    };
    op!(m.grant_operator(grant));
    op!(m.renew_activation(RenewActivation {
        user_id,
        activation,
        even_last_owner: true,
        event: event(next())
    }));
    op!(m.activate_operator(ActivateOperator {
        user_id,
        session_id: session(OPERATOR).id,
        token: activation.hash,
        needs_factor: false,
        rp_id: None,
        event: event(next()),
        now: at(2),
    }));
    op!(m.list_operators());
    op!(m.list_protected_accounts());
    op!(m.find_operator(user_id));
    op!(m.is_activation_valid(user_id, activation.hash, at(2)));
    op!(m.find_console_session(token(OPERATOR), token(OPERATOR), at(2)));
    op!(m.revoke_operator(RevokeOperator { user_id, even_last_owner: true, event: event(next()) }));
    measure_addresses(m).await;
}

/// Measures the grants for addresses without an account.
async fn measure_addresses(m: &mut Measured) {
    let activation = NewToken { hash: token(next()), expires_at: at(60) };
    let grant = || GrantAddress {
        id: AddressGrantId::new(at(1), [1; 10]),
        email: email(NEWCOMER),
        role: Role::Viewer,
        granted_by: None,
        activation,
        event: event(next()),
        now: at(1),
    };
    op!(m.grant_address(grant()));
    op!(m.revoke_address(RevokeAddress { email: email(NEWCOMER).key().clone(), event: event(next()) }));
    m.store.grant_address(grant()).await.unwrap();
    m.store.create_account(account(NEWCOMER)).await.unwrap();
    let adopt = AdoptGrant { token: activation.hash, event: event(next()), now: at(2) };
    assert!(op!(m.adopt_grant(adopt)));
}
