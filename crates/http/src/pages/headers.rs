//! Headers of the page of a mailed undo link: those of the hosted pages, but for the Content Security Policy, and for the
//! stricter `Referrer-Policy` of the API, as the address has a token. This crate does not see those of the hosted pages
//! (`crates/pages/src/headers.rs`); a test of the server compares them.

pub(super) const HEADERS: [(&str, &str); 7] = [
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "publickey-credentials-get=(self), publickey-credentials-create=(self), clipboard-write=(self), camera=(), \
         geolocation=(), microphone=(), payment=(), usb=()",
    ),
    ("x-frame-options", "DENY"),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("x-robots-tag", "noindex"),
];
