//! sendResetPasswordEmail, the exchange of a code, resetPassword. Links are in `links`.
