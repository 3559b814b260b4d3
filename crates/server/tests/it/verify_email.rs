//! verifyEmail, resendVerificationEmail, pending and contested sign-ups. Links are in `links`.
