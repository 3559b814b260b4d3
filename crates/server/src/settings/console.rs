//! Section `console`: operators, and their console.

use latchkey_service::settings::in_production;
use latchkey_settings::{Problems, settings};

use super::server::Mode;

settings! {
    /// Settings of section `console`.
    #[derive(Debug)]
    pub struct ConsoleSettings {
        /// Operators must have two-step sign-in before they can activate their role. Development: false. Production: true,
        /// and cannot be off.
        "console.require_second_factor" => require_second_factor: bool = in_production, true;
        /// Accounts of operators cannot be changed, banned or deleted with an admin key, nor can their factors be removed.
        /// The last owner stays in any case.
        "console.protect_operators" => protect_operators: bool = true;
    }
}

impl ConsoleSettings {
    /// Checks the rules between keys.
    pub(super) fn check(&self, mode: Mode, problems: &mut Problems) {
        if mode == Mode::Production && !self.require_second_factor {
            let sentence = "operators need a second factor in production; leave it out, or set it to true";
            problems.rule(&["console.require_second_factor", "server.mode"], sentence);
        }
    }
}
