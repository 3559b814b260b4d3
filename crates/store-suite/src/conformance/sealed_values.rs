//! Cases of sealed values: all of them are listed, and each is replaced only if it is still the one that was read.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_store::{BeginSecretRotation, Resealed, SealedColumn, SealedRow, SealedValue};

use super::fixtures::{World, at, key, mac};
use super::signing_keys::new_key;

async fn list(world: &World, column: SealedColumn) -> Vec<SealedValue> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        // Pages of two, so that a case with three values sees a second page.
        let page = world.list_sealed(column, after.as_ref(), 2).await.unwrap();
        let Some(last) = page.last() else { return all };
        after = Some(last.row.clone());
        all.extend(page);
    }
}

fn begin(secrets: &str, key: &[u8], seconds: i64) -> BeginSecretRotation {
    let kept = vec![("codes".to_owned(), key.to_vec())];
    BeginSecretRotation { secrets: secrets.to_owned(), kept, now: at(seconds) }
}

pub(super) async fn every_sealed_mail_is_listed_once(world: World) {
    world.verified("ada", at(0)).await;
    for seconds in 1..=3 {
        world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(seconds)).await;
    }

    let mails = list(&world, SealedColumn::Mails).await;

    assert_eq!(mails.len(), 3);
    for column in SealedColumn::ALL.into_iter().filter(|column| *column != SealedColumn::Mails) {
        assert!(list(&world, column).await.is_empty(), "{column:?}");
    }
}

pub(super) async fn a_sealed_value_is_replaced_only_if_it_is_still_the_one_that_was_read(world: World) {
    let signing = new_key(&world, at(0));
    world.ensure_signing_key(signing.clone()).await.unwrap();
    let row = SealedRow::SigningKey(signing.id);
    let resealed =
        |from: &[u8], to: &[u8]| Resealed { row: row.clone(), from: from.to_vec(), to: to.to_vec() };

    let first = world.reseal(vec![resealed(&signing.sealed, b"new")]).await.unwrap();
    let second = world.reseal(vec![resealed(&signing.sealed, b"newer")]).await.unwrap();

    assert_eq!((first, second), (1, 0));
    let found = list(&world, SealedColumn::SigningKeys).await;
    assert_eq!((&found[0].row, found[0].sealed.as_slice()), (&row, &b"new"[..]));
    assert_eq!(world.list_signing_keys(at(1)).await.unwrap()[0].sealed, b"new");
}

pub(super) async fn a_rotation_of_the_secret_is_unfinished_until_it_is_finished(world: World) {
    let version = world.shared_version().await.unwrap();
    assert_eq!(world.unfinished_secret_rotation().await.unwrap(), None);

    world.begin_secret_rotation(begin("abc", b"key", 1)).await.unwrap();
    world.begin_secret_rotation(begin("abc", b"key", 2)).await.unwrap();

    assert_eq!(world.unfinished_secret_rotation().await.unwrap().as_deref(), Some("abc"));
    let begun = world.shared_version().await.unwrap();
    assert!(begun > version);
    let event = world.event(AuditKind::SecretRotated, at(3));
    world.finish_secret_rotation(Some(event)).await.unwrap();
    assert_eq!(world.unfinished_secret_rotation().await.unwrap(), None);
    assert!(world.shared_version().await.unwrap() > begun);
}

pub(super) async fn a_kept_key_is_never_overwritten(world: World) {
    world.begin_secret_rotation(begin("abc", b"first", 1)).await.unwrap();
    world.begin_secret_rotation(begin("abc", b"second", 2)).await.unwrap();

    let kept = list(&world, SealedColumn::KeptKeys).await;

    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].row, SealedRow::KeptKey("codes".to_owned()));
    assert_eq!(kept[0].sealed, b"first");
}
