//! `/console/import/{id}`: one import, with its numbers and the beginning of its report.

use axum::routing::get;
use latchkey_domain::imports::{ImportJob, ImportState, ProblemCode, RecordOutcome};
use latchkey_domain::time::Timestamp;
use latchkey_pages::When;
use latchkey_pages::console::views::{ImportPage, ProblemCount, ReportRow};
use latchkey_service::imports::{IMPORT_RETENTION, ReportPosition};
use serde_json::{Map, Value};

use super::{find, report, undo};
use crate::console::page::Page;
use crate::console::stop::{Outcome, Stop};
use crate::console::visit::ConsoleVisit;

/// Most lines of the report on the page.
const MOST: usize = 100;
/// Longest text of a line on the page. The file has the whole.
const LONGEST_TEXT: usize = 200;

pub(crate) const PAGE: Page = Page::of_reads("/console/import/{id}", || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let job = find(&visit).await?;
    let (report, has_more) = lines(&visit, &job).await?;
    let address = super::address(job.id);
    let problems = job.counts.problems.iter();
    visit.page(&ImportPage {
        problems: problems.map(|(code, count)| ProblemCount { code: *code, count: *count }).collect(),
        has_more,
        download: (!report.is_empty()).then(|| report::address(job.id)),
        report,
        undo: can_undo(&job, visit.now).then(|| undo::address(job.id)),
        undo_until: When(job.started_at.plus(IMPORT_RETENTION)),
        reload: address,
        again: job.is_dry_run.then(|| super::new::PATH.to_owned()),
        source: job.source,
        from: job.from,
        state: job.state,
        policy: job.policy,
        is_dry_run: job.is_dry_run,
        read: job.counts.read,
        created: job.counts.created,
        updated: job.counts.updated,
        skipped: job.counts.skipped,
        refused: job.counts.refused,
        started: When(job.started_at),
        ended: job.ended_at.map(When),
    })
}

/// True if the accounts that the import created can be deleted again.
pub(super) fn can_undo(job: &ImportJob, now: Timestamp) -> bool {
    let is_over = matches!(job.state, ImportState::Done | ImportState::Failed);
    is_over && !job.is_dry_run && job.counts.created > 0 && now.since(job.started_at) < IMPORT_RETENTION
}

/// Reads the beginning of the report, and whether there is more.
async fn lines(visit: &ConsoleVisit, job: &ImportJob) -> Result<(Vec<ReportRow>, bool), Stop> {
    let imports = &visit.service().imports;
    let (mut rows, mut position) = (Vec::new(), ReportPosition::default());
    loop {
        let (lines, next) = imports.report_page(job.id, position).await?;
        if lines.is_empty() {
            return Ok((rows, false));
        }
        for line in lines {
            if rows.len() == MOST {
                return Ok((rows, true));
            }
            rows.push(row(&line));
        }
        position = next;
    }
}

/// Reads a line of the report. Whatever the file had stays text.
fn row(line: &str) -> ReportRow {
    let line = serde_json::from_str::<Map<String, Value>>(line).unwrap_or_default();
    let text = |key: &str| {
        let text = line.get(key).and_then(Value::as_str)?;
        Some(text.chars().take(LONGEST_TEXT).collect::<String>())
    };
    ReportRow {
        line: line.get("line").and_then(Value::as_u64),
        outcome: text("outcome").and_then(|text| RecordOutcome::parse(&text)).map(RecordOutcome::as_str),
        code: text("code").and_then(|text| ProblemCode::parse(&text)).map(ProblemCode::as_str),
        field: text("field"),
        message: text("message"),
        imported_id: text("importedId"),
        id: text("id").and_then(|id| id.parse().ok()),
    }
}
