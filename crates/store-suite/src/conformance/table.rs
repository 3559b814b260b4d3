//! What turns the list of cases into code: the function [`super::cases()`] and the macro [`crate::conformance_tests`].

/// Makes both out of the list. `$dollar` is a `$`: the only way to write one into the macro that comes out.
macro_rules! table {
    ($dollar:tt $($room:ident { $($case:ident,)* })*) => {
        /// Every case, in the order of the rooms.
        #[must_use]
        pub fn cases() -> Vec<Case> {
            vec![$($(Case {
                name: concat!(stringify!($room), "::", stringify!($case)),
                run: |store| Box::pin(super::$room::$case(World::new(store))),
            },)*)*]
        }

        /// Makes a test of every case. Takes the name of an async function without arguments, in the scope of the
        /// call, that answers with an empty store (`Arc<dyn Store>`) and whatever has to live as long as it.
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
