//! Reports of imports: a line for each problem, then a line for each id that is not that of the source.

use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::ProblemCode;
use serde_json::json;

use super::Imports;
use crate::error::Result;

/// Number of records whose lines are read at once.
const PAGE: u32 = 200;
/// Maximum number of lines about a record: those of each code that its reader tells, and one for each identity.
const MOST_OF_RECORD: usize = 21 * ProblemCode::ALL.len() + 100;
/// Maximum number of lines that the store reads at once.
const MOST: usize = 100_000;
const _: () = assert!(PAGE as usize * MOST_OF_RECORD <= MOST, "a page would be cut");

/// Position in a report; the default is its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportPosition {
    is_past_problems: bool,
    /// Number of the last record whose lines were read.
    after: u64,
}

impl Imports {
    /// Reads a page of the report of an import, and returns its lines and the position of the next page. Without lines,
    /// the report is at its end.
    pub async fn report_page(
        &self,
        id: ImportId,
        position: ReportPosition,
    ) -> Result<(Vec<String>, ReportPosition)> {
        let (store, mut after) = (&self.kernel.store, position.after);
        if !position.is_past_problems {
            let lines = store.list_import_problems(id, after, PAGE).await?;
            if let Some((place, _)) = lines.last() {
                let next = ReportPosition { after: *place, ..position };
                return Ok((lines.into_iter().map(|(_, line)| line).collect(), next));
            }
            after = 0;
        }
        loop {
            let ids = store.list_imported_ids(id, after, PAGE).await?;
            let Some((place, ..)) = ids.last() else { return Ok((Vec::new(), position)) };
            after = *place;
            let changed = ids.iter().filter_map(|(_, id, imported)| Some((imported.as_deref()?, id)));
            let lines: Vec<_> =
                changed.map(|(imported, id)| json!({"importedId": imported, "id": id}).to_string()).collect();
            if !lines.is_empty() {
                return Ok((lines, ReportPosition { is_past_problems: true, after }));
            }
        }
    }
}
