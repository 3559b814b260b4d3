//! Views: one type per page, with the values that its template shows. A field of type
//! [`Form`](crate::Form) is a form on the page; its comment states the effect of the form.

mod account;
mod credentials;
mod entrance;
mod factors;
mod mailbox;
mod other;
mod parts;

pub use account::{
    Account, AccountData, Activity, Conflict, Deleted, Deletion, Event, Profile, ProfileFields,
    ProfileSummary,
};
pub use credentials::{
    AddPasskey, ChangeEmail, ChangePassword, LinkedProvider, Passkey, Passkeys, PendingEmail, Providers,
    Sessions, Totp, TwoStep, TwoStepState,
};
pub use entrance::{
    Continue, ContinueStep, ProviderOutcome, ProviderReturn, Resume, SignIn, SignOut, SignUp,
};
pub use factors::{Another, Challenge, ChallengeStep, CodesLeft, Enroll, EnrollStep, Next, RecoveryCodes};
pub use mailbox::{
    Forgot, Invitation, InvitationStep, MailCode, MailCodeStep, Reset, ResetStep, Verified, Verify, VerifyBy,
};
pub use other::{ErrorCause, ErrorPage, Start};
pub(crate) use parts::word;
pub use parts::{
    App, CodeForm, Device, PasskeyForm, PasswordRules, ProviderLink, SendAgain, Session, TotpSetup,
};
