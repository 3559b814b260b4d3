//! Type of a case, and the macro that generates the function [`super::cases()`] and the macro
//! [`crate::conformance_tests`] from the list of cases.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use latchkey_store::Store;

use super::cases;

/// Future of a running case.
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Case: a fact of the contract that every engine must satisfy.
#[derive(Clone, Copy)]
pub struct Case {
    /// Module and fact, for example `codes::an_expired_code_is_refused`.
    pub name: &'static str,
    pub(super) run: fn(Arc<dyn Store>) -> Running,
}

impl Case {
    /// Runs the case on a new, empty store; panics if it fails.
    pub async fn run(&self, store: Arc<dyn Store>) {
        (self.run)(store).await;
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Runs the case of this name on a new, empty store.
///
/// # Panics
///
/// If there is no such case, or it fails.
pub async fn run(name: &str, store: Arc<dyn Store>) {
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of the table");
    case.run(store).await;
}

/// Generates the function and the macro. `$dollar` must be a `$`; there is no other way to write one into the generated
/// macro.
macro_rules! table {
    ($dollar:tt $($module:ident { $($case:ident,)* })*) => {
        /// Every case, ordered by module.
        #[must_use]
        pub fn cases() -> Vec<Case> {
            vec![$($(Case {
                name: concat!(stringify!($module), "::", stringify!($case)),
                run: |store| Box::pin($module::$case(World::new(store))),
            },)*)*]
        }

        /// Generates a test per case. Takes the name of an async function without arguments, in the scope of the
        /// call, that returns an empty store (`Arc<dyn Store>`) and a guard that must live as long as it.
        #[macro_export]
        macro_rules! conformance_tests {
            ($dollar make:ident) => {
                $(
                    mod $module {
                        $(
                            #[tokio::test(flavor = "multi_thread")]
                            async fn $case() {
                                let (store, _guard) = super::$dollar make().await;
                                let name = concat!(stringify!($module), "::", stringify!($case));
                                $dollar crate::conformance::run(name, store).await;
                            }
                        )*
                    }
                )*
            };
        }
    };
}
pub(super) use table;
