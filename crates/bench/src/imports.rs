//! Import of accounts by the command line: rate, processor time and memory.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::process::{Usage, usage_of};
use crate::time::{now, pause};
use crate::world::{Data, Places};

/// Number of records for which the goals are defined.
pub(crate) const RECORDS: u64 = 1_000_000;
/// Interval of the readings of memory and processor time.
const READ_EVERY: Duration = Duration::from_millis(20);

/// Measured imports of one file.
#[derive(Debug, Clone)]
pub(crate) struct Imports {
    /// Number of records of the file.
    pub(crate) records: u64,
    pub(crate) dry_run: Run,
    pub(crate) import: Run,
}

/// One run of the command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Records per second.
    pub(crate) per_second: f64,
    /// Processor time of the command per record, in microseconds.
    pub(crate) processor: f64,
    /// Peak memory of the command in MB.
    pub(crate) peak: f64,
}

/// Imports a file of accounts with password and profile into an empty database, and before that without writing.
pub(crate) fn measure(places: &Places, records: u64) -> Result<Imports> {
    let data = places.fresh_data(0)?;
    drop(places.start(&data)?); // makes the schema and the secret
    let file = data.folder().join("people.jsonl");
    write_people(&file, records)?;
    let dry_run = run(places, &data, &file, records, &["--dry-run"])?;
    let import = run(places, &data, &file, records, &[])?;
    Ok(Imports { records, dry_run, import })
}

fn write_people(file: &Path, records: u64) -> Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(file)?);
    for number in 0..records {
        // A multiplicative hash, so that addresses and ids do not come in the order of the indexes.
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (high, low) = (mixed >> 32, mixed & 0xFFFF);
        writeln!(
            file,
            r#"{{"id":"{high:08x}-{low:04x}-4{:03x}-8{:03x}-{number:012x}","email":"person-{mixed:016x}@example.org","emailVerified":true,"passwordHash":"$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy","name":"Person {number} of many","username":"p{mixed:016x}","metadata":{{"plan":"pro"}},"createdAt":"2024-03-01T12:00:00.000Z"}}"#,
            mixed >> 20 & 0xFFF,
            mixed >> 8 & 0xFFF,
        )?;
    }
    file.flush()?;
    Ok(())
}

fn run(places: &Places, data: &Data, file: &Path, records: u64, more: &[&str]) -> Result<Run> {
    let mut command = places.command(data);
    command.arg("import").arg(file).args(["--from", "latchkey", "--json"]).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let start = now();
    let mut child = command.spawn()?;
    let usage = watch(&mut child)?;
    let seconds = start.elapsed().as_secs_f64();
    if !child.wait()?.success() {
        return Err(BenchError::Server("the import failed".to_owned()));
    }
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let records = records as f64;
    Ok(Run { per_second: records / seconds, processor: usage.processor * 1e6 / records, peak: usage.peak })
}

/// Reads memory and processor time until the command ends.
fn watch(child: &mut Child) -> Result<Usage> {
    let mut last = Usage::default();
    while child.try_wait()?.is_none() {
        // The process may end between the two calls.
        last = usage_of(child.id()).unwrap_or(last);
        pause(READ_EVERY);
    }
    Ok(last)
}
