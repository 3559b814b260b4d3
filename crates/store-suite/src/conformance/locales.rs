//! Cases of the language of an account.

use latchkey_domain::codes::Purpose;
use latchkey_domain::locale::Locale;
use latchkey_store::NewAccount;

use super::fixtures::{World, at, mac};

fn locale(text: &str) -> Locale {
    Locale::parse(text).unwrap()
}

pub(super) async fn the_language_of_an_account_is_read_with_its_mails_and_by_its_owner(world: World) {
    let account = NewAccount { locale: Some(locale("de-AT")), ..world.account("ada", at(0)) };
    let ada = world.create(account).await;
    let session = world.open_session(ada.id, at(1)).await;
    let own = || async { world.find_own_account(session.id, at(3)).await.unwrap().unwrap().locale };
    assert_eq!(own().await, Some(locale("de-AT")));

    world.set_locale(ada.id, &locale("fr")).await.unwrap();

    assert_eq!(own().await, Some(locale("fr")));
    world.send_code(ada.email.key(), Purpose::ResetPassword, mac(1), at(3)).await;
    let mails = world.mails(at(4)).await;
    assert_eq!(mails.last().unwrap().recipient.locale, Some(locale("fr")));
}

pub(super) async fn an_account_without_a_language_has_none(world: World) {
    let ada = world.create(world.account("ada", at(0))).await;
    let session = world.open_session(ada.id, at(1)).await;

    assert_eq!(world.find_own_account(session.id, at(3)).await.unwrap().unwrap().locale, None);
}
