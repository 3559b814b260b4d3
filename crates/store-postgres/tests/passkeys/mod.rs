//! Round trips of the operations on passkeys.

use latchkey_domain::challenge::{ChallengeKind, SecondFactorPolicy};
use latchkey_domain::factors::FactorName;
use latchkey_domain::operator::Protection;
use latchkey_domain::passkey::{Aaguid, CredentialId, PasskeyId, PasskeyState, RpId, Transports, UserHandle};
use latchkey_domain::session::{Level, NewSession};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_store::{
    Accounts, BeginPasskey, BeginReauthentication, Ceremony, ChallengeTerms, Challenges, ChangeFactors,
    Enroller, Entry, Factors, NewChallenge, NewPasskey, NewToken, PasskeyOptions, PasskeyRefusal, Passkeys,
    RegisterPasskey, RemovePasskeyOf, ShownPasskey, SignInWithPasskey, TurnTwoStepOn,
};
use latchkey_store_suite::conformance::numbered;

use super::{Measured, account, at, entry, event, guard, mail, next, session, token, user_id};

/// Number of the account.
const OWNER: u64 = 520;

fn rp_id() -> RpId {
    RpId::new("example.org")
}

fn id(number: u8) -> PasskeyId {
    PasskeyId::new(at(0), [number; 10])
}

fn credential(number: u8) -> CredentialId {
    CredentialId::parse(&[number; 32]).unwrap()
}

fn ceremony() -> Ceremony {
    Ceremony { hash: token(next()), expires_at: at(600) }
}

fn register(number: u8) -> RegisterPasskey {
    RegisterPasskey {
        enroller: Enroller::Session(user_id(OWNER), session(OWNER).id),
        ceremony: ceremony(),
        passkey: NewPasskey {
            id: id(number),
            credential_id: credential(number),
            public_key: vec![7; 77],
            rp_id: rp_id(),
            name: FactorName::of_totp(),
            aaguid: Aaguid::new([0; 16]),
            transports: Transports::default(),
            is_backup_eligible: true,
            state: PasskeyState { counter: 0, is_backed_up: true },
        },
        turned_on: None,
        event: event(next()),
        mail: Some(mail(next())),
        undoable: Some((mail(next()), NewToken { hash: token(next()), expires_at: at(10_000) })),
        sleeps: true,
        now: at(0),
    }
}

fn sign_in(number: u8, opened: u64) -> SignInWithPasskey {
    let entry = entry(session(opened));
    SignInWithPasskey {
        ceremony: ceremony(),
        shown: ShownPasskey { id: id(number), state: Some(PasskeyState { counter: 0, is_backed_up: true }) },
        rp_id: rp_id(),
        entry: Entry { session: NewSession { level: Level::Two, ..entry.session.clone() }, ..entry },
        guard: Some(guard()),
        must_verify: true,
        event: event(next()),
        refusal: PasskeyRefusal { event: event(next()), mail: Some(mail(next())) },
    }
}

fn change<T>(change: T) -> ChangeFactors<T> {
    ChangeFactors {
        user_id: user_id(OWNER),
        session_id: session(OWNER).id,
        rp_id: Some(rp_id()),
        change,
        event: event(next()),
        mail: Some(mail(next())),
        now: at(0),
    }
}

pub(crate) async fn measure(measured: &mut Measured) {
    let m = measured;
    m.store.create_account_and_enter(account(OWNER), entry(session(OWNER))).await.unwrap();
    let enroller = Enroller::Session(user_id(OWNER), session(OWNER).id);
    op!(m.begin_passkey(BeginPasskey { enroller, user_handle: UserHandle::new([1; 16]), now: at(0) }));
    op!(m.register_passkey(register(1)));
    m.store.register_passkey(register(2)).await.unwrap();
    op!(m.find_passkey(&credential(1), &rp_id(), token(1)));
    op!(m.sign_in_with_passkey(sign_in(1, 521)), "opened");
    let mut refused = sign_in(1, 522);
    refused.shown.state = None;
    op!(m.sign_in_with_passkey(refused), "refused");
    op!(m.find_own_passkeys(session(OWNER).id, at(0))).unwrap();
    op!(m.rename_passkey(change((id(1), FactorName::of_totp()))));
    let rules = numbered::rules(SecondFactorPolicy::Optional);
    let begin = BeginReauthentication {
        session_id: session(OWNER).id,
        challenge: NewChallenge { hash: token(523), ..entry(session(523)).challenge },
        takes: Vec::new(),
        rules: rules.clone(),
        level_two_required: None,
        now: at(0),
    };
    let kinds = m.store.begin_reauthentication(begin).await.unwrap().unwrap().unwrap();
    assert_eq!(kinds[0], ChallengeKind::Passkey);
    let terms = ChallengeTerms { attempts: 5, rules, must_verify: true, now: at(0) };
    op!(m.save_passkey_options(token(523), PasskeyOptions([5; 32]), terms)).unwrap();
    op!(m.remove_passkey(change(id(1)), SignInOffer::default()));
    let turned_on = super::two_step::turned_on(524);
    let on = TurnTwoStepOn {
        user_id: user_id(OWNER),
        session_id: session(OWNER).id,
        rp_id: Some(rp_id()),
        turned_on,
        now: at(0),
    };
    op!(m.turn_two_step_on(on));
    let (event, mail) = (event(next()), Some(mail(next())));
    op!(m.remove_passkey_of(RemovePasskeyOf {
        user_id: user_id(OWNER),
        passkey: id(2),
        event,
        mail,
        rp_id: Some(rp_id()),
        protection: Protection::Operators,
        even_last_owner: false,
        now: at(0)
    }));
    op!(m.count_unusable_passkeys(Some(&rp_id())));
}
