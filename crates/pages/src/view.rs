//! A view: the values of one page, and the template that shows them.

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

/// A view: the values of one page.
pub trait View {
    /// Name of the template.
    fn template(&self) -> &'static str;
    /// The values, which the template sees as the variable `view`.
    fn value(&self) -> Value;
}

/// Implements [`View`] for types, each with the name of its template.
macro_rules! views {
    ($($view:ident $template:literal)+) => {
        $(impl $crate::view::View for $view {
            fn template(&self) -> &'static str {
                $template
            }

            fn value(&self) -> ::minijinja::Value {
                $crate::view::value(self)
            }
        })+
    };
}
pub(crate) use views;

pub(crate) fn value(view: &impl Serialize) -> Value {
    Value::from(Serde(view))
}
