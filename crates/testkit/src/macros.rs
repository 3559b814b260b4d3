//! Macro [`both_stores!`], which makes one test per storage engine from each function in it.

use crate::app::TestApp;
use crate::builder::TestAppBuilder;
use crate::storage::Storage;

/// Starts the service of a test. Called by [`both_stores!`](crate::both_stores).
pub async fn start(storage: Storage, adjust: impl FnOnce(TestAppBuilder) -> TestAppBuilder) -> TestApp {
    adjust(TestApp::builder().storage(storage)).start().await
}

/// Makes a test for every storage engine from each function in it, for example
/// `expired_code_is_refused::sqlite` and `expired_code_is_refused::postgres`.
///
/// ```ignore
/// both_stores! {
///     async fn unknown_user_is_not_found(app) {
///         let answer = app.anon().get("/api/profiles/00000000-0000-7000-8000-000000000000").send().await;
///
///         answer.refused(404, "USER_NOT_FOUND");
///     }
///
///     with(|b| b.verification_by_code())
///     async fn sign_up_waits_for_the_code(app) { … }
///
///     // On several threads, where a race is the matter. Randomness then comes in another order at each run.
///     parallel with(|b| b.limits())
///     async fn one_of_twenty_wins(mut app) { … }
/// }
/// ```
#[macro_export]
macro_rules! both_stores {
    (@fact [$($meta:tt)*] [$($flavour:tt)*] [$adjust:expr] $name:ident $app:pat_param, $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "a fact takes what it needs of its file's imports")]
            use super::*;

            async fn fact($app: $crate::TestApp) $body

            #[::tokio::test($($flavour)*)]
            $($meta)*
            async fn sqlite() {
                fact($crate::macros::start($crate::Storage::Sqlite, $adjust).await).await;
            }

            #[::tokio::test($($flavour)*)]
            $($meta)*
            async fn postgres() {
                fact($crate::macros::start($crate::Storage::Postgres, $adjust).await).await;
            }
        }
    };
    () => {};
    ($(#[$meta:meta])* parallel with($adjust:expr) async fn $name:ident($app:pat_param) $body:block $($rest:tt)*) => {
        $crate::both_stores!(
            @fact [$(#[$meta])*] [flavor = "multi_thread", worker_threads = 2] [$adjust] $name $app, $body
        );
        $crate::both_stores!($($rest)*);
    };
    ($(#[$meta:meta])* parallel async fn $name:ident($app:pat_param) $body:block $($rest:tt)*) => {
        $crate::both_stores!(
            @fact [$(#[$meta])*] [flavor = "multi_thread", worker_threads = 2] [|builder| builder] $name $app, $body
        );
        $crate::both_stores!($($rest)*);
    };
    ($(#[$meta:meta])* with($adjust:expr) async fn $name:ident($app:pat_param) $body:block $($rest:tt)*) => {
        $crate::both_stores!(@fact [$(#[$meta])*] [] [$adjust] $name $app, $body);
        $crate::both_stores!($($rest)*);
    };
    ($(#[$meta:meta])* async fn $name:ident($app:pat_param) $body:block $($rest:tt)*) => {
        $crate::both_stores!(@fact [$(#[$meta])*] [] [|builder| builder] $name $app, $body);
        $crate::both_stores!($($rest)*);
    };
}
