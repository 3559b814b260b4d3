//! Parties that act on accounts and settings of others.

use super::{Act, Protection, Role};
use crate::audit::Actor;
use crate::user::UserId;

/// An operator in the console, with the role that the grant has during this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActingOperator {
    /// User of the operator's account.
    pub user_id: UserId,
    /// Role of the operator.
    pub role: Role,
}

/// Party that acts on accounts or settings of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The holder of an admin key.
    Admin,
    /// An operator in the console.
    Operator(ActingOperator),
    /// The command line, or the service itself.
    System,
}

impl Party {
    /// Returns what the changes of this party spare. `protect` is true if the accounts of operators are protected from
    /// admin keys. It does not matter for an operator.
    #[must_use]
    pub fn protection(self, protect: bool) -> Protection {
        let changes_operators = match self {
            Self::Admin => !protect,
            Self::Operator(operator) => operator.role.may(Act::ChangeOperatorAccounts),
            Self::System => true,
        };
        if changes_operators { Protection::LastOwner } else { Protection::Operators }
    }

    /// Returns what the end of sessions by this party spares: the sessions of operators, for operators below admin.
    #[must_use]
    pub fn protection_from_end_of_sessions(self) -> Protection {
        match self {
            Self::Operator(operator) if !operator.role.may(Act::EndSessionsOfOperators) => {
                Protection::Operators
            }
            Self::Operator(_) | Self::Admin | Self::System => Protection::LastOwner,
        }
    }
}

impl From<Party> for Actor {
    fn from(party: Party) -> Self {
        match party {
            Party::Admin => Self::Admin,
            Party::Operator(operator) => Self::Operator(operator.user_id),
            Party::System => Self::System,
        }
    }
}
