#![allow(clippy::unwrap_used)]
use super::*;
use crate::audit::{Actor, ActorKind};

const ROLES: &[Role] = Role::ALL;

fn id(number: u8) -> UserId {
    UserId::new(Timestamp::from_millis(0), [number; 10])
}

fn standing(number: u8, role: Role, can_enter: bool) -> Standing {
    Standing { user_id: id(number), role, can_enter }
}

/// The table of acts, row by row: an act of each row, and who may do it, from viewer to owner.
#[test]
fn every_role_may_do_its_row_of_the_table_and_the_rows_above() {
    let rows = [
        (
            [Act::ReadNumbers, Act::ReadUsers, Act::ReadSessions, Act::ReadAudit, Act::ReadDeliveries]
                .as_slice(),
            [true; 4],
        ),
        (
            &[
                Act::EndSessions,
                Act::ResendMails,
                Act::SendReset,
                Act::LiftLimits,
                Act::Ban,
                Act::RemoveProfileText,
            ],
            [false, true, true, true],
        ),
        (
            &[
                Act::CreateUsers,
                Act::ChangeUsers,
                Act::DeleteUsers,
                Act::ChangeAddresses,
                Act::SetPasswords,
                Act::ChangeMetadata,
                Act::RemoveFactors,
                Act::ManageInvitations,
                Act::ManageWebhooks,
                Act::Import,
                Act::ExportLists,
                Act::EndSessionsOfOperators,
            ],
            [false, false, true, true],
        ),
        (
            &[
                Act::ManageOperators,
                Act::ChangeOperatorAccounts,
                Act::ManageApiKeys,
                Act::ManageProviders,
                Act::ManageHooks,
                Act::ChangeSettings,
                Act::RotateKeys,
                Act::ExportAll,
                Act::RevealSecrets,
            ],
            [false, false, false, true],
        ),
    ];

    for (acts, expected) in rows {
        for act in acts {
            assert_eq!(ROLES.iter().map(|role| role.may(*act)).collect::<Vec<_>>(), expected, "{act:?}");
        }
    }
    assert_eq!(rows.iter().map(|(acts, _)| acts.len()).sum::<usize>(), Act::ALL.len());
}

#[test]
fn a_later_role_may_do_all_that_an_earlier_one_may() {
    for (lower, higher) in ROLES.iter().zip(&ROLES[1..]) {
        assert!(Act::ALL.iter().all(|act| !lower.may(*act) || higher.may(*act)));
        assert!(Act::ALL.iter().any(|act| !lower.may(*act) && higher.may(*act)));
    }
}

#[test]
fn owners_alone_give_roles() {
    for (role, target) in ROLES.iter().flat_map(|role| ROLES.iter().map(move |target| (*role, *target))) {
        assert_eq!(role.may_grant(target), role == Role::Owner, "{role} to {target}");
    }
}

#[test]
fn acts_that_open_other_accounts_need_a_recent_factor() {
    let recent: Vec<_> = Act::ALL.iter().filter(|act| act.needs_recent_factor()).collect();
    let of_admins =
        [Act::DeleteUsers, Act::ChangeAddresses, Act::SetPasswords, Act::RemoveFactors, Act::Import];
    assert!(
        recent.iter().all(|act| act.least_role() == Role::Owner || of_admins.contains(act)),
        "{recent:?}"
    );
    assert_eq!(recent.len(), 9 + of_admins.len());
}

#[test]
fn protection_covers_every_account_with_a_grant() {
    for role in ROLES {
        let operators = [standing(1, *role, false), standing(2, Role::Owner, true)];
        for effect in [Effect::Change, Effect::Loss] {
            let judge = |accounts: &[UserId]| Protection::Operators.judge(effect, accounts, &operators);
            assert_eq!(judge(&[id(3), id(1)]), Err(OperatorRefusal::Protected));
            assert_eq!(judge(&[id(3)]), Ok(()));
        }
        assert_eq!(Protection::LastOwner.judge(Effect::Change, &[id(1), id(2)], &operators), Ok(()));
    }
}

#[test]
fn the_last_owner_stays() {
    let loses = |accounts: &[u8], operators: &[Standing]| {
        let accounts: Vec<_> = accounts.iter().copied().map(id).collect();
        Protection::LastOwner.judge(Effect::Loss, &accounts, operators)
    };
    let (active, asleep) = (|n| standing(n, Role::Owner, true), |n| standing(n, Role::Owner, false));

    assert_eq!(loses(&[1], &[active(1), standing(2, Role::Admin, true)]), Err(OperatorRefusal::LastOwner));
    assert_eq!(loses(&[2], &[active(1), standing(2, Role::Admin, true)]), Ok(()));
    assert_eq!(loses(&[1], &[active(1), active(2)]), Ok(()));
    assert_eq!(loses(&[1, 2], &[active(1), active(2)]), Err(OperatorRefusal::LastOwner), "both at once");
    assert_eq!(loses(&[1, 2], &[active(1), active(2), active(3)]), Ok(()));
    assert_eq!(
        loses(&[1], &[active(1), asleep(2)]),
        Err(OperatorRefusal::LastOwner),
        "the other cannot enter"
    );
    assert_eq!(loses(&[2], &[active(1), asleep(2)]), Ok(()));
    assert_eq!(loses(&[1], &[asleep(1), asleep(2)]), Ok(()), "nobody could enter before");
    assert_eq!(loses(&[1], &[asleep(1)]), Err(OperatorRefusal::LastOwner));
    assert_eq!(loses(&[3], &[active(1)]), Ok(()));
}

#[test]
fn only_owners_and_the_machine_change_accounts_of_operators() {
    for protect in [true, false] {
        for role in ROLES {
            let party = Party::Operator(ActingOperator { user_id: id(1), role: *role });
            let expected = if *role == Role::Owner { Protection::LastOwner } else { Protection::Operators };
            assert_eq!(party.protection(protect), expected, "{role} {protect}");
        }
        assert_eq!(Party::System.protection(protect), Protection::LastOwner);
    }
    assert_eq!(Party::Admin.protection(true), Protection::Operators);
    assert_eq!(Party::Admin.protection(false), Protection::LastOwner);
}

#[test]
fn admin_keys_and_admins_end_sessions_of_operators() {
    for role in ROLES {
        let party = Party::Operator(ActingOperator { user_id: id(1), role: *role });
        let expected = if *role >= Role::Admin { Protection::LastOwner } else { Protection::Operators };
        assert_eq!(party.protection_from_end_of_sessions(), expected, "{role}");
    }
    for party in [Party::Admin, Party::System] {
        assert_eq!(party.protection_from_end_of_sessions(), Protection::LastOwner);
    }
}

#[test]
fn an_operator_and_no_other_actor_is_stored_with_an_id() {
    for actor in [Actor::User, Actor::Admin, Actor::Operator(id(1)), Actor::System] {
        assert_eq!(Actor::parse(actor.as_str(), actor.operator()), Some(actor));
        assert!(ActorKind::parse(actor.as_str()).is_some());
    }
    assert_eq!(Actor::parse("operator", None), None);
    assert_eq!(Actor::parse("system", Some(id(1))), None);
}
