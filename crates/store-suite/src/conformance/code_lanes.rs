//! Cases of separate counters of wrong codes. Clients known to an account have one counter and all others another
//! one; each of these groups is a lane. Wrong codes entered by strangers therefore do not lock out the clients from
//! which the owner signs in.

use latchkey_domain::codes::{CodeForm, CodeMac, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{CodeAttempt, Entered, ExchangeOutcome, NewToken, SignIn, SignUpOutcome, VerifyOutcome};

use super::acts::email_code_in;
use super::fixtures::{DAY, HOME, HOUR, LONG, MINUTE, STRANGER, World, at, key, lane, long, mac, password};
use super::guards::guard;
use super::numbered::entry;
use super::oauth_acts::google;

use Purpose::{ResetPassword, VerifyEmail};

impl World {
    /// Creates an account whose owner signed up, and is signed in, from the host [`super::fixtures::HOME`].
    /// Verification was not required.
    async fn at_home(&self, name: &str, now: Timestamp) -> User {
        self.create_in(self.account(name, now), self.session(now)).await
    }

    /// Requests a code for a password reset from this host.
    async fn ask(&self, email: &EmailKey, host: u8, code: CodeMac, now: Timestamp) {
        let email_code = email_code_in(lane(email, host), code, now);
        let request = self.request(email, ResetPassword, email_code, now);
        self.request_email_code(request).await.unwrap().unwrap();
    }

    /// True if a six-digit code for a password reset is accepted from this host.
    async fn types(&self, email: &EmailKey, host: u8, code: CodeMac, now: Timestamp) -> bool {
        self.tries(email, host, (code, CodeForm::SixDigits), now).await
    }

    /// True if a long code for a password reset, as mailed after too many wrong attempts, is accepted from
    /// this host.
    async fn types_long(&self, email: &EmailKey, host: u8, code: CodeMac, now: Timestamp) -> bool {
        self.tries(email, host, (code, CodeForm::Long), now).await
    }

    async fn tries(&self, email: &EmailKey, host: u8, code: (CodeMac, CodeForm), now: Timestamp) -> bool {
        let (mac, form) = code;
        let attempt = CodeAttempt { lane: lane(email, host), form, ..self.attempt(email, mac, now) };
        let token = NewToken { hash: self.token(), expires_at: now.plus(std::time::Duration::from_mins(15)) };
        let outcome = self.exchange_reset_code(attempt, token).await.unwrap().unwrap();
        outcome == ExchangeOutcome::Exchanged
    }

    /// Enters wrong codes from this host.
    async fn guess(&self, email: &EmailKey, host: u8, times: u32, now: Timestamp) {
        for _ in 0..times {
            assert!(!self.types(email, host, mac(99), now).await);
        }
    }

    /// Enters all wrong codes that a day allows, within three hours. Returns the time afterwards.
    async fn guess_for_a_day(&self, email: &EmailKey, host: u8) -> Timestamp {
        for hour in 0..3 {
            self.guess(email, host, 10, at(hour * HOUR)).await;
        }
        at(3 * HOUR)
    }

    /// True if the client is known to the account, so that a stranger's guesses do not use up its attempts.
    async fn knows(&self, name: &str, host: u8, now: Timestamp) -> bool {
        let email = key(name);
        self.guess(&email, STRANGER, 10, now).await;
        self.ask(&email, host, mac(1), now).await;
        self.types(&email, host, mac(1), now).await
    }
}

pub(super) async fn a_stranger_cannot_lock_out_known_clients(world: World) {
    world.at_home("ada", at(0)).await;
    let ada = key("ada");
    world.ask(&ada, HOME, mac(1), at(1)).await;
    world.guess(&ada, STRANGER, 10, at(1)).await;
    world.ask(&ada, STRANGER, mac(2), at(2)).await;
    world.guess(&ada, STRANGER, 20, at(2)).await;

    assert!(world.types(&ada, HOME, mac(1), at(3)).await);
}

pub(super) async fn a_code_is_good_from_either_lane(world: World) {
    for (name, asked, typed) in [("ada", HOME, STRANGER), ("eve", STRANGER, HOME)] {
        world.at_home(name, at(0)).await;
        world.ask(&key(name), asked, mac(1), at(1)).await;

        assert!(world.types(&key(name), typed, mac(1), at(2)).await, "{name}");
    }
}

pub(super) async fn each_lane_has_a_live_code(world: World) {
    for (name, good) in [("ada", mac(3)), ("eve", mac(2))] {
        world.at_home(name, at(0)).await;
        let email = key(name);
        world.ask(&email, HOME, mac(1), at(1)).await;
        world.ask(&email, STRANGER, mac(2), at(2)).await;
        world.ask(&email, HOME, mac(3), at(3)).await;

        assert!(!world.types(&email, HOME, mac(1), at(4)).await, "it was replaced");
        assert!(world.types(&email, HOME, good, at(4)).await, "{name}");
    }
}

pub(super) async fn a_used_code_ends_that_of_the_other_lane(world: World) {
    world.at_home("ada", at(0)).await;
    let ada = key("ada");
    world.ask(&ada, HOME, mac(1), at(1)).await;
    world.ask(&ada, STRANGER, mac(2), at(1)).await;

    assert!(world.types(&ada, HOME, mac(1), at(2)).await);

    assert!(!world.types(&ada, HOME, mac(2), at(3)).await);
}

pub(super) async fn a_code_has_five_attempts_from_each_lane(world: World) {
    for (asked, name) in [(HOME, "ada"), (STRANGER, "eve")] {
        world.at_home(name, at(0)).await;
        let email = key(name);
        world.ask(&email, asked, mac(1), at(1)).await;
        world.guess(&email, STRANGER, 5, at(1)).await;
        world.guess(&email, HOME, 4, at(1)).await;

        assert!(!world.types(&email, STRANGER, mac(1), at(2)).await, "the sixth attempt");
        assert!(world.types(&email, HOME, mac(1), at(2)).await, "the fifth attempt");
    }
}

pub(super) async fn a_lane_that_is_used_up_refuses_right_codes_of_both(world: World) {
    world.at_home("ada", at(0)).await;
    let ada = key("ada");
    world.guess(&ada, STRANGER, 10, at(0)).await;
    world.ask(&ada, HOME, mac(1), at(1)).await;
    world.ask(&ada, STRANGER, mac(2), at(1)).await;

    for code in [mac(1), mac(2)] {
        assert!(!world.types(&ada, STRANGER, code, at(2)).await);
    }
    assert!(world.types(&ada, HOME, mac(2), at(2)).await);
}

pub(super) async fn thirty_wrong_attempts_a_day_make_codes_long(world: World) {
    world.at_home("ada", at(0)).await;
    let ada = key("ada");
    let now = world.guess_for_a_day(&ada, STRANGER).await;
    world.ask(&ada, STRANGER, mac(1), now).await;
    let [claimed] = &world.mails(now).await[..] else { panic!("one mail expected") };
    assert_eq!(claimed.sealed, LONG);

    assert!(!world.types(&ada, STRANGER, mac(1), now).await);
    assert!(world.types_long(&ada, STRANGER, long(mac(1)), now).await);

    world.ask(&ada, HOME, mac(2), now).await;
    assert!(world.types(&ada, HOME, mac(2), now).await, "the other lane has six digits");
    world.ask(&ada, STRANGER, mac(3), at(DAY)).await;
    assert!(world.types(&ada, STRANGER, mac(3), at(DAY)).await, "a day is over");
}

pub(super) async fn a_long_code_is_tried_without_being_counted(world: World) {
    world.at_home("ada", at(0)).await;
    let ada = key("ada");
    for _ in 0..50 {
        assert!(!world.types_long(&ada, STRANGER, long(mac(99)), at(0)).await);
    }
    world.ask(&ada, STRANGER, mac(1), at(0)).await;
    assert!(world.types(&ada, STRANGER, mac(1), at(0)).await);

    let now = world.guess_for_a_day(&ada, STRANGER).await;
    world.ask(&ada, STRANGER, mac(2), now).await;
    world.guess(&ada, STRANGER, 10, now).await;
    world.guess(&ada, HOME, 10, now).await;
    for _ in 0..50 {
        assert!(!world.types_long(&ada, HOME, long(mac(99)), now).await);
    }
    assert!(world.types_long(&ada, HOME, long(mac(2)), now).await, "good from either lane");
}

pub(super) async fn a_repeated_sign_up_gets_a_long_code(world: World) {
    world.pending("ada", at(0)).await;
    let ada = key("ada");
    for hour in 0..3 {
        for _ in 0..10 {
            assert!(!world.verifies(&ada, mac(99), at(hour * HOUR)).await);
        }
    }
    let now = at(3 * HOUR);
    let email_code = email_code_in(lane(&ada, STRANGER), mac(2), now);
    let sign_up = world.sign_up("ada", password("secret"), mac(2), now);
    let sign_up = latchkey_store::PendingSignUp { email_code, ..sign_up };
    assert_eq!(world.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::Renewed);

    assert!(!world.verifies(&ada, mac(2), now).await);
    let attempt = CodeAttempt { form: CodeForm::Long, ..world.attempt(&ada, long(mac(2)), now) };
    let outcome = world.verify_by_code(attempt, entry(world.session(now))).await.unwrap().unwrap();
    assert!(matches!(outcome, VerifyOutcome::Entered(Entered::Session(_))), "{outcome:?}");
}

/// Counters of an address without an account become visible when an account is created for it.
pub(super) async fn an_unknown_address_has_lanes_too(world: World) {
    let ada = key("ada");
    let now = world.guess_for_a_day(&ada, STRANGER).await;
    world.verified("ada", now).await;

    world.ask(&ada, STRANGER, mac(1), now).await;

    assert!(!world.types(&ada, STRANGER, mac(1), now).await);
    assert!(world.types_long(&ada, STRANGER, long(mac(1)), now).await);
}

pub(super) async fn every_kind_of_sign_in_makes_the_client_known(world: World) {
    world.verified("nobody", at(0)).await;
    assert!(!world.knows("nobody", HOME, at(1)).await);

    world.at_home("signed.up", at(0)).await;
    assert!(world.knows("signed.up", HOME, at(1)).await);

    for name in ["by.code", "by.link"] {
        world.unverified(name, at(0)).await;
    }
    world.send_code(&key("by.code"), VerifyEmail, mac(1), at(0)).await;
    assert!(world.verifies(&key("by.code"), mac(1), at(0)).await);
    assert!(world.knows("by.code", HOME, at(1)).await);
    let link = world.send_link(&key("by.link"), VerifyEmail, at(0)).await;
    assert!(matches!(world.verify_token(link, at(0)).await, VerifyOutcome::Entered(Entered::Session(_))));
    assert!(world.knows("by.link", HOME, at(1)).await);

    let grace = world.enter(google("1", "grace"), at(0)).await;
    assert_eq!(*grace.email.key(), key("grace"));
    assert!(world.knows("grace", HOME, at(1)).await);

    let user = world.verified("by.password", at(0)).await;
    let mut guard = guard("by.password", "home");
    guard.known_client = lane(&key("by.password"), HOME).client;
    let sign_in: SignIn = world.right(user.id, "secret", Some(&guard), at(0));
    world.sign_in(sign_in).await.unwrap().unwrap();
    assert!(world.knows("by.password", HOME, at(1)).await);
}

pub(super) async fn a_client_is_forgotten_after_thirty_days(world: World) {
    for name in ["ada", "eve"] {
        world.at_home(name, at(0)).await;
    }

    assert!(world.knows("ada", HOME, at(30 * DAY - 1)).await);
    assert!(!world.knows("eve", HOME, at(30 * DAY)).await);
}

pub(super) async fn a_purge_deletes_only_the_expired_code_of_a_lane(world: World) {
    world.at_home("ada", at(0)).await;
    let ada = key("ada");
    world.ask(&ada, STRANGER, mac(1), at(0)).await;
    world.ask(&ada, HOME, mac(2), at(5 * MINUTE)).await;

    assert_eq!(world.purge(at(10 * MINUTE)).await.unwrap(), 1);

    assert!(world.types(&ada, HOME, mac(2), at(10 * MINUTE)).await);
}
