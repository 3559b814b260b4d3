//! Cases of repeated sign-up for an address. The password hash of the last sign-up is stored beside the account's own
//! hash. It is deleted when a pending account is verified or gets a session, when the address or the hash parameters
//! change, and by upkeep when it is old.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::password::PasswordHash;
use latchkey_store::{
    ACCOUNT_PURGE_BATCH, BeginPasswordChange, BeginReset, BeginSignUp, ChangePassword, Entered, NewAccount,
    SignIn, SignInOutcome, SignUpOutcome, UserPosition,
};

use super::fixtures::{DAY, World, at, key, mac, password, salted};
use super::races::race;

/// Returns the stored password hash of the last sign-up with the address.
async fn kept(world: &World, name: &str) -> Option<PasswordHash> {
    world.candidate(name, at(5)).await.and_then(|candidate| candidate.last_sign_up)
}

async fn sign_up(world: &World, name: &str, secret: &str, seconds: i64) -> SignUpOutcome {
    let sign_up = world.sign_up(name, password(secret), mac(9), at(seconds));
    world.sign_up_pending(sign_up).await.unwrap()
}

pub(super) async fn the_last_sign_up_is_stored_for_every_account(world: World) {
    world.verified("verified", at(0)).await;
    world.unverified("unverified", at(0)).await;
    let banned = world.verified("banned", at(0)).await;
    world.ban(banned.id, at(0)).await;
    world.create(NewAccount { password: None, ..world.account("without", at(0)) }).await;
    world.pending("pending", at(0)).await;
    assert_eq!(kept(&world, "verified").await, None);
    assert_eq!(kept(&world, "pending").await, Some(password("secret")));

    for (secret, seconds) in [("other", 1), ("another", 2)] {
        for name in ["verified", "unverified", "banned", "without", "pending"] {
            sign_up(&world, name, secret, seconds).await;

            assert_eq!(kept(&world, name).await, Some(password(secret)), "{name}");
        }
    }

    assert_eq!(world.candidate("verified", at(5)).await.unwrap().password, Some(password("secret")));
    assert_eq!(world.candidate("without", at(5)).await.unwrap().password, None);
    assert_eq!(world.candidate("nobody", at(5)).await, None);
}

pub(super) async fn a_sign_up_is_hashed_with_the_salt_of_the_account(world: World) {
    world.verified("ada", at(0)).await;
    let incomparable = world.sign_up("ada", salted("b3RoZXI", "other"), mac(2), at(1));
    let mail = world.mails(at(1)).await.len();

    let begun = world.begin_sign_up(&key("ada"), &[], at(1)).await.unwrap().unwrap();
    let outcome = world.sign_up_pending(incomparable).await.unwrap();

    assert_eq!(begun, BeginSignUp::Taken(Some(password("secret"))));
    assert_eq!(outcome, SignUpOutcome::Rehash(password("secret")));
    assert_eq!((kept(&world, "ada").await, world.mails(at(1)).await.len()), (None, mail));
}

pub(super) async fn a_sign_up_has_its_own_salt_if_the_account_has_no_usable_one(world: World) {
    let foreign = PasswordHash::from_phc("$2b$12$elsewhereelsewhereelse".to_owned());
    world.create(NewAccount { password: Some(foreign), ..world.account("foreign", at(0)) }).await;
    world.create(NewAccount { password: None, ..world.account("without", at(0)) }).await;

    for name in ["foreign", "without"] {
        assert_eq!(
            world.begin_sign_up(&key(name), &[], at(1)).await.unwrap().unwrap(),
            BeginSignUp::Taken(None)
        );
        assert_eq!(sign_up(&world, name, "other", 1).await, SignUpOutcome::OwnerTold, "{name}");
        assert_eq!(kept(&world, name).await, Some(password("other")), "{name}");
    }
}

pub(super) async fn a_pending_account_that_is_proven_or_opened_forgets_the_sign_up(world: World) {
    world.pending("ada", at(0)).await;
    world.contested("eve", at(0)).await;
    let opened = world.pending("bob", at(0)).await;

    assert!(world.verifies(&key("ada"), mac(1), at(1)).await);
    assert!(world.verifies(&key("eve"), mac(2), at(1)).await);
    world.open_session(opened.id, at(1)).await;

    for name in ["ada", "eve", "bob"] {
        assert_eq!(kept(&world, name).await, None, "{name}");
    }
}

pub(super) async fn a_taken_account_that_is_proven_keeps_the_sign_up(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    sign_up(&world, "ada", "other", 1).await;

    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);

    assert_eq!(kept(&world, "ada").await, Some(password("other")));
}

pub(super) async fn a_new_address_forgets_the_sign_up(world: World) {
    let user = world.verified("ada", at(0)).await;
    sign_up(&world, "ada", "other", 1).await;

    world.move_to(user.id, "ADA", at(2)).await;
    assert_eq!(kept(&world, "ada").await, Some(password("other")));
    world.move_to(user.id, "eve", at(3)).await;

    assert_eq!(kept(&world, "eve").await, None);
}

pub(super) async fn a_change_of_the_password_keeps_the_sign_up_that_is_comparable(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    sign_up(&world, "ada", "other", 1).await;
    let change = |checked, fresh| ChangePassword {
        user_id: user.id,
        checked,
        password: fresh,
        keep: session.id,
        page_token: None,
        guard: None,
        event: world.event(AuditKind::PasswordChanged, at(2)),
        mail: None,
        now: at(2),
    };

    let begun =
        world.begin_password_change(session.id, &key("ada"), &[], None, at(2)).await.unwrap().unwrap();
    world.change_password(change(password("secret"), password("fresh"))).await.unwrap().unwrap();
    let comparable = kept(&world, "ada").await;
    world.change_password(change(password("fresh"), salted("b3RoZXI", "fresh"))).await.unwrap().unwrap();

    let BeginPasswordChange::Candidate(candidate) = begun else { panic!("{begun:?}") };
    assert_eq!(candidate.last_sign_up, Some(password("other")));
    assert_eq!((comparable, kept(&world, "ada").await), (Some(password("other")), None));
}

