//! Steps shared by operations on identities of external providers: lookup of the account, decision on a sign-in,
//! linking.

use latchkey_domain::email_verification::AccountFacts;
use latchkey_domain::identity::{
    Candidate, IdentityRules, IdentityVerdict, Issuer, VerifiedIdentity, judge_sign_in,
};
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::form::{Results, Script, Slot};
use crate::tables::identities::{self, Sought};
use crate::tables::undo_tokens;
use crate::tables::users::{self, Account};

/// Handle of the statement that reads the account of an identity: the account that the identity is linked to, or else
/// the account with the identity's email address.
#[derive(Clone, Copy)]
pub(crate) struct Concerned {
    account: Slot,
    /// Handle of the statement that reads whether the address is reserved; `None` if the identity has no address.
    reservation: Option<Slot>,
}

/// Decision of `latchkey_domain` on a sign-in with an identity, and the account that it is based on.
pub(crate) struct Judged {
    pub(crate) verdict: IdentityVerdict,
    /// The account that the identity is linked to, or else the account with its email address; `None` if
    /// there is neither.
    pub(crate) account: Option<Account>,
    /// True if the identity is linked, and was stored without an issuer.
    pub(crate) lacks_issuer: bool,
}

impl Concerned {
    /// Adds the statement that reads the account that an identity is linked to, or else the account with the
    /// identity's email address.
    pub(crate) fn find(script: &mut Script, sought: Sought<'_>, now: Timestamp) -> Self {
        let account = identities::find_concerned(script, sought);
        let email = sought.identity.email.as_ref();
        let reservation = email.map(|email| undo_tokens::find_reservation(script, email.key(), None, now));
        Self { account, reservation }
    }

    /// Decodes the account, and decides on the sign-in by the rules of `latchkey_domain`.
    pub(crate) fn judge(
        self,
        results: &Results<'_>,
        identity: &VerifiedIdentity,
        rules: IdentityRules,
    ) -> StoreResult<Judged> {
        let found = results.find(self.account, |cells| {
            let issuer = cells.of("identities").maybe_text("issuer")?.map(Issuer::from_stored);
            Ok((issuer, users::read_account(cells)?))
        })?;
        let verdict = match &found {
            Some((Some(_), owner)) => judge_sign_in(identity, Some(&owner.user), None, rules),
            Some((None, account)) => {
                let AccountFacts { was_ever_verified, has_unproven_password, .. } = account.standing();
                let candidate = Candidate { user: &account.user, was_ever_verified, has_unproven_password };
                judge_sign_in(identity, None, Some(candidate), rules)
            }
            None => {
                let verdict = judge_sign_in(identity, None, None, rules);
                let reservation = self.reservation.map(|slot| undo_tokens::is_reserved(results, slot));
                if reservation.transpose()? == Some(true) { verdict.at_reserved_address() } else { verdict }
            }
        };
        let lacks_issuer = matches!(&found, Some((Some(issuer), _)) if issuer.is_unknown());
        Ok(Judged { verdict, account: found.map(|(_, account)| account), lacks_issuer })
    }
}

pub(crate) fn link(writes: &mut Script, user_id: UserId, identity: &VerifiedIdentity, now: Timestamp) {
    identities::insert(writes, user_id, identity, now);
    users::touch(writes, user_id, now);
}
