//! Registration of a passkey, in a session or as the answer to the challenge of a sign-in. In a session it leaves
//! two-step sign-in as it is; as the answer to a challenge it turns it on.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::factors::FactorName;
use latchkey_domain::passkey::{
    CredentialId, Passkey, PasskeyId, PasskeyState, RpId, Transports, UserHandle,
};
use latchkey_domain::reason::Reason;
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginPasskey, BegunPasskey, Enroller, NewPasskey, PasskeyOwner, RegisterPasskey, RegisteredPasskey,
};
use latchkey_webauthn::{Algorithm, NewCredential, RegistrationMode};

use super::Passkeys;
use super::ceremony::{Ceremony, CeremonyKind};
use super::names::default_name;
use super::response::Registration;
use crate::error::{Error, Result};
use crate::factors::{FactorEnroller, TwoStepOn, gone};
use crate::refusal::{EMAIL_NOT_VERIFIED, PASSKEY_EXISTS, TOO_MANY_FACTORS};
use crate::sessions::SignInClient;

/// A registration that has begun, with the data for the browser.
pub struct BegunRegistration {
    /// Id of the ceremony, which the client returns with the response.
    pub ceremony_id: String,
    pub options: CreationOptions,
    pub expires_at: Timestamp,
}

/// Creation options for the browser (WebAuthn section 5.4).
pub struct CreationOptions {
    pub rp_id: RpId,
    /// Name of the service.
    pub rp_name: String,
    pub user_handle: UserHandle,
    /// Email address of the account.
    pub user_name: String,
    /// Name in the user's profile, or else the email address.
    pub display_name: String,
    pub challenge: [u8; 32],
    /// COSE numbers of the accepted signature algorithms, in order of preference.
    pub algorithms: [i64; 3],
    /// The passkeys that the account has already.
    pub exclude: Vec<(CredentialId, Transports)>,
    pub mode: RegistrationMode,
}

/// Outcome of a registration.
pub enum Registered {
    /// The passkey was added.
    Added(Passkey),
    /// The passkey was added and turned two-step sign-in on.
    TurnedOn(TwoStepOn, Passkey),
}

impl Passkeys {
    /// Begins a registration. The account gets its user handle if it has none.
    pub async fn begin_registration(
        &self,
        enroller: FactorEnroller,
        mode: RegistrationMode,
    ) -> Result<BegunRegistration> {
        let rp_id = self.check_offered()?;
        let now = self.kernel.now();
        let enroller = self.factors.beginning(&enroller, now)?;
        let begin = BeginPasskey {
            enroller: enroller.clone(),
            user_handle: UserHandle::new(self.kernel.entropy.bytes()),
            now,
        };
        let owner = match self.kernel.store.begin_passkey(begin).await? {
            BegunPasskey::Begun(owner) => *owner,
            BegunPasskey::NoEnroller => return Err(Error::Refused(gone(&enroller))),
            BegunPasskey::Unverified => return Err(Error::Refused(&EMAIL_NOT_VERIFIED)),
            BegunPasskey::TooMany => return Err(Error::Refused(&TOO_MANY_FACTORS)),
        };
        let kind = match mode {
            RegistrationMode::Prompted => CeremonyKind::Registration,
            RegistrationMode::Conditional => CeremonyKind::ConditionalRegistration,
        };
        let ceremony = Ceremony::begin(kind, binding(&enroller), &*self.kernel.entropy, now);
        Ok(BegunRegistration {
            ceremony_id: self.ceremonies.seal(&ceremony, &*self.kernel.entropy)?,
            expires_at: ceremony.expires_at,
            options: self.creation_options(owner, rp_id, ceremony.challenge, mode),
        })
    }

    fn creation_options(
        &self,
        owner: PasskeyOwner,
        rp_id: RpId,
        challenge: [u8; 32],
        mode: RegistrationMode,
    ) -> CreationOptions {
        let PasskeyOwner { user, user_handle, passkeys } = owner;
        let email = user.email.as_typed().to_owned();
        let name = user.profile.as_ref().map(|profile| profile.name.as_str()).filter(|name| !name.is_empty());
        CreationOptions {
            rp_id,
            rp_name: self.kernel.site.service_name.clone(),
            user_handle,
            display_name: name.unwrap_or(&email).to_owned(),
            user_name: email,
            challenge,
            algorithms: Algorithm::OFFERED.map(Algorithm::identifier),
            exclude: passkeys.into_iter().map(|one| (one.credential_id, one.transports)).collect(),
            mode,
        }
    }

