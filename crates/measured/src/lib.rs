//! The attribute [`macro@measured`], which measures every method of an implementation block. The methods themselves stay
//! as they are, and a new one cannot be forgotten.

use proc_macro::TokenStream;
use quote::{ToTokens, quote};
use syn::{ImplItem, ImplItemFn, ItemImpl, ReturnType, parse_macro_input, parse_quote};

/// Measures the time and the error of each async method of the block, under the method's name, and makes it a span of the
/// trace of its request. It stands above
/// `#[async_trait]`. The type has a method `meter`, whose value has `finish(&Site, Stopwatch, Option<&E>)`, where `E` is
/// the error of all methods.
#[proc_macro_attribute]
pub fn measured(_: TokenStream, block: TokenStream) -> TokenStream {
    let mut block = parse_macro_input!(block as ItemImpl);
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            measure(method);
        }
    }
    block.into_token_stream().into()
}

/// Wraps the body of an async method that returns a value.
fn measure(method: &mut ImplItemFn) {
    let (Some(_), ReturnType::Type(_, outcome)) = (method.sig.asyncness, &method.sig.output) else { return };
    let (name, body) = (method.sig.ident.to_string(), &method.block);
    let measured = quote!({
        static SITE: ::latchkey_metrics::Site = ::latchkey_metrics::Site::new(#name);
        let watch = ::latchkey_metrics::Stopwatch::start();
        let span = ::tracing::info_span!(target: "traces", "store", operation = #name);
        let outcome: #outcome = ::tracing::Instrument::instrument(async move #body, span).await;
        self.meter().finish(&SITE, watch, outcome.as_ref().err());
        outcome
    });
    method.block = parse_quote!(#measured);
}
