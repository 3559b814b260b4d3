//! Macro that generates the function [`super::cases()`] and the macro [`crate::conformance_tests`] from the list
//! of cases.

/// Generates both. `$dollar` is a `$`, the only way to write one into the generated macro.
macro_rules! table {
    ($dollar:tt $($room:ident { $($case:ident,)* })*) => {
        /// Every case, ordered by module.
        #[must_use]
        pub fn cases() -> Vec<Case> {
            vec![$($(Case {
                name: concat!(stringify!($room), "::", stringify!($case)),
                run: |store| Box::pin(super::$room::$case(World::new(store))),
            },)*)*]
        }

        /// Generates a test per case. Takes the name of an async function without arguments, in the scope of the
        /// call, that returns an empty store (`Arc<dyn Store>`) and a guard that must live as long as it.
        #[macro_export]
        macro_rules! conformance_tests {
            ($dollar make:ident) => {
                $(
                    mod $room {
                        $(
                            #[tokio::test(flavor = "multi_thread")]
                            async fn $case() {
                                let (store, _guard) = super::$dollar make().await;
                                let name = concat!(stringify!($room), "::", stringify!($case));
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
