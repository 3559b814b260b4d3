//! Statements that read a page of all accounts: their rows in every table that an export has. The order of an account's rows
//! does not depend on their age, so that an imported account is exported as it was.

use std::collections::HashMap;

use latchkey_domain::identity::{Issuer, ProviderKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::locale::Locale;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    EXPORTED_PAGE, ExportedAccount, ExportedIdentity, ExportedTotp, StoreResult, VerifiablePasskey,
};

use super::passkeys;
use super::profiles::{profile_columns, read_profile};
use super::users::{account_columns, account_tables, read_account};
use crate::form::{Cells, Results, Script, Slot, statements, values};

/// Query for the ids of a page: those of `$3` accounts after `$1` that, or whose profile, changed at `$2` or later. The
/// profile is looked up only for accounts that have not changed themselves, so not at all if all are wanted.
macro_rules! page {
    () => {
        "(SELECT id FROM users WHERE id > $1 AND NOT pending AND (updated_at >= $2
            OR (SELECT c.updated_at >= $2 FROM profiles AS c WHERE c.user_id = users.id)) ORDER BY id LIMIT $3)"
    };
}

statements! {
    ACCOUNTS = concat!(
        "SELECT ", account_columns!(), ", u.locale, ", profile_columns!(), " FROM ", account_tables!(),
        " WHERE u.id IN ", page!(), " ORDER BY u.id"
    );
    IDENTITIES = concat!(
        "SELECT user_id, provider, issuer, subject, email FROM identities WHERE user_id IN ", page!(),
        " ORDER BY user_id, provider, subject, issuer"
    );
    TOTP = concat!(
        "SELECT user_id, id, name, secret FROM totp_factors WHERE confirmed_at IS NOT NULL AND user_id IN ", page!(),
        " ORDER BY user_id, name, id"
    );
    PASSKEYS = concat!(
        "SELECT k.user_id, u.user_handle, k.id, k.credential_id, k.rp_id, k.name, k.aaguid, k.transports, k.backup_eligible,
            k.backed_up, k.created_at, k.last_used_at, k.public_key, k.counter
        FROM passkeys AS k JOIN users AS u ON u.id = k.user_id WHERE k.user_id IN ", page!(),
        " ORDER BY k.user_id, k.credential_id"
    );
}

/// Handles of the statements of a page.
#[derive(Clone, Copy)]
pub(crate) struct PageReads {
    accounts: Slot,
    identities: Slot,
    totp: Slot,
    passkeys: Slot,
}

impl PageReads {
    pub(crate) fn add(script: &mut Script, after: UserId, since: Timestamp) -> Self {
        let page = || values![after, since, i64::from(EXPORTED_PAGE)];
        Self {
            accounts: script.read(&ACCOUNTS, page()),
            identities: script.read(&IDENTITIES, page()),
            totp: script.read(&TOTP, page()),
            passkeys: script.read(&PASSKEYS, page()),
        }
    }

    pub(crate) fn read(self, results: &Results<'_>) -> StoreResult<Vec<ExportedAccount>> {
        let mut identities = by_user(results.list(self.identities, read_identity)?);
        let mut totp = by_user(results.list(self.totp, read_totp)?);
        let mut passkeys = by_user(results.list(self.passkeys, read_passkey)?);
        let mut accounts = results.list(self.accounts, read_exported)?;
        for account in &mut accounts {
            let id = account.user.id;
            account.identities = identities.remove(&id).unwrap_or_default();
            account.totp = totp.remove(&id).unwrap_or_default();
            account.passkeys = passkeys.remove(&id).unwrap_or_default();
        }
        Ok(accounts)
    }
}

fn by_user<T>(rows: Vec<(UserId, T)>) -> HashMap<UserId, Vec<T>> {
    let mut found = HashMap::<_, Vec<T>>::new();
    for (id, row) in rows {
        found.entry(id).or_default().push(row);
    }
    found
}

fn read_exported(cells: &mut Cells<'_>) -> StoreResult<ExportedAccount> {
    let account = read_account(cells)?;
    let locale = cells.of("users").maybe_text("locale")?.map(Locale::from_stored);
    let profile = account.user.profile.is_some().then(|| read_profile(cells)).transpose()?;
    Ok(ExportedAccount {
        user: account.user,
        has_proven_password: account.has_proven_password,
        first_verified_at: account.first_verified_at,
        password: account.password,
        locale,
        profile,
        identities: Vec::new(),
        totp: Vec::new(),
        passkeys: Vec::new(),
    })
}

fn read_identity(cells: &mut Cells<'_>) -> StoreResult<(UserId, ExportedIdentity)> {
    let id = cells.of("identities").id("user_id")?;
    let provider = cells.parsed("provider", |key| ProviderKey::parse(key).ok())?;
    let issuer = Issuer::from_stored(cells.text("issuer")?.to_owned());
    let subject = cells.text("subject")?.to_owned();
    Ok((id, ExportedIdentity { provider, issuer, subject, email: cells.maybe_text("email")? }))
}

fn read_totp(cells: &mut Cells<'_>) -> StoreResult<(UserId, ExportedTotp)> {
    let user_id = cells.of("totp_factors").id("user_id")?;
    let (id, name) = (cells.id("id")?, cells.text("name")?.to_owned());
    Ok((user_id, ExportedTotp { id, name, sealed: cells.bytes("secret")? }))
}

fn read_passkey(cells: &mut Cells<'_>) -> StoreResult<(UserId, VerifiablePasskey)> {
    let id = cells.of("passkeys").id("user_id")?;
    Ok((id, passkeys::read_verifiable(cells)?))
}
