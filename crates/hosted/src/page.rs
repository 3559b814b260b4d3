//! The type of a page: its path and its handlers.

use axum::routing::MethodRouter;

use crate::hosted::Hosted;

/// A page: a path with the handlers of its methods. `list.rs` lists the pages of `/auth`, `console/list.rs` those of the
/// console. `S` is the state that their handlers share.
pub(crate) struct Page<S = Hosted> {
    pub(crate) path: &'static str,
    /// Handlers by method: `|| get(show).post(act)`. axum answers `HEAD` with the handler of `GET`.
    pub(crate) methods: fn() -> MethodRouter<S>,
    /// Names of the methods that have a handler.
    named: &'static [&'static str],
}

impl<S> Page<S> {
    pub(crate) const fn new(path: &'static str, methods: fn() -> MethodRouter<S>) -> Self {
        Self { path, methods, named: &["GET", "POST"] }
    }

    /// Creates a page that nothing is sent to: it answers `GET` alone.
    pub(crate) const fn of_reads(path: &'static str, methods: fn() -> MethodRouter<S>) -> Self {
        Self { path, methods, named: &["GET"] }
    }

    /// Creates the target of a form that other pages show: it answers `POST` alone.
    pub(crate) const fn of_acts(path: &'static str, methods: fn() -> MethodRouter<S>) -> Self {
        Self { path, methods, named: &["POST"] }
    }

    /// Lists path and method of the handlers.
    pub(crate) fn routes(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<S> {
        let (path, named) = (self.path, self.named);
        named.iter().map(move |method| (path, *method))
    }
}
