//! Construction of the modules of use cases, in the order of their dependencies.

use std::sync::Arc;

use super::{Lifetimes, LimitsConfig, Service, ServiceConfig};
use crate::access::Access;
use crate::accounts::Accounts;
use crate::admin::Admin;
use crate::backups::Backups;
use crate::challenges::Challenges;
use crate::console::Console;
use crate::deletion::Deletion;
use crate::email_change::EmailChanges;
use crate::exports::Exports;
use crate::factors::Factors;
use crate::imports::Imports;
use crate::instances::Instances;
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::oauth::OAuth;
use crate::operators::Operators;
use crate::outbox::{Mailer, Outbox};
use crate::own_data::OwnData;
use crate::page_sessions::PageSessions;
use crate::passkeys::{Passkeys, RelyingParty};
use crate::passwords::{HashKeys, PasswordHasher, Passwords, WorkClasses};
use crate::profiles::Profiles;
use crate::readiness::Readiness;
use crate::search::Search;
use crate::secrets::{CannotDerive, KeyUse, ServerSecret};
use crate::sessions::Sessions;
use crate::shared::Shared;
use crate::undo::UndoLinks;
use crate::upkeep::Upkeep;

impl Service {
    /// Builds the modules of use cases in the order of their dependencies. Each uses the kernel and those
    /// built before it.
    pub(super) fn open(
        kernel: Arc<Kernel>,
        shared: Arc<Shared>,
        config: ServiceConfig,
        secret: &ServerSecret,
        hasher: PasswordHasher,
        mailer: Mailer,
    ) -> Result<Self, CannotDerive> {
        let ServiceConfig { limits, lifetimes, relying_party: party, .. } = config;
        let k = || kernel.clone();
        let (rp_id, lifetime) = (party.id.clone(), lifetimes.sessions);
        let sessions = Sessions::new(k(), shared.clone(), secret, limits.sessions, lifetime, rp_id)?;
        let sessions = Arc::new(sessions);
        let s = || sessions.clone();
        let access =
            Arc::new(Access { kernel: k(), sessions: s(), keys: config.access, limits: limits.access });
        let mailbox = Arc::new(Mailbox::new(k(), s(), secret, limits.mailbox, lifetimes.mailbox)?);
        let passwords = passwords(&kernel, &sessions, &mailbox, secret, hasher, (&limits, &lifetimes))?;
        let SecondFactors { factors, passkeys, challenges } =
            second_factors(&kernel, &sessions, &mailbox, &passwords, secret, (limits, lifetimes), party)?;
        let profiles = Arc::new(Profiles { kernel: k(), sessions: s(), limits: limits.profiles });
        let (limit, lifetime) = (limits.oauth, lifetimes.oauth);
        let oauth = OAuth::new(k(), shared.clone(), s(), access.clone(), secret, limit, lifetime)?;
        let accounts = Arc::new(Accounts {
            kernel: k(),
            sessions: s(),
            passwords: passwords.clone(),
            mailbox: mailbox.clone(),
            limits: limits.accounts,
        });
        Ok(Self {
            own_data: OwnData { kernel: k(), limits: limits.own_data },
            exports: Arc::new(Exports::new(k(), passwords.clone(), factors.clone(), limits.exports)),
            deletion: Deletion { kernel: k(), lifetimes: lifetimes.deletion },
            email_changes: EmailChanges::new(k(), s(), mailbox.clone(), lifetimes.email_change),
            undo: UndoLinks::new(k(), s(), mailbox.clone(), challenges.clone()),
            oauth,
            page_sessions: PageSessions { kernel: k(), sessions: s(), code_lifetime: lifetime.code },
            search: Search::new(k(), profiles.clone(), config.search_engine),
            operators: Operators { kernel: k() },
            console: Console::new(&challenges, accounts.clone()),
            accounts,
            admin: Admin::new(shared.clone(), passwords.clone(), passkeys.clone(), factors.clone(), &limits),
            imports: Arc::new(Imports {
                kernel: k(),
                shared: shared.clone(),
                sessions: s(),
                factors: factors.clone(),
                passwords: passwords.clone(),
                limits: limits.imports,
            }),
            outbox: Outbox { kernel: k(), mailer, sender: config.mail_from, retries: config.mail_retries },
            upkeep: Upkeep::new(k(), s(), lifetimes.upkeep),
            readiness: Readiness::new(k()),
            instances: Instances::new(k()),
            backups: Backups::new(k(), shared.clone()),
            passwords,
            factors,
            passkeys,
            challenges,
            sessions,
            access,
            mailbox,
            profiles,
            shared,
            kernel,
        })
    }
}

/// Builds sign-in by password.
fn passwords(
    kernel: &Arc<Kernel>,
    sessions: &Arc<Sessions>,
    mailbox: &Arc<Mailbox>,
    secret: &ServerSecret,
    hasher: PasswordHasher,
    (limits, lifetimes): (&LimitsConfig, &Lifetimes),
) -> Result<Arc<Passwords>, CannotDerive> {
    Ok(Arc::new(Passwords {
        kernel: kernel.clone(),
        sessions: sessions.clone(),
        mailbox: mailbox.clone(),
        hasher,
        classes: WorkClasses::new(secret.hmac_key(KeyUse::PasswordDecoys)?),
        hash_keys: HashKeys::new(secret)?,
        limits: limits.passwords,
        lifetimes: lifetimes.passwords,
    }))
}

/// The modules of use cases that deal with second factors.
struct SecondFactors {
    factors: Arc<Factors>,
    passkeys: Arc<Passkeys>,
    challenges: Arc<Challenges>,
}

/// Builds the modules of use cases that deal with second factors.
fn second_factors(
    kernel: &Arc<Kernel>,
    sessions: &Arc<Sessions>,
    mailbox: &Arc<Mailbox>,
    passwords: &Arc<Passwords>,
    secret: &ServerSecret,
    (limits, lifetimes): (LimitsConfig, Lifetimes),
    relying_party: RelyingParty,
) -> Result<SecondFactors, CannotDerive> {
    let (k, s) = (|| kernel.clone(), || sessions.clone());
    let factors = Factors::new(k(), s(), passwords.clone(), secret, limits.factors, lifetimes.factors)?;
    let factors = Arc::new(factors);
    let passkeys =
        Passkeys::new(k(), s(), passwords.clone(), factors.clone(), secret, limits.passkeys, relying_party)?;
    let passkeys = Arc::new(passkeys);
    let challenges = Challenges {
        kernel: k(),
        sessions: s(),
        mailbox: mailbox.clone(),
        passwords: passwords.clone(),
        factors: factors.clone(),
        passkeys: passkeys.clone(),
    };
    Ok(SecondFactors { factors, passkeys, challenges: Arc::new(challenges) })
}
