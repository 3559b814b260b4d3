//! Quick.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::load::{Load, Script, drive};
use crate::people::People;
use crate::process::{Server, free_port};
use crate::scripts::{Collect, Get, Patch, Pick, Refresh};
use crate::time::{now, wall_clock};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long, default_value = "target/release/latchkey")]
    latchkey: PathBuf,
    #[arg(long)]
    seed: PathBuf,
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    #[arg(long, default_value = "info")]
    log: String,
    #[arg(long, default_value = "")]
    only: String,
    #[arg(long, default_value_t = 3)]
    rounds: u64,
}

pub(crate) fn seed(file: &Path, people: u64) -> Result<()> {
    let town = People::new(people, 100_000, wall_clock())?;
    let start = now();
    latchkey_store_sqlite::seed(file, town.all())?;
    println!("{people} in {:?}", start.elapsed());
    Ok(())
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let work = std::env::temp_dir().join("latchkey-bench");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work)?;
    std::fs::copy(&options.seed, work.join("latchkey.db"))?;
    let port = free_port()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bare", &port.to_string()]);
    let bare = Server::start(command, port, "/bytes/2", &work.join("bare.log"))?;
    let port = free_port()?;
    let mut command = Command::new(&options.latchkey);
    command.current_dir(&work);
    command.args(["--set", &format!("server.bind=127.0.0.1:{port}")]);
    command.args(["--set", &format!("data.dir={}", work.display())]);
    command.args(["--set", "limits.enabled=false"]);
    command.args(["--set", &format!("log.level={}", options.log)]);
    command.arg("serve");
    let service = Server::start(command, port, "/health/live", &work.join("latchkey.log"))?;
    println!("started in {:?}, {:?}", service.started_in, service.memory()?);

    let town = People::new(1_000_000.min(count_of(&options.seed)), 100_000, wall_clock())?;
    let people: Vec<u64> = town.with_session().collect();
    let mut collect = Collect::new(
        people
            .iter()
            .copied()
            .skip(200)
            .take(if options.only.contains("random") { 50_000 } else { 1000 })
            .collect(),
    );
    let load = |server: &Server, connections| Load {
        address: server.address,
        connections,
        rate: None,
        warm_up: Duration::from_millis(500),
        length: Duration::from_secs(options.seconds),
    };
    let mut all = load(&service, 32);
    all.length = Duration::from_secs(60);
    all.warm_up = Duration::ZERO;
    let m = drive(&all, &mut collect)?;
    println!("collected {} at {:.0}/s, statuses {:?}", collect.bearers.len(), m.per_second(), m.statuses);
    if collect.bearers.is_empty() {
        return Err(BenchError::Server("no tokens".to_owned()));
    }
    let bearers = Arc::new(collect.bearers);
    let hot = Arc::new(bearers[..64].to_vec());
    let mut refresh = Refresh::seeded(people.iter().copied().take(16));
    let mut me = Get::by_bearers("/api/profiles/me", &bearers[..1000.min(bearers.len())], Pick::InTurn);
    let mut session =
        Get::by_bearers("/api/auth/sessions/current", &bearers[..1000.min(bearers.len())], Pick::InTurn);
    let mut public =
        Get::paths(bearers[..1000].iter().map(|b| format!("/api/profiles/{}", b.user_id)), Pick::InTurn);
    let mut patch = Patch::new(hot, Pick::InTurn);
    let mut random = Patch::new(Arc::clone(&bearers), Pick::Random);
    for _ in 0..options.rounds {
        let mut limit = Get::paths(std::iter::once("/bytes/400".to_owned()), Pick::InTurn);
        let cpu = |server: &Server, m: &crate::load::Measured, before: f64| -> Result<f64> {
            Ok((server.processor_time()? - before) * 1e6 / crate::load::count(m.latency.len()) * m.seconds
                / (m.seconds + 0.5))
        };
        let before = bare.processor_time()?;
        let m = drive(&load(&bare, 64), &mut limit)?;
        let base = m.per_second();
        println!("bare {base:.0} {:.2} us", cpu(&bare, &m, before)?);
        let row = |name: &str, connections, script: &mut dyn Script| -> Result<()> {
            if !options.only.is_empty() && !options.only.split(',').any(|one| one == name) {
                return Ok(());
            }
            let before = service.processor_time()?;
            let m = drive(&load(&service, connections), script)?;
            println!(
                "{name:<10} {:.2} us {:>8.0}/s ratio {:.3} p50 {:.3} p99 {:.3} ms {:?}",
                cpu(&service, &m, before)?,
                m.per_second(),
                m.per_second() / base,
                m.ms(0.5),
                m.ms(0.99),
                m.statuses
            );
            Ok(())
        };
        row("me", 64, &mut me)?;
        row("session", 64, &mut session)?;
        row("public", 64, &mut public)?;
        row("refresh", 16, &mut refresh)?;
        row("patch", 64, &mut patch)?;
        row("random", 64, &mut random)?;
    }
    println!("{:?}", service.memory()?);
    Ok(())
}

fn count_of(path: &Path) -> u64 {
    path.file_stem()
        .and_then(|s| s.to_str())
        .and_then(|s| s.rsplit('-').next()?.parse().ok())
        .unwrap_or(100_000)
}
