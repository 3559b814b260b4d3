//! JSON document of `latchkey user show --json`.

use latchkey_domain::session::{Level, Session};
use latchkey_http::endpoints::auth::audit::EventBody;
use latchkey_service::admin::SignIns;
use latchkey_service::factors::AccountFactors;
use serde_json::{Value, json};

use crate::commands::user::facts;
use crate::wiring::Assembly;

pub(super) fn of(
    assembly: &Assembly,
    AccountFactors { user, factors }: &AccountFactors,
    sessions: &[Session],
    sign_ins: SignIns,
) -> Value {
    let totp = factors.totp.iter().map(|one| {
        let (id, name) = (one.id.to_string(), one.name.as_str());
        json!({"id": id, "name": name, "createdAt": one.created_at, "lastUsedAt": one.last_used_at})
    });
    let passkeys = factors.passkeys.iter().map(|one| {
        json!({
            "id": one.id.to_string(), "name": one.name.as_str(), "createdAt": one.created_at,
            "lastUsedAt": one.last_used_at, "usable": assembly.service.passkeys.is_usable(one),
        })
    });
    json!({
        "user": facts(user),
        "twoStepAt": user.two_step_at,
        "factors": {
            "totp": totp.collect::<Vec<_>>(),
            "passkeys": passkeys.collect::<Vec<_>>(),
            "recoveryCodesLeft": factors.recovery_codes_left,
        },
        "signIns": sign_ins.completed.into_iter().map(EventBody::from).collect::<Vec<_>>(),
        "failures": sign_ins.failed.into_iter().map(EventBody::from).collect::<Vec<_>>(),
        "sessions": sessions.iter().map(session).collect::<Vec<_>>(),
    })
}

fn session(session: &Session) -> Value {
    json!({
        "id": session.id.to_string(),
        "createdAt": session.created_at,
        "lastSeenAt": session.last_seen_at,
        "level": if session.level == Level::Two { 2 } else { 1 },
        "methods": session.methods.to_claim(),
        "device": session.client.device().to_string(),
        "ip": session.client.address.to_string(),
    })
}
