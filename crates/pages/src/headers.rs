//! Headers of every page.

/// Content Security Policy of pages: all files come from the same origin, and nothing is inline.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// Names and values of the headers. With https, `Strict-Transport-Security` is added.
pub const HEADERS: [(&str, &str); 9] = [
    ("content-security-policy", POLICY),
    ("referrer-policy", "same-origin"),
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
