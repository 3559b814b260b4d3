//! Commands `latchkey oauth add`, `list` and `remove`.

use latchkey_domain::identity::ProviderKind;
use latchkey_domain::operator::Party;
use latchkey_service::Error;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::ProviderInput;
use latchkey_service::refusal::{PROVIDER_EXISTS, PROVIDER_NOT_FOUND, PROVIDER_PINNED};
use serde_json::{Value, json};

use super::sure::confirm;
use super::{CommandError, json};
use crate::cli::{AddProvider, OAuthCommand, Output, Sure};
use crate::terminal;
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, command: OAuthCommand) -> Result<(), CommandError> {
    match command {
        OAuthCommand::Add(provider) => add(assembly, provider).await,
        OAuthCommand::List(Output { json: true }) => Ok(json::print(&facts(assembly))?),
        OAuthCommand::List(_) => {
            list(assembly);
            Ok(())
        }
        OAuthCommand::Remove { key, sure } => remove(assembly, &key, sure).await,
    }
}

async fn add(assembly: &Assembly, provider: AddProvider) -> Result<(), CommandError> {
    let service = &assembly.service;
    let is_apple_key = provider.team_id.is_some();
    let secret = Some(read_secret(is_apple_key).await?);
    let (client_secret, private_key) = if is_apple_key { (None, secret) } else { (secret, None) };
    let input = ProviderInput {
        name: provider.name,
        discovery_endpoint: provider.discovery,
        client_id: Some(provider.client_id),
        client_secret,
        scopes: Some(Some(provider.scopes).filter(|scopes| !scopes.is_empty())),
        native_client_ids: Some(provider.native_client_ids),
        tenant: Some(provider.tenant),
        team_id: provider.team_id,
        key_id: provider.key_id,
        private_key,
        link_by_email: Some(!provider.no_link_by_email),
        enabled: None,
    };
    let kind = service.oauth.provider_kind(&provider.key);
    let known = service.oauth.create_provider(kind, &provider.key, &input, Party::System, None).await;
    let known = known.map_err(as_argument)?;
    println!("added {}; register this redirect URI there:", known.name());
    println!("{}", service.oauth.callback_url(&known));
    Ok(())
}

fn facts(assembly: &Assembly) -> Value {
    let oauth = &assembly.service.oauth;
    let kinds = [(ProviderKind::BuiltIn, "built-in"), (ProviderKind::Custom, "custom")];
    let known = kinds.into_iter().flat_map(|(kind, word)| {
        oauth.list_providers(kind).into_iter().map(move |known| {
            json!({
                "key": known.key.as_str(),
                "kind": word,
                "name": known.name(),
                "clientId": known.description.client_id,
                "enabled": known.description.enabled,
                "pinned": known.is_pinned,
                "redirectUri": oauth.callback_url(&known),
            })
        })
    });
    json!({"data": known.collect::<Vec<_>>()})
}

fn list(assembly: &Assembly) {
    println!("{:<20}{:<10}{:<10}{:<40}NAME", "KEY", "KIND", "STATE", "CLIENT");
    for kind in [ProviderKind::BuiltIn, ProviderKind::Custom] {
        for known in assembly.service.oauth.list_providers(kind) {
            let kind = match kind {
                ProviderKind::BuiltIn => "built-in",
                ProviderKind::Custom => "custom",
            };
            let state = match (known.description.enabled, known.is_pinned) {
                (true, true) => "pinned",
                (true, false) => "on",
                (false, _) => "off",
            };
            let (key, client) = (known.key.as_str(), &known.description.client_id);
            println!("{key:<20}{kind:<10}{state:<10}{client:<40}{}", known.name());
        }
    }
}

async fn remove(assembly: &Assembly, key: &str, sure: Sure) -> Result<(), CommandError> {
    let question = async || Ok(format!("Remove {key} and its secret? Nobody can sign in with it then."));
    confirm(sure, "oauth remove", "removed", question).await?;
    let kind = assembly.service.oauth.provider_kind(key);
    match assembly.service.oauth.delete_provider(kind, key, Party::System, None).await {
        Err(Error::Refused(&PROVIDER_NOT_FOUND)) => {
            Err(CommandError::Refused(format!("no identity provider {key:?} is configured")))
        }
        Err(Error::Refused(&PROVIDER_PINNED)) => Err(CommandError::Refused(format!(
            "{key} is pinned by the settings; remove its section oauth.providers.{key} there"
        ))),
        other => {
            other?;
            println!("removed {key}");
            Ok(())
        }
    }
}

/// Reads the provider's secret from standard input: all of it for a private key in PEM, otherwise the first line. A
/// terminal does not show the typed line.
async fn read_secret(is_key: bool) -> Result<SecretText, CommandError> {
    let text = if is_key {
        terminal::read_all().await?
    } else if terminal::is_there() {
        terminal::ask_hidden("Secret: ").await?
    } else {
        terminal::read_line().await?
    };
    let secret = text.trim();
    if secret.is_empty() {
        let place = if is_key { "on" } else { "on the first line of" };
        return Err(CommandError::Refused(format!("give the secret {place} standard input")));
    }
    Ok(SecretText::new(secret.to_owned()))
}

/// Rewrites an error so that it names the command-line argument instead of the field of the HTTP API.
fn as_argument(error: Error) -> CommandError {
    match error {
        Error::Validation { field, problem, .. } => {
            let argument = match field {
                "clientId" => "--client-id",
                "clientSecret" => "the secret",
                "discoveryEndpoint" => "--discovery",
                "nativeClientIds" => "--native-client-id",
                "scopes" => "--scope",
                "tenant" => "--tenant",
                "name" => "--name",
                "privateKey" => "the private key",
                _ => "the key",
            };
            CommandError::Refused(format!("{argument} {problem}"))
        }
        Error::Refused(&PROVIDER_EXISTS) => {
            CommandError::Refused("a provider with this key is configured; remove it first".to_owned())
        }
        other => other.into(),
    }
}
