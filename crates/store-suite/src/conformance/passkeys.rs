//! Cases of passkeys in an account: registration, renaming and removal.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::factors::FactorName;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::{CredentialId, LONGEST_CREDENTIAL_ID, MAX_PASSKEYS, RpId, UserHandle};
use latchkey_domain::undo::UndoableEvent;

use super::factor_acts::TwoStep;
use super::fixtures::{HOUR, MINUTE, World, at};
use super::oauth_acts::google;
use super::passkey_acts::{mailed, rp_id};
use latchkey_store::{
    BegunPasskey, ChangedFactors, Enroller, RegisterPasskey, RegisteredPasskey, UndoLink, UndoOutcome,
};

pub(super) async fn a_passkey_is_stored_as_it_was_registered(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 7, at(1)).await;
    let mut register = world.registration(enroller, at(1));
    register.passkey.credential_id = CredentialId::parse(&[3; LONGEST_CREDENTIAL_ID]).unwrap();
    let (new, event) = (register.passkey.clone(), register.event.id);

    let RegisteredPasskey::Added(passkey) = world.register_passkey(register).await.unwrap() else {
        panic!("the passkey should be added");
    };

    let (_, own) = world.find_own_passkeys(session.id, at(2)).await.unwrap().unwrap();
    assert_eq!(own.user_handle, Some(UserHandle::new([7; 16])));
    assert_eq!(own.passkeys, [*passkey.clone()]);
    assert_eq!((passkey.id, passkey.created_at, passkey.last_used_at), (new.id, at(1), None));
    assert!(passkey.is_backup_eligible && !passkey.is_backed_up);
    let (found, owner) = world.known_passkey(&new.credential_id, &rp_id()).await.unwrap();
    assert_eq!((found.passkey, owner.id), (*passkey, user.id));
    assert_eq!((found.public_key, found.counter), (new.public_key, 5));
    assert_eq!(found.user_handle, UserHandle::new([7; 16]));
    assert_eq!(owner.providers(), ["email", "passkey"]);
    assert!(!owner.has_two_step(), "a passkey alone does not turn it on");
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
}

pub(super) async fn the_user_handle_is_made_once(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 1, at(1)).await;
    let passkey = world.add_passkey(user.id, session.id, at(2)).await;
    world.take_passkey((user.id, session.id), passkey.id, at(3)).await;

    let begun = world.begin_registration(enroller, 2, at(4)).await;

    let BegunPasskey::Begun(owner) = begun else { panic!("{begun:?}") };
    assert_eq!((owner.user_handle, owner.passkeys.len()), (UserHandle::new([1; 16]), 0));
}

pub(super) async fn a_registration_needs_a_live_session_of_the_account(world: World) {
    let user = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let foreign = world.open_session(eve.id, at(0)).await;
    let banned = world.open_session(user.id, at(0)).await;
    world.begin_registration(Enroller::Session(user.id, banned.id), 1, at(0)).await;
    world.ban(user.id, at(1)).await;

    for session_id in [foreign.id, banned.id, world.session_id(at(1))] {
        let enroller = Enroller::Session(user.id, session_id);
        assert_eq!(world.begin_registration(enroller.clone(), 1, at(2)).await, BegunPasskey::NoEnroller);
        let registered = world.register_passkey(world.registration(enroller, at(2))).await.unwrap();
        assert_eq!(registered, RegisteredPasskey::NoEnroller);
    }
}

pub(super) async fn a_registration_that_was_never_begun_is_refused(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let register = world.registration(Enroller::Session(user.id, session.id), at(1));
    assert_eq!(world.register_passkey(register).await.unwrap(), RegisteredPasskey::NoEnroller);
}

