//! The question of a command before what cannot be undone.

use super::CommandError;
use crate::cli::Sure;
use crate::terminal;

/// Asks before a command does what cannot be undone, unless the answer was given by `--yes`. `question` shows what it is
/// about, and returns the question. Without a terminal nobody can be asked, so the command is refused.
pub(super) async fn confirm(
    sure: Sure,
    command: &str,
    done: &str,
    question: impl AsyncFnOnce() -> Result<String, CommandError>,
) -> Result<(), CommandError> {
    if sure.yes {
        return Ok(());
    }
    if !terminal::is_there() {
        return Err(CommandError::Refused(format!(
            "`{command}` asks first, and standard input is no terminal; nothing was {done}. Add --yes for an answer without \
             a question"
        )));
    }
    let question = question().await?;
    if terminal::ask_yes(&format!("{question} [y/N] ")).await? {
        return Ok(());
    }
    Err(CommandError::Refused(format!("nothing was {done}")))
}
