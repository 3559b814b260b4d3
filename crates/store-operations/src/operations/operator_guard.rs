//! Protection of the accounts of operators. The rules are in [`latchkey_domain::operator`].

use std::collections::BTreeMap;

use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Effect, Operator, OperatorRefusal, Protection, Role};
use latchkey_store::StoreResult;

use crate::form::{Results, Script, Slot};
use crate::tables::{operator_addresses, operators};

/// Handles of the statements that read all operators, for a change with this effect.
#[derive(Clone, Copy)]
pub(crate) struct OperatorReads {
    operators: Slot,
    /// Accounts whose address has a grant that waits for its link.
    waiting: Slot,
    effect: Effect,
}

impl OperatorReads {
    /// Adds the statements that read all operators. Earlier statements must lock the accounts concerned.
    pub(crate) fn find(script: &mut Script, effect: Effect) -> Self {
        if effect == Effect::Loss {
            operators::lock_owners(script);
        }
        let waiting = operator_addresses::list_accounts(script);
        Self { operators: operators::list(script), waiting, effect }
    }

    /// Lessens the effect, where the reads show that the change is no loss.
    pub(crate) const fn lessened_to(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// Decides whether the grant of an account, if it has one, may fall asleep by what the account itself does. The last
    /// owner stays awake: nobody else could make a new link but the command line. A grant that sleeps already is no loss.
    pub(crate) fn judge_sleep(
        self,
        results: &Results<'_>,
        account: UserId,
    ) -> StoreResult<Result<(), OperatorRefusal>> {
        let operators = operators::operators(results, self.operators)?;
        let standings: Vec<_> = operators.iter().map(Operator::standing).collect();
        let is_awake = standings.iter().any(|one| one.user_id == account && one.can_enter);
        let effect = if is_awake { self.effect } else { Effect::Change };
        Ok(Protection::LastOwner.judge(effect, &[account], &standings))
    }

    /// Returns the accounts that are protected, with their roles: operators, and those whose address has a grant that waits.
    /// Whoever changes one of the latter would choose who becomes the operator.
    pub(crate) fn protected(self, results: &Results<'_>) -> StoreResult<BTreeMap<UserId, Role>> {
        let waiting = results.list(self.waiting, operator_addresses::read_account)?;
        let operators = operators::operators(results, self.operators)?;
        let own = operators.into_iter().map(|operator| (operator.user.id, operator.grant.role));
        Ok(waiting.into_iter().chain(own).collect())
    }

    /// Decides whether the accounts may be changed.
    pub(crate) fn judge(
        self,
        results: &Results<'_>,
        protection: Protection,
        accounts: &[UserId],
    ) -> StoreResult<Result<(), OperatorRefusal>> {
        if protection == Protection::Operators {
            let protected = self.protected(results)?;
            if accounts.iter().any(|id| protected.contains_key(id)) {
                return Ok(Err(OperatorRefusal::Protected));
            }
        }
        let operators = operators::operators(results, self.operators)?;
        let standings: Vec<_> = operators.iter().map(Operator::standing).collect();
        Ok(protection.judge(self.effect, accounts, &standings))
    }
}
