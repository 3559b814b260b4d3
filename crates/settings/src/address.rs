//! Redaction of passwords in URLs.

/// Text that replaces a password.
const HIDDEN: &str = "***";

/// Replaces passwords in a URL by `***`. A password can be in the user information (`user:password@`) and
/// in the query (`?password=…`).
#[must_use]
pub fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    // The last `@` ends the user information, even if the password contains an unencoded `@`.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((information, rest)) => (information.split(':').next().map(|user| (user, information)), rest),
        None => (None, rest),
    };
    let user = match user {
        Some((user, information)) if information.contains(':') => format!("{user}:{HIDDEN}@"),
        Some((user, _)) => format!("{user}@"),
        None => String::new(),
    };
    format!("{scheme}://{user}{}", without_parameter(rest))
}

/// True if the URL contains a password.
#[must_use]
pub fn holds_password(text: &str) -> bool {
    without_password(text) != text
}

fn without_parameter(text: &str) -> String {
    let Some((base, query)) = text.split_once('?') else { return text.to_owned() };
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some(("password", _)) => format!("password={HIDDEN}"),
        _ => pair.to_owned(),
    });
    format!("{base}?{}", shown.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_wherever_they_stand() {
        for (text, shown) in [
            ("postgres://u:p@h:1,i:2/db?sslmode=disable", "postgres://u:***@h:1,i:2/db?sslmode=disable"),
            ("postgres://u:p@s:s/?w@h/db", "postgres://u:***@h/db"),
            ("postgres:///db?host=/run&password=p&user=u", "postgres:///db?host=/run&password=***&user=u"),
        ] {
            assert_eq!(without_password(text), shown);
            assert!(holds_password(text));
        }
    }

    #[test]
    fn what_holds_none_stays_as_it_is() {
        for text in ["sqlite:./x.db", "postgres://u@h:5432/db", "postgres:///db?host=/run&user=u", ""] {
            assert_eq!(without_password(text), text);
            assert!(!holds_password(text));
        }
    }
}
