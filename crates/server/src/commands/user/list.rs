//! Command `latchkey user list`.

use latchkey_domain::user_list::{UserFilter, UserSearch};
use latchkey_service::admin::{ListUsers, UserPosition};
use serde_json::json;

use super::{facts, yes};
use crate::cli::UserListArgs;
use crate::commands::{CommandError, json};
use crate::wiring::Assembly;

pub(super) async fn run(assembly: &Assembly, args: &UserListArgs) -> Result<(), CommandError> {
    let list = ListUsers {
        filter: UserFilter {
            search: args.search.as_deref().and_then(UserSearch::parse),
            state: args.state,
            provider: args.provider.clone(),
            created_after: args.created_after,
            created_before: args.created_before,
            signed_in_after: args.signed_in_after,
            signed_in_before: args.signed_in_before,
        },
        order: args.sort.order(),
        position: UserPosition::Offset(args.offset.into()),
        limit: args.limit,
    };
    let page = assembly.service.admin.list_users(&list).await?;
    if args.output.json {
        let users: Vec<_> = page.users.iter().map(facts).collect();
        return Ok(json::print(&json!({"data": users, "total": page.total}))?);
    }
    println!("{:<38}{:<26}{:<26}{:<10}{:<8}EMAIL", "ID", "CREATED", "LAST SIGN-IN", "VERIFIED", "BANNED");
    for user in &page.users {
        let (verified, banned) = (yes(user.email_verified), yes(user.is_banned()));
        let (id, created, email) = (user.id.to_string(), user.created_at.to_string(), user.email.as_typed());
        let signed_in = user.last_sign_in_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        println!("{id:<38}{created:<26}{signed_in:<26}{verified:<10}{banned:<8}{email}");
    }
    println!("{} of {}", page.users.len(), page.total);
    Ok(())
}
