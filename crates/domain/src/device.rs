//! Device names derived from user agents. Names come from fixed lists, so text sent by a client never appears in them.

use std::fmt;

use crate::client::Client;

/// Substrings of user agents, and the browsers that they identify. If several occur, the first in this list counts.
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
/// Substrings of user agents, and the operating systems that they identify. If several occur, the first in this list
/// counts.
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

/// Device of a client, as far as its user agent names it. Its text is English, for example `Firefox on Linux`, `App on
/// Android` or `Unknown device`. Texts in other languages are made from the two fields, which need no translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    /// Name of the browser; `None` if none is recognised, as for an app, a program or an unlisted browser.
    pub browser: Option<&'static str>,
    /// Name of the operating system; `None` if unknown.
    pub system: Option<&'static str>,
}

impl Client {
    /// Returns the device that the user agent names.
    #[must_use]
    pub fn device(&self) -> Device {
        let user_agent = self.user_agent.as_deref().unwrap_or_default();
        Device { browser: find(&BROWSERS, user_agent), system: find(&SYSTEMS, user_agent) }
    }
}

impl Device {
    /// Restores a device from stored names. A name that is no longer in the lists counts as unknown.
    #[must_use]
    pub fn from_names(browser: Option<&str>, system: Option<&str>) -> Self {
        Self { browser: named(&BROWSERS, browser), system: named(&SYSTEMS, system) }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.browser, self.system) {
            (Some(browser), Some(system)) => f.pad(&format!("{browser} on {system}")),
            (Some(browser), None) => f.pad(browser),
            (None, Some(system)) => f.pad(&format!("App on {system}")),
            (None, None) => f.pad("Unknown device"),
        }
    }
}

fn find(marks: &[(&str, &'static str)], user_agent: &str) -> Option<&'static str> {
    marks.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
}

fn named(marks: &[(&str, &'static str)], stored: Option<&str>) -> Option<&'static str> {
    marks.iter().map(|(_, name)| *name).find(|name| Some(*name) == stored)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::client::ClientAddress;

    fn device(user_agent: Option<&str>) -> String {
        Client::new(ClientAddress::new(IpAddr::V4(Ipv4Addr::LOCALHOST)), user_agent).device().to_string()
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
    fn stored_names_read_back() {
        for (browser, system) in [(Some("Firefox"), Some("Linux")), (None, Some("iPad")), (None, None)] {
            assert_eq!(Device::from_names(browser, system), Device { browser, system });
        }
        assert_eq!(Device::from_names(Some("Lynx"), Some("BeOS")), Device { browser: None, system: None });
    }

    #[test]
    fn unlisted_user_agents_are_unknown_and_never_echoed() {
        for user_agent in [None, Some(""), Some("curl/8.5.0"), Some("call +1 555 0100, https://evil.example")]
        {
            assert_eq!(device(user_agent), "Unknown device");
        }
    }
}
