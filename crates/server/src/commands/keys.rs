//! Commands `latchkey keys list` and `latchkey keys rotate`.

use latchkey_domain::operator::Party;

use serde_json::json;

use super::{CommandError, json};
use crate::cli::KeysCommand;
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: KeysCommand) -> Result<(), CommandError> {
    let (KeysCommand::Rotate(output) | KeysCommand::List(output)) = command;
    if matches!(command, KeysCommand::Rotate(_)) {
        let is_rotated = assembly.service.sessions.rotate_signing_key(Party::System, None).await?;
        let said = if is_rotated { "A new key signs." } else { "Another process rotated the key just now." };
        if !output.json {
            println!("{said}");
        }
    }
    if output.json {
        let keys = assembly.service.sessions.list_signing_keys().await?;
        let keys = keys.iter().map(|key| {
            json!({
                "id": key.id.to_string(), "algorithm": key.algorithm, "createdAt": key.created_at,
                "verifyUntil": key.verify_until,
            })
        });
        return Ok(json::print(&json!({"data": keys.collect::<Vec<_>>()}))?);
    }
    println!("{:<38}{:<8}{:<26}USE", "KEY", "ALG", "MADE");
    for key in assembly.service.sessions.list_signing_keys().await? {
        let usage = match key.verify_until {
            None => "signs".to_owned(),
            Some(until) => format!("accepted until {until}"),
        };
        println!("{:<38}{:<8}{:<26}{usage}", key.id.to_string(), key.algorithm, key.created_at.to_string());
    }
    Ok(())
}
