//! Operations without the type of their outcome. An engine's code for a transaction is large, and it would be compiled anew
//! for each type.

use std::any::Any;

use latchkey_store::{StoreError, StoreResult};

use super::{Decided, Finish, Results};

/// Outcome of an operation.
pub(super) type AnyOutcome = Box<dyn Any + Send>;
/// Computes the outcome from the results of the last script.
pub(super) type AnyFinish = Finish<AnyOutcome>;
/// Makes the decision of an operation.
pub(super) type AnyDecide = Box<dyn Fn(&Results<'_>) -> StoreResult<Decided<AnyOutcome>> + Send + Sync>;

/// The outcome is not of the type that its operation makes, which cannot happen.
#[derive(Debug, thiserror::Error)]
#[error("the outcome of an operation has another type")]
struct OtherType;

pub(super) fn finish<T: Send + 'static>(
    finish: impl FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
) -> AnyFinish {
    Box::new(move |results| Ok(Box::new(finish(results)?)))
}

pub(super) fn decide<T: Send + 'static>(
    decide: impl Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
) -> AnyDecide {
    Box::new(move |results| {
        Ok(match decide(results)? {
            Decided::Return(outcome) => Decided::Return(Box::new(outcome)),
            Decided::Write(script, made) => Decided::Write(script, finish(made)),
            Decided::Retry => Decided::Retry,
        })
    })
}

/// Returns the outcome with the type that [`finish`] or [`decide`] took from it.
pub(super) fn typed<T: 'static>(outcome: AnyOutcome) -> StoreResult<T> {
    outcome.downcast().map(|outcome| *outcome).map_err(|_| StoreError::Driver(Box::new(OtherType)))
}
