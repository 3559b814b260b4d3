//! Names of devices derived from user agents. They come from fixed lists: no text of the client is ever
//! echoed.

use crate::client::Client;

/// Substrings of user agents that identify browsers, in order of precedence: some user agents name several.
const BROWSERS: [(&str, &str); 14] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("OPT/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("DuckDuckGo/", "DuckDuckGo"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
/// Substrings of user agents that identify operating systems, in order of precedence.
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

impl Client {
    /// Name of the device: `Firefox on Linux`, `App on Android`, or `Unknown device`.
    #[must_use]
    pub fn device(&self) -> String {
        let user_agent = self.user_agent.as_deref().unwrap_or_default();
        match (find(&BROWSERS, user_agent), find(&SYSTEMS, user_agent)) {
            (Some(browser), Some(system)) => format!("{browser} on {system}"),
            (Some(browser), None) => browser.to_owned(),
            (None, Some(system)) => format!("App on {system}"),
            (None, None) => "Unknown device".to_owned(),
        }
    }
}

fn find(marks: &[(&str, &'static str)], user_agent: &str) -> Option<&'static str> {
    marks.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::client::ClientAddress;

    fn device(user_agent: Option<&str>) -> String {
        Client::new(ClientAddress::new(IpAddr::V4(Ipv4Addr::LOCALHOST)), user_agent).device()
    }

    #[test]
    fn browser_and_system_are_named() {
        let cases = [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 \
                 Safari/537.36 Edg/141.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.6 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.6 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("Dalvik/2.1.0 (Linux; U; Android 15; Pixel 9)", "App on Android"),
            ("Mozilla/5.0 Firefox/140.0", "Firefox"),
        ];
        for (user_agent, expected) in cases {
            assert_eq!(device(Some(user_agent)), expected, "{user_agent}");
        }
    }

    #[test]
    fn unlisted_user_agents_are_unknown_and_never_echoed() {
        for user_agent in [None, Some(""), Some("curl/8.5.0"), Some("call +1 555 0100, https://evil.example")]
        {
            assert_eq!(device(user_agent), "Unknown device");
        }
    }
}