    /// Completes a registration with the browser's response.
    pub async fn register(
        &self,
        enroller: FactorEnroller,
        ceremony_id: &str,
        registration: Registration,
        name: Option<FactorName>,
        from: &SignInClient,
    ) -> Result<Registered> {
        let rp_id = self.check_offered()?;
        let (client, now) = (&from.client, self.kernel.now());
        let found = self.factors.find_enroller(enroller, now).await?;
        let enroller = found.enroller.clone();
        let (ceremony, mode) = self.open_registration(ceremony_id, &enroller, now)?;
        let verified = self.verify_registration(&registration, &ceremony.challenge, mode, &rp_id);
        let credential = verified.map_err(|refusal| {
            Error::validation("credential", Reason::NotAllowed, format!("was refused: {refusal}"))
        })?;
        let method = AuthMethod::of_passkey(credential.flags.is_backup_eligible());
        let (turned_on, opening) = match &enroller {
            Enroller::Session(..) => None,
            Enroller::Challenge(..) => Some(self.factors.draft_enrolled(&found, Some(method), from, now)?),
        }
        .unzip();
        let name = name.unwrap_or_else(|| default_name(credential.aaguid, client));
        let request = RegisterPasskey {
            enroller: enroller.clone(),
            ceremony: ceremony.completed(),
            passkey: self.new_passkey(credential, (rp_id, name, registration.transports), now),
            turned_on: turned_on.map(Box::new),
            event: self.kernel.event(AuditKind::PasskeyAdded, Actor::User, Some(client), now),
            mail: self.kernel.required_notification(Some(client), None, now)?,
            undoable: self.factors.undoable_mail(client, now)?,
            sleeps: self.factors.puts_to_sleep(&found),
            now,
        };
        let registered = self.kernel.store.register_passkey(request).await?;
        self.kernel.mails.wake();
        match (registered, opening) {
            (RegisteredPasskey::Added(passkey), None) => Ok(Registered::Added(*passkey)),
            (RegisteredPasskey::TurnedOn(user, passkey), Some(opening)) => {
                Ok(Registered::TurnedOn(self.factors.turned_on(*user, opening, now)?, *passkey))
            }
            (RegisteredPasskey::CeremonyUsed, _) => Err(unknown_ceremony()),
            (RegisteredPasskey::Exists, _) => Err(Error::Refused(&PASSKEY_EXISTS)),
            (RegisteredPasskey::TooMany, _) => Err(Error::Refused(&TOO_MANY_FACTORS)),
            (RegisteredPasskey::NoEnroller, _) => Err(Error::Refused(gone(&enroller))),
            _ => Err(Error::internal("a registration was completed for another enroller than its own")),
        }
    }

    /// Decrypts the ceremony of a registration from its id. The same session or challenge must have begun it.
    fn open_registration(
        &self,
        id: &str,
        enroller: &Enroller,
        now: Timestamp,
    ) -> Result<(Ceremony, RegistrationMode)> {
        let ceremony = self.ceremonies.open(id, now).filter(|one| one.bound_to == binding(enroller));
        let ceremony = ceremony.ok_or_else(unknown_ceremony)?;
        match ceremony.kind {
            CeremonyKind::Registration => Ok((ceremony, RegistrationMode::Prompted)),
            CeremonyKind::ConditionalRegistration => Ok((ceremony, RegistrationMode::Conditional)),
            CeremonyKind::SignIn => Err(unknown_ceremony()),
        }
    }

    fn new_passkey(
        &self,
        credential: NewCredential,
        (rp_id, name, transports): (RpId, FactorName, Transports),
        now: Timestamp,
    ) -> NewPasskey {
        NewPasskey {
            id: PasskeyId::new(now, self.kernel.id_bytes(now)),
            public_key: credential.key.as_bytes().to_vec(),
            rp_id,
            name,
            aaguid: credential.aaguid,
            transports,
            is_backup_eligible: credential.flags.is_backup_eligible(),
            state: PasskeyState {
                counter: credential.counter,
                is_backed_up: credential.flags.is_backed_up(),
            },
            credential_id: credential.id,
        }
    }
}

/// Returns the hash of the session or challenge that alone may complete a registration.
fn binding(enroller: &Enroller) -> TokenHash {
    match enroller {
        Enroller::Session(user, session) => {
            TokenHash::of(&[*user.as_uuid().as_bytes(), *session.as_uuid().as_bytes()].concat())
        }
        Enroller::Challenge(hash, _) => *hash,
    }
}

/// Builds the refusal for a ceremony that is unknown, used or expired, or was begun by another caller.
fn unknown_ceremony() -> Error {
    Error::validation("ceremonyId", Reason::Unknown, "is unknown, used or expired; ask for new options")
}
