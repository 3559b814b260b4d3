//! Public suffixes such as `github.io`, below which anyone can register a name, and warnings about redirect wildcards
//! below them.

use latchkey_domain::redirect::RedirectEntry;
use public_suffix::{DEFAULT_PROVIDER, EffectiveTLDProvider, Error};

/// Arbitrary label in front of a domain, to find out if a rule such as `*.example` makes it a public suffix.
const ANY: &str = "x";

/// Returns warnings about entries whose wildcard matches hosts of unrelated owners. Entries that do not parse are
/// reported elsewhere.
pub fn redirect_warnings(entries: &[String]) -> impl Iterator<Item = String> {
    entries.iter().filter_map(|text| {
        let parent = RedirectEntry::parse(text).ok()?.wildcard_parent()?;
        is_open_to_all(&parent).then(|| {
            format!(
                "auth.allowed_redirect_urls: {text} allows hosts of any owner, because names below {parent} are open to \
                 registration; name your own host, such as your-app.{parent}"
            )
        })
    })
}

/// True if anyone can register names below the domain: it is a public suffix, or every name directly below it is one.
fn is_open_to_all(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.');
    is_public_suffix(domain) || (domain.contains('.') && is_public_suffix(&format!("{ANY}.{domain}")))
}

/// True if the domain is a public suffix of several labels. The list treats an unknown top-level domain as a public
/// suffix, so names of one label are not tested.
pub(super) fn is_public_suffix(domain: &str) -> bool {
    domain.contains('.')
        && DEFAULT_PROVIDER.effective_tld_plus_one(domain) == Err(Error::CannotDeriveETldPlus1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(entry: &str) -> Vec<String> {
        redirect_warnings(&[entry.to_owned()]).collect()
    }

    #[test]
    fn wildcard_below_a_public_suffix_is_warned_of() {
        for (entry, suffix) in [
            ("https://*.co.uk/done", "co.uk"),
            ("https://*.vercel.app/**", "vercel.app"),
            ("https://*.github.io/", "github.io"),
            ("https://*.GitHub.io/", "github.io"),
            ("https://app.*.netlify.app/", "netlify.app"),
            ("https://*.*.pages.dev/", "pages.dev"),
            ("https://*.kawasaki.jp/", "kawasaki.jp"), // each name below it is a suffix
            ("https://*.公司.cn/", "xn--55qx5d.cn"),
        ] {
            let said = warnings(entry);
            assert_eq!(said.len(), 1, "{entry}");
            assert!(
                said[0].contains(entry) && said[0].contains(&format!("names below {suffix} are open")),
                "{said:?}"
            );
        }
    }

    #[test]
    fn wildcard_below_a_domain_of_ones_own_is_not() {
        for entry in [
            "https://*.example.com/done",
            "https://*.example.co.uk/",
            "https://*.my-app.vercel.app/",
            "http://*.localhost:3000/",
            "https://*.corp.internal/",
            "https://my-app.vercel.app/*",
            "https://co.uk/",
            "myapp://callback",
            "nonsense",
        ] {
            assert_eq!(warnings(entry), Vec::<String>::new(), "{entry}");
        }
    }
}