pub(super) async fn a_ceremony_registers_once_until_it_expires(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 1, at(1)).await;
    let register = world.registration(enroller.clone(), at(1));
    let again =
        || RegisterPasskey { ceremony: register.ceremony, ..world.registration(enroller.clone(), at(2)) };
    assert!(matches!(world.register_passkey(register.clone()).await.unwrap(), RegisteredPasskey::Added(_)));

    assert_eq!(world.register_passkey(again()).await.unwrap(), RegisteredPasskey::CeremonyUsed);
    world.purge(at(10 * MINUTE)).await.unwrap();
    assert_eq!(world.register_passkey(again()).await.unwrap(), RegisteredPasskey::CeremonyUsed);
    assert!(world.purge(at(1 + 10 * MINUTE)).await.unwrap() > 0, "its use is stored until it expires");
    assert_eq!(world.passkeys_of(user.id).await.len(), 1);
}

pub(super) async fn a_credential_that_any_account_has_is_refused(world: World) {
    let user = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let first = world.open_session(user.id, at(0)).await;
    let second = world.open_session(eve.id, at(0)).await;
    let known = world.add_passkey(user.id, first.id, at(1)).await;

    for (user, session) in [(user.id, first.id), (eve.id, second.id)] {
        let enroller = Enroller::Session(user, session);
        world.begin_registration(enroller.clone(), 2, at(2)).await;
        let mut register = world.registration(enroller, at(2));
        register.passkey.credential_id = known.credential_id.clone();
        assert_eq!(world.register_passkey(register.clone()).await.unwrap(), RegisteredPasskey::Exists);
        register.passkey = world.new_passkey(at(2));
        let registered = world.register_passkey(register).await.unwrap();
        assert!(matches!(registered, RegisteredPasskey::Added(_)), "a refusal does not use up the ceremony");
    }
}

pub(super) async fn the_twenty_first_passkey_is_refused(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    for _ in 0..MAX_PASSKEYS {
        world.add_passkey(user.id, session.id, at(1)).await;
    }

    assert_eq!(world.register(user.id, session.id, at(2)).await, RegisteredPasskey::TooMany);
    let begun = world.begin_registration(Enroller::Session(user.id, session.id), 1, at(2)).await;
    assert_eq!(begun, BegunPasskey::TooMany);
    assert_eq!(world.user(user.id).await.passkeys.len(), 20);
}

pub(super) async fn a_registration_ends_open_challenges(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let (challenge, _) = world.step_up(session.id, at(1)).await.unwrap();
    world.add_passkey(user.id, session.id, at(2)).await;
    assert!(world.found(challenge, at(3)).await.is_none());
}

pub(super) async fn a_passkey_is_mailed_with_an_undo_link_while_two_step_is_off(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 1, at(1)).await;
    let register = world.registration(enroller, at(1));
    let (mail, token) = register.undoable.clone().unwrap();
    world.register_passkey(register).await.unwrap();

    let mails = world.mails(at(1)).await;
    assert_eq!(
        mails.iter().map(|mail| (mail.kind, mail.id)).collect::<Vec<_>>(),
        [(MailKind::PasskeyAdded, mail.id)]
    );
    let found = world.find_undo(token.hash, &[], at(2)).await.unwrap().unwrap();
    assert_eq!(found, Some(UndoLink { event: UndoableEvent::PasskeyAdded, happened_at: at(1) }));
}

pub(super) async fn a_passkey_is_mailed_without_an_undo_link_while_two_step_is_on(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 1, at(1)).await;
    let register = world.registration(enroller, at(1));
    let (mail, (_, token)) = (register.mail.clone().unwrap(), register.undoable.clone().unwrap());
    world.register_passkey(register).await.unwrap();

    assert_eq!(world.mails(at(1)).await.iter().map(|mail| mail.id).collect::<Vec<_>>(), [mail.id]);
    assert_eq!(world.find_undo(token.hash, &[], at(2)).await.unwrap().unwrap(), None);
}

