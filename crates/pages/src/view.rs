//! A view: the values of one page, and the template that shows them.

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

/// The values of one page.
pub trait View {
    /// Name of the template.
    fn template(&self) -> &'static str;
    /// The values, as the variable `view` of the template.
    fn value(&self) -> Value;
}

/// Implements [`View`] for types with the names of their templates.
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
