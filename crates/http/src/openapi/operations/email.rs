//! Verification and password reset, by code and by link.

use http::StatusCode;
use serde_json::{Value, json};
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::auth::SessionBody;
use crate::endpoints::auth::email::exchange_reset_password_token::{ExchangeRequest, ResetTokenBody};
use crate::endpoints::auth::email::reset_password::{MessageBody, ResetPasswordRequest};
use crate::endpoints::auth::email::send_reset_password::SendResetRequest;
use crate::endpoints::auth::email::verify::VerifyRequest;
use crate::endpoints::auth::email::{MailSentBody, SendMailRequest};
use crate::error::codes::{
    EMAIL_PROVIDER_NOT_CONFIGURED, INVALID_CODE, REDIRECT_NOT_ALLOWED, TOO_MANY_REQUESTS, VALIDATION_ERROR,
    WEAK_PASSWORD,
};
use crate::openapi::access::Access;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::operation::Operation;
use crate::openapi::parameters::{client_type, link_token};
use crate::openapi::tags::Tag;

const VERIFY_LINK: &str = "/api/auth/email/verify-link";
const DEAD_LINK: &str =
    "A page: the link is unknown, used up or replaced, and there is nowhere to redirect to.";

pub(super) fn operations() -> Vec<Operation> {
    vec![
        resend(),
        verify(),
        open_verify_link(),
        agree_to_verify(),
        send_reset(),
        exchange(),
        open_reset_link(),
        reset(),
    ]
}

fn post(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(HttpMethod::Post, path, Tag::Email, id, summary).access(Access::Public)
}

fn resend() -> Operation {
    post(
        "/api/auth/email/send-verification",
        "resendVerificationEmail",
        "Mail a new verification code or link",
    )
    .about("Known, unknown and verified addresses are answered alike. The code or link before it dies.")
    .body::<SendMailRequest>(address())
    .answers::<MailSentBody>(StatusCode::ACCEPTED, "The mail is on its way, if there is somebody to mail.")
    .errors(&[&REDIRECT_NOT_ALLOWED, &EMAIL_PROVIDER_NOT_CONFIGURED, &TOO_MANY_REQUESTS])
}

fn verify() -> Operation {
    post("/api/auth/email/verify", "verifyEmail", "Verify an address")
        .about(
            "Proves the address by the code of the mail and opens a session. The older variant sends the token of a \
             link as `otp`, without `email`; that opens a session only if this very call verifies the address. The first \
             verification of an account that was in use before takes password, identities, sessions and public text out of \
             it, unless the call carries the bearer of a live session of that account.",
        )
        .parameter(client_type())
        .body::<VerifyRequest>(json!({ "email": "ada@example.org", "otp": "123456" }))
        .answers_with::<SessionBody>(StatusCode::OK, "The address is verified and the session open.", &[SET_COOKIE])
        .errors(&[&INVALID_CODE, &TOO_MANY_REQUESTS])
}

fn open_verify_link() -> Operation {
    let about = "Where a mailed verification link leads: a browser opens it and is sent on, with `service_status` \
        (`success` or `error`), `service_type=verify_email` and, on error, `service_error` added to the target. Signs \
        nobody in. HEAD changes nothing. Where verifying would remove something of an account that was in use before, and \
        the browser has no cookie of the account, a page asks first.";
    link(HttpMethod::Get, VERIFY_LINK, "openVerificationLink", "Open a verification link")
        .parameter(link_token())
        .about(about)
        .page("A page that asks before something is removed. Nothing changed.")
}

fn agree_to_verify() -> Operation {
    link(HttpMethod::Post, VERIFY_LINK, "agreeToVerify", "Verify after a question")
        .about("The button of the page that asks. Verifies, removes what the page says, and redirects as the link does.")
        .form("The field `token`.")
}

fn send_reset() -> Operation {
    post("/api/auth/email/send-reset-password", "sendResetPasswordEmail", "Mail a reset code or link")
        .about("Known and unknown addresses are answered alike. The code or link before it dies.")
        .body::<SendResetRequest>(address())
        .answers::<MailSentBody>(
            StatusCode::ACCEPTED,
            "The mail is on its way, if there is somebody to mail.",
        )
        .errors(&[&REDIRECT_NOT_ALLOWED, &EMAIL_PROVIDER_NOT_CONFIGURED, &TOO_MANY_REQUESTS])
}

fn exchange() -> Operation {
    let path = "/api/auth/email/exchange-reset-password-token";
    post(path, "exchangeResetPasswordToken", "Exchange a reset code for a reset token")
        .about("For `resetPasswordMethod` = `code`. The code is used up.")
        .body::<ExchangeRequest>(json!({ "code": "123456", "email": "ada@example.org" }))
        .answers::<ResetTokenBody>(StatusCode::OK, "The reset token.")
        .errors(&[&INVALID_CODE, &TOO_MANY_REQUESTS])
}

fn open_reset_link() -> Operation {
    let about = "Where a mailed reset link leads: a browser opens it and is sent on, with `service_status` (`ready` or \
        `error`), `service_type=reset_password` and `token`, or on error `service_error`, added to the target. Can be \
        opened any number of times.";
    link(HttpMethod::Get, "/api/auth/email/reset-password-link", "openResetPasswordLink", "Open a reset link")
        .parameter(link_token())
        .about(about)
}

fn reset() -> Operation {
    let otp = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    post("/api/auth/email/reset-password", "resetPassword", "Set a new password with a reset token")
        .about(
            "Ends every session of the user and opens none. A password that breaks a rule does not use up the token.",
        )
        .body::<ResetPasswordRequest>(json!({ "newPassword": "staple of the battery", "otp": otp }))
        .answers::<MessageBody>(StatusCode::OK, "The password was changed.")
        .errors(&[&INVALID_CODE, &WEAK_PASSWORD, &TOO_MANY_REQUESTS])
}

fn link(method: HttpMethod, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(method, path, Tag::Email, id, summary)
        .redirects("To the target that was stored with the link, else to the default redirect URL.")
        .bad_request_page(DEAD_LINK)
        .errors(&[&VALIDATION_ERROR, &TOO_MANY_REQUESTS])
}

fn address() -> Value {
    json!({ "email": "ada@example.org" })
}
