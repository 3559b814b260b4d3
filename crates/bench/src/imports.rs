//! Import of accounts by the command line: rate, processor time and memory, and the reads of a service beside it.

use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use uuid::{Builder, Uuid};

use crate::error::{BenchError, Result};
use crate::load::{Load, Measured, drive};
use crate::process::{Server, Usage, usage_of};
use crate::row::Medians;
use crate::scripts::{Bearer, Get, Pick, SignUp};
use crate::searches;
use crate::time::{now, pause};
use crate::world::{Data, Places};

/// Number of records for which the goals are defined.
pub(crate) const RECORDS: u64 = 1_000_000;
/// Interval of the readings of memory and processor time.
const READ_EVERY: Duration = Duration::from_millis(20);
/// Number of reads per second beside an import, and number of connections for them.
const READS: f64 = 1_000.0;
const READERS: usize = 16;
/// Number of rounds of the reads.
const ROUNDS: usize = 3;

/// Order of the records of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// That of their addresses and usernames.
    Sorted,
    /// None. The service makes the ids, in the order of time.
    Random,
    /// None. The ids are random UUIDs, which are kept: each changes other pages of the indexes.
    RandomWithIds,
}

/// Measured imports.
#[derive(Debug, Clone)]
pub(crate) struct Imports {
    /// Number of records of the files whose accounts get new ids.
    pub(crate) records: u64,
    pub(crate) dry_run: Run,
    pub(crate) import: Run,
    /// Import of as many records in the order of their addresses.
    pub(crate) import_sorted: Run,
    /// Number of records of the file with random ids.
    pub(crate) with_ids: u64,
    pub(crate) import_with_ids: Run,
    /// Reads of a profile by its owner while nothing is imported.
    pub(crate) reads_alone: Medians,
    /// The same reads while another file is imported.
    pub(crate) reads_beside: Medians,
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

/// Imports files of accounts with password and profile, each into an empty database, and before that without writing.
pub(crate) fn measure(places: &Places, records: u64) -> Result<Imports> {
    let with_ids = records / 5;
    let data = empty(places)?;
    let file = data.folder().join("people.jsonl");
    write_people(&file, 0..with_ids, Order::RandomWithIds)?;
    let import_with_ids = run(places, &data, &file, with_ids, &[])?;
    let data = empty(places)?;
    write_people(&file, 0..records, Order::Sorted)?;
    let import_sorted = run(places, &data, &file, records, &[])?;
    let data = empty(places)?;
    write_people(&file, 0..records, Order::Random)?;
    let dry_run = run(places, &data, &file, records, &["--dry-run"])?;
    let import = run(places, &data, &file, records, &[])?;
    let (reads_alone, reads_beside) = beside_reads(places, &data, records)?;
    Ok(Imports {
        records,
        dry_run,
        import,
        import_sorted,
        with_ids,
        import_with_ids,
        reads_alone,
        reads_beside,
    })
}

/// Makes an empty database, with schema and secret.
fn empty(places: &Places) -> Result<Data> {
    let data = places.fresh_data(0)?;
    drop(places.start(&data)?);
    Ok(data)
}

/// Reads a profile in an open loop, first alone and then beside an import, on the database with all imported accounts.
fn beside_reads(places: &Places, data: &Data, records: u64) -> Result<(Medians, Medians)> {
    let file = data.folder().join("more-people.jsonl");
    write_people(&file, records..2 * records, Order::Random)?;
    let service = places.start(data)?;
    searches::wait_until_warm(&service)?;
    let mut get = Get::by_bearers("/api/profiles/me", &[sign_up(&service)?], Pick::InTurn);
    let alone = read(&service, &mut get)?;
    let mut import = import(places, data, &file, &[]).spawn()?;
    let beside = read(&service, &mut get);
    let is_over = import.try_wait()?.is_some();
    import.kill()?;
    import.wait()?;
    if is_over {
        return Err(BenchError::Server("the import ended before the reads beside it".to_owned()));
    }
    Ok((Medians::of(&alone), Medians::of(&beside?)))
}

/// Signs one person up.
fn sign_up(service: &Server) -> Result<Bearer> {
    let mut one = SignUp::new("one", 1);
    let length = Duration::from_secs(5);
    let load = Load { address: service.address, connections: 1, rate: None, warm_up: Duration::ZERO, length };
    drive(&load, &mut one)?;
    one.last.ok_or_else(|| BenchError::Server("nobody could sign up beside the import".to_owned()))
}

fn read(service: &Server, get: &mut Get) -> Result<Vec<Measured>> {
    let load = Load {
        address: service.address,
        connections: READERS,
        rate: Some(READS),
        warm_up: Duration::from_millis(500),
        length: Duration::from_secs(2),
    };
    (0..ROUNDS).map(|_| drive(&load, get)).collect()
}

fn write_people(file: &Path, records: Range<u64>, order: Order) -> Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(file)?);
    for number in records {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15); // a multiplicative hash
        let name = if order == Order::Sorted { number } else { mixed };
        if order == Order::RandomWithIds {
            let id = Uuid::from_u64_pair(mixed, mixed.rotate_left(29) ^ number);
            write!(file, r#"{{"id":"{}","#, Builder::from_random_bytes(id.into_bytes()).into_uuid())?;
        } else {
            write!(file, "{{")?;
        }
        writeln!(
            file,
            r#""email":"person-{name:016x}@example.org","emailVerified":true,"passwordHash":"$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy","name":"Person {number} of many","username":"p{name:016x}","metadata":{{"plan":"pro"}},"createdAt":"2024-03-01T12:00:00.000Z"}}"#,
        )?;
    }
    file.flush()?;
    Ok(())
}

fn run(places: &Places, data: &Data, file: &Path, records: u64, more: &[&str]) -> Result<Run> {
    let start = now();
    let mut child = import(places, data, file, more).spawn()?;
    let usage = watch(&mut child)?;
    let seconds = start.elapsed().as_secs_f64();
    if !child.wait()?.success() {
        return Err(BenchError::Server("the import failed".to_owned()));
    }
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let records = records as f64;
    Ok(Run { per_second: records / seconds, processor: usage.processor * 1e6 / records, peak: usage.peak })
}

/// Returns the command that imports a file.
fn import(places: &Places, data: &Data, file: &Path, more: &[&str]) -> Command {
    let mut command = places.command(data);
    command.arg("import").arg(file).args(["--from", "latchkey", "--json"]).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

/// Reads memory and processor time until the command ends.
fn watch(child: &mut Child) -> Result<Usage> {
    let mut last = Usage::default();
    while child.try_wait()?.is_none() {
        // The process may end between the two calls; one that has ended has no memory.
        let seen = usage_of(child.id()).unwrap_or(last);
        last = Usage { peak: last.peak.max(seen.peak), processor: last.processor.max(seen.processor) };
        pause(READ_EVERY);
    }
    Ok(last)
}
