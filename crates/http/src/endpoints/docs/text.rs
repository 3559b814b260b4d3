//! The little of `CommonMark` that the document's texts use: paragraphs and code.

use crate::pages::escape;

/// Paragraphs of a text.
pub(super) fn paragraphs(text: &str) -> String {
    let paragraph = |text: &str| format!("<p>{}</p>\n", inline(text));
    text.split("\n\n").filter(|text| !text.is_empty()).map(paragraph).collect()
}

/// One run of text, in which back quotes mark code.
pub(super) fn inline(text: &str) -> String {
    let piece = |(at, piece): (usize, &str)| {
        if at % 2 == 0 { escape(piece) } else { format!("<code>{}</code>", escape(piece)) }
    };
    text.split('`').enumerate().map(piece).collect()
}