pub(super) async fn concurrent_sign_ups_and_password_changes_leave_comparable_hashes(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;

    race(&world, |world, number| async move {
        if number % 2 == 0 {
            sign_up(&world, "ada", "other", 1).await;
            return;
        }
        let change = ChangePassword {
            user_id: user.id,
            checked: password("secret"),
            password: salted("b3RoZXI", "fresh"),
            keep: session.id,
            page_token: None,
            guard: None,
            event: world.event(AuditKind::PasswordChanged, at(1)),
            mail: None,
            now: at(1),
        };
        world.change_password(change).await.unwrap().unwrap();
    })
    .await;

    let after = world.candidate("ada", at(2)).await.unwrap();
    let own = after.password.unwrap();
    assert_eq!(own, salted("b3RoZXI", "fresh"));
    assert!(after.last_sign_up.is_none_or(|kept| kept.is_comparable(&own)));
}

pub(super) async fn a_reset_returns_the_sign_up_that_it_keeps(world: World) {
    world.verified("ada", at(0)).await;
    world.pending("eve", at(0)).await;
    sign_up(&world, "ada", "other", 1).await;
    let told = async |name: &str| {
        let token = world.send_link(&key(name), Purpose::ResetPassword, at(2)).await;
        let begun = world.begin_reset(token, &[], at(3)).await.unwrap().unwrap();
        assert!(world.reset(token, "fresh", at(3)).await.is_some());
        let BeginReset::Good(subject) = begun else { panic!("{begun:?}") };
        subject.last_sign_up
    };

    let (of_taken, of_pending) = (told("ada").await, told("eve").await);

    assert_eq!((of_taken, kept(&world, "ada").await), (Some(password("other")), Some(password("other"))));
    assert_eq!((of_pending, kept(&world, "eve").await), (None, None), "the proof forgets it");
}

pub(super) async fn a_hash_under_new_parameters_forgets_the_sign_up(world: World) {
    let user = world.verified("ada", at(0)).await;
    sign_up(&world, "ada", "other", 1).await;
    let rehashed = Some(salted("bmV3", "secret"));

    let sign_in = SignIn { rehashed, ..world.right(user.id, "secret", None, at(2)) };
    assert!(matches!(
        world.sign_in(sign_in).await.unwrap().unwrap(),
        SignInOutcome::Entered(Entered::Session(_))
    ));

    assert_eq!(kept(&world, "ada").await, None);
}

pub(super) async fn a_stale_pending_account_is_purged_with_its_rows(world: World) {
    let user = world.pending("ada", at(0)).await;
    world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;
    assert_eq!(world.purge_sign_ups(at(-1)).await.unwrap(), 0);

    assert!(world.purge_sign_ups(at(0)).await.unwrap() > 0);

    assert_eq!(world.purge_sign_ups(at(0)).await.unwrap(), 0);
    assert_eq!(world.find_user(user.id).await.unwrap(), None);
    assert_eq!(world.find_profile(user.id).await.unwrap(), None);
    assert!(world.mails(at(1)).await.is_empty());
    assert!(!world.verifies(&key("ada"), mac(1), at(1)).await);
    assert_eq!(world.begin_sign_up(&key("ada"), &[], at(1)).await.unwrap().unwrap(), BeginSignUp::Free);
    assert_eq!(sign_up(&world, "ada", "other", 1).await, SignUpOutcome::Created);
}

pub(super) async fn another_sign_up_restarts_the_retention_of_a_pending_account(world: World) {
    let user = world.pending("ada", at(0)).await;
    sign_up(&world, "ada", "secret", 10).await;

    assert_eq!(world.purge_sign_ups(at(9)).await.unwrap(), 0);
    assert_eq!(world.find_user(user.id).await.unwrap().map(|user| user.id), Some(user.id));

    assert!(world.purge_sign_ups(at(10)).await.unwrap() > 0);
    assert_eq!(world.find_user(user.id).await.unwrap(), None);
}

pub(super) async fn a_stale_sign_up_removes_no_account_that_is_not_pending(world: World) {
    world.verified("taken", at(0)).await;
    sign_up(&world, "taken", "other", 0).await;
    world.pending("proven", at(0)).await;
    assert!(world.verifies(&key("proven"), mac(1), at(1)).await);
    let opened = world.pending("opened", at(0)).await;
    world.open_session(opened.id, at(1)).await;
    let banned = world.pending("banned", at(0)).await;
    world.ban(banned.id, at(1)).await;
    world.unverified("unverified", at(0)).await;

    while world.purge_sign_ups(at(1_000 * DAY)).await.unwrap() > 0 {}

    for name in ["taken", "proven", "opened", "banned", "unverified"] {
        let candidate = world.candidate(name, at(5)).await.expect(name);
        assert_eq!((candidate.password, candidate.last_sign_up), (Some(password("secret")), None), "{name}");
    }
}

pub(super) async fn stale_sign_ups_are_purged_in_batches(world: World) {
    for number in 0..=ACCOUNT_PURGE_BATCH {
        world.pending(&format!("user{number}"), at(i64::from(number))).await;
    }
    let total = async || world.users("", UserPosition::Offset(0), 1).await.total;

    world.purge_sign_ups(at(DAY)).await.unwrap();
    assert_eq!(total().await, 1);

    world.purge_sign_ups(at(DAY)).await.unwrap();
    assert_eq!(total().await, 0);
}