pub(super) async fn an_unverified_account_registers_a_passkey_without_a_mail(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 1, at(1)).await;
    let register = world.registration(enroller, at(1));
    let (_, token) = register.undoable.clone().unwrap();

    assert!(matches!(world.register_passkey(register).await.unwrap(), RegisteredPasskey::Added(_)));

    assert_eq!(mailed(&world, at(1)).await, []);
    assert_eq!(world.find_undo(token.hash, &[], at(2)).await.unwrap().unwrap(), None);
}

pub(super) async fn an_undo_removes_the_passkeys_of_the_event_and_the_day_before(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let kept = world.add_passkey(user.id, session.id, at(HOUR)).await;
    world.add_passkey(user.id, session.id, at(3 * HOUR)).await;
    let enroller = Enroller::Session(user.id, session.id);
    let register = world.registration(enroller, at(26 * HOUR));
    let (_, token) = register.undoable.clone().unwrap();
    world.register_passkey(register).await.unwrap();
    world.add_passkey(user.id, session.id, at(27 * HOUR)).await;

    let undone = world.undo(world.use_undo(token.hash, "ada", at(28 * HOUR))).await.unwrap().unwrap();

    assert_eq!(undone, UndoOutcome::Undone);
    assert_eq!(world.passkeys_of(user.id).await, [kept]);
    assert!(!world.lives(session.id, at(28 * HOUR)).await);
}

pub(super) async fn a_passkey_is_renamed_by_its_owner_alone(world: World) {
    let user = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let foreign = world.open_session(eve.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(1)).await;
    let name = FactorName::parse("Key").unwrap();
    let rename =
        |owner| world.passkey_change(owner, (passkey.id, name.clone()), AuditKind::PasskeyRenamed, at(2));

    let refused = world.rename_passkey(rename((eve.id, foreign.id))).await.unwrap();
    assert_eq!(refused, ChangedFactors::NotFound);
    let refused = world.rename_passkey(rename((user.id, foreign.id))).await.unwrap();
    assert_eq!(refused, ChangedFactors::NoSession);
    let own = rename((user.id, session.id));
    let event = own.event.id;
    let renamed = world.rename_passkey(own).await.unwrap();

    assert!(matches!(renamed, ChangedFactors::Changed(passkey) if passkey.name == name));
    assert_eq!(world.passkeys_of(user.id).await[0].name, name);
    assert_eq!(world.event_of(event).await.unwrap().session_id, Some(session.id));
}

pub(super) async fn passkeys_of_other_relying_parties_are_kept_and_counted(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.add_passkey(user.id, session.id, at(1)).await;
    let foreign = world.add_foreign_passkey(user.id, session.id, at(1)).await;

    assert_eq!(world.count_unusable_passkeys(Some(&rp_id())).await.unwrap(), 1);
    assert_eq!(world.count_unusable_passkeys(None).await.unwrap(), 2);
    let (_, own) = world.find_own_passkeys(session.id, at(2)).await.unwrap().unwrap();
    assert_eq!(own.passkeys.len(), 2);
    assert!(world.known_passkey(&foreign.credential_id, &rp_id()).await.is_none());
    let its_own = RpId::new("example.com");
    assert!(world.known_passkey(&foreign.credential_id, &its_own).await.is_some());
}

pub(super) async fn a_deleted_account_leaves_no_passkey(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(1)).await;
    world.delete(&[user.id], vec![world.event(AuditKind::UserDeleted, at(2))]).await;
    assert!(world.known_passkey(&passkey.credential_id, &rp_id()).await.is_none());
    assert_eq!(world.count_unusable_passkeys(None).await.unwrap(), 0);
}

pub(super) async fn the_first_proof_of_a_mailbox_removes_a_squatters_passkey(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(1)).await;

    world.enter(google("1", "ada"), at(2)).await;

    assert_eq!(world.user(user.id).await.providers(), ["google"]);
    assert_eq!(world.enter_with_passkey(passkey.id, 6, at(3)).await, None);
}
