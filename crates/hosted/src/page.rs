//! The type of a page: its path and its handlers.

use axum::routing::MethodRouter;

use crate::hosted::Hosted;

/// A page: a path with the handlers of its methods. `list.rs` lists all pages.
pub(crate) struct Page {
    pub(crate) path: &'static str,
    /// Handlers by method: `|| get(show).post(act)`. axum answers `HEAD` with the handler of `GET`.
    pub(crate) methods: fn() -> MethodRouter<Hosted>,
}

impl Page {
    pub(crate) const fn new(path: &'static str, methods: fn() -> MethodRouter<Hosted>) -> Self {
        Self { path, methods }
    }
}
