//! Reports of imports: a line for each problem, then a line for each id that is not that of the source.

use latchkey_domain::ids::ImportId;
use serde_json::json;

use super::Imports;
use crate::error::Result;

/// Number of records whose lines are read at once. One has some 450 at most: 21 of each code, and one for each identity. The
/// store reads at most 100,000 lines.
const PAGE: u32 = 200;

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
