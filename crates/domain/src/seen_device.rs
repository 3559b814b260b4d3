//! Devices and networks from which an account was used. The owner gets a mail about a sign-in from others.

use std::time::Duration;

use crate::client::Client;
use crate::session::Session;
use crate::time::Timestamp;

/// Time for which a device is remembered after its last use.
pub const REMEMBERED: Duration = Duration::from_hours(90 * 24);

/// Shortest time between two mails to an account about new devices.
pub const MAIL_INTERVAL: Duration = DAY;

const DAY: Duration = Duration::from_hours(24);

/// A device together with its network, as text: `Firefox on Linux, 198.51.0.0/16`. The text contains nothing else of user
/// agent and address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenDevice(String);

impl SeenDevice {
    /// Returns the device and network of a client.
    #[must_use]
    pub fn of(client: &Client) -> Self {
        Self(format!("{}, {}", client.device(), client.address.wide_network_text()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the device of the client that refreshes an app session or uses a page session, if that is to be stored: once
    /// a day (UTC), and whenever device or network changed since the last time.
    #[must_use]
    pub fn to_store(session: &Session, client: &Client, now: Timestamp) -> Option<Self> {
        let seen = Self::of(client);
        let is_same = day(session.last_seen_at) == day(now) && Self::of(&session.client) == seen;
        (!is_same).then_some(seen)
    }
}

/// Returns the number of days since the Unix epoch.
const fn day(at: Timestamp) -> i64 {
    at.as_seconds().div_euclid(DAY.as_secs().cast_signed())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::client::ClientAddress;

    const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

    fn seen(address: &str, user_agent: Option<&str>) -> String {
        let client = Client::new(ClientAddress::new(address.parse().unwrap()), user_agent);
        SeenDevice::of(&client).as_str().to_owned()
    }

    #[test]
    fn device_and_network_are_named_without_user_agent_and_address() {
        assert_eq!(seen("198.51.100.7", Some(FIREFOX)), "Firefox on Linux, 198.51.0.0/16");
        assert_eq!(seen("2001:db8:1:2::9", None), "Unknown device, 2001:db8::/32");
    }

    #[test]
    fn phone_that_roams_in_its_network_is_the_same() {
        assert_eq!(seen("198.51.100.7", None), seen("198.51.0.1", None));
        assert_ne!(seen("198.51.100.7", None), seen("198.52.100.7", None));
        assert_eq!(seen("2001:db8:1::1", None), seen("2001:db8:ffff::1", None));
        assert_ne!(seen("2001:db8::1", None), seen("2001:db9::1", None));
        assert_eq!(seen("::ffff:198.51.100.7", None), seen("198.51.100.7", None));
    }

    #[test]
    fn new_version_of_a_browser_is_the_same_device() {
        let newer = FIREFOX.replace("140", "141");
        assert_eq!(seen("198.51.100.7", Some(FIREFOX)), seen("198.51.100.7", Some(&newer)));
    }
}
