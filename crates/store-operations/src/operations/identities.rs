//! Identities: judging a sign-in, linking and listing.

use latchkey_domain::email_verification::AccountFacts;
use latchkey_domain::identity::{
    Candidate, IdentityRules, IdentityVerdict, Issuer, ProviderKey, VerifiedIdentity, judge_sign_in,
};
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{LinkedIdentity, StoreResult};

use crate::form::{Executor, Repeat, Results, Script, Slot};
use crate::tables::identities::{self, Sought};
use crate::tables::users::{self, Account};

/// Slot of the account that an identity belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Concerned(Slot);

/// A judged sign-in.
pub(crate) struct Judged {
    pub(crate) verdict: IdentityVerdict,
    /// Account that the identity belongs to, if any.
    pub(crate) account: Option<Account>,
    /// True if the identity is linked to the account without an issuer.
    pub(crate) lacks_issuer: bool,
}

impl Concerned {
    /// Reads the account.
    pub(crate) fn find(script: &mut Script, sought: Sought<'_>) -> Self {
        Self(identities::find_concerned(script, sought))
    }

    /// Judges a sign-in in the current state.
    pub(crate) fn judge(
        self,
        results: &Results<'_>,
        identity: &VerifiedIdentity,
        rules: IdentityRules,
    ) -> StoreResult<Judged> {
        let found = results.find(self.0, |cells| {
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
            None => judge_sign_in(identity, None, None, rules),
        };
        let lacks_issuer = matches!(&found, Some((Some(issuer), _)) if issuer.is_unknown());
        Ok(Judged { verdict, account: found.map(|(_, account)| account), lacks_issuer })
    }
}

pub(crate) fn link(writes: &mut Script, user_id: UserId, identity: &VerifiedIdentity, now: Timestamp) {
    identities::insert(writes, user_id, identity, now);
    users::touch(writes, user_id, now);
}

pub(crate) async fn list<E: Executor>(engine: &E, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>> {
    let mut script = Script::default();
    let all = identities::list_of(&mut script, user_id);
    engine.read(script, move |results| results.list(all, identities::read_linked)).await
}

/// Backfills the issuer of identities stored without one.
pub(crate) async fn settle_issuers<E: Executor>(
    engine: &E,
    issuers: &[(ProviderKey, Issuer)],
) -> StoreResult<()> {
    let mut script = Script::default();
    for (provider, issuer) in issuers {
        identities::settle(&mut script, provider, issuer);
    }
    engine.write(script, Repeat::Harmless, |_| Ok(())).await
}
