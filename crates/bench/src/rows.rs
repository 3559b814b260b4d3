//! Every kind of request, measured on one database in interleaved rounds together with its baseline. The results of
//! one kind are a row of the report.

use std::sync::Arc;
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::load::{Load, Measured, Script, drive};
use crate::patches::Patch;
use crate::process::Server;
use crate::raw_hash;
use crate::row::{self, Goal, Row, per_response};
use crate::scripts::{Bearer, Get, Pick, Refresh, SignIn, SignUp};
use crate::world::World;

/// Number of accounts to which profile changes are concentrated, in the kinds of requests named "64
/// accounts".
const HOT: usize = 64;
/// Number of accounts that read requests pick from.
const READERS: usize = 1_000;
/// Number of access tokens of which a service verifies each anew when they are used in turn: it remembers 65,536.
const MORE_THAN_REMEMBERED: usize = 80_000;
/// Duration of the first run, which determines the response sizes for the baseline. Each connection gets at least one
/// response.
const PROBE: Duration = Duration::from_millis(50);

/// Goals for one storage engine.
struct Goals {
    me: &'static [Goal],
    public: &'static [Goal],
    refresh: &'static [Goal],
    hot: &'static [Goal],
    random: &'static [Goal],
}

const EMBEDDED: Goals = Goals {
    me: &[Goal::Ratio(0.45)],
    public: &[Goal::Ratio(0.5)],
    refresh: &[Goal::Ratio(0.075), Goal::P99(5.0)],
    hot: &[Goal::Ratio(0.25)],
    random: &[Goal::Ratio(0.05)],
};
const REMOTE: Goals =
    Goals { me: &[Goal::Ratio(0.16)], public: &[], refresh: &[Goal::Ratio(0.045)], hot: &[], random: &[] };

/// Number and length of rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Number of rounds.
    pub(crate) rounds: usize,
    /// Duration of a round of one kind of request, without the warm-up.
    pub(crate) length: Duration,
}

/// Kind of request, with the script that sends it and the baseline to compare it with.
pub(crate) struct Asked {
    row: Row,
    /// Requests.
    pub(crate) script: Box<dyn Script>,
    /// Number of connections.
    pub(crate) connections: usize,
    limit: Limit,
}

/// Baseline of a kind of request: the maximum that this machine could reach.
#[derive(Clone, Copy)]
enum Limit {
    /// The route of the baseline server, with the body size of the service's last response.
    Bare(usize),
    /// Password hashes on all cores, without any other work.
    Hashes,
    /// No baseline.
    None,
}

/// Measures the kinds of requests whose name contains the text `only`.
pub(crate) fn measure(world: &World, bare: &Server, pace: Pace, only: &str) -> Result<Vec<Row>> {
    let mut asked = rows(world);
    asked.retain(|one| one.row.name.contains(only));
    for one in &mut asked {
        one.probe(&world.service)?;
    }
    for round in 0..pace.rounds {
        for one in &mut asked {
            let pace = one.pace(pace);
            let limit = limit_of(one, bare, pace)?;
            let seen =
                watched(&world.service, &load(&world.service, one.connections, pace), &mut *one.script);
            let (seen, processor, peak) = seen?;
            one.row.add(&seen, limit, processor, peak);
            eprintln!(
                "  round {}: {} {:.0}/s{}",
                round + 1,
                one.row.name,
                seen.per_second(),
                one.limit.told()
            );
            one.learn(&seen);
        }
    }
    let rows: Vec<Row> = asked.into_iter().map(|one| one.row).collect();
    match rows.iter().find(|row| row.refused() > 0) {
        Some(row) => {
            Err(BenchError::Server(format!("{}: {} requests were refused", row.name, row.refused())))
        }
        None => Ok(rows),
    }
}

/// Every kind of request except searches.
pub(crate) fn rows(world: &World) -> Vec<Asked> {
    let goals = if world.is_remote() { &REMOTE } else { &EMBEDDED };
    let kinds = [reads(world, goals), refreshes(world, goals), patches(world, goals), passwords(world)];
    kinds.into_iter().flatten().collect()
}

fn reads(world: &World, goals: &Goals) -> Vec<Asked> {
    let readers = &world.bearers[..READERS.min(world.bearers.len())];
    let public = readers.iter().map(|bearer| format!("/api/profiles/{}", bearer.user_id));
    let get = |path: &str| Box::new(Get::by_bearers(path, readers, Pick::InTurn));
    let public = Box::new(Get::paths(public, Pick::InTurn));
    let mut rows = vec![
        Asked::new("GET /api/profiles/me", goals.me, 64, get("/api/profiles/me")),
        Asked::new("GET /api/auth/sessions/current", &[], 64, get("/api/auth/sessions/current")),
        Asked::new("GET /api/profiles/{userId}", goals.public, 64, public),
    ];
    if world.bearers.len() >= MORE_THAN_REMEMBERED {
        // The last tokens first, because other rows use the first ones.
        let all: Vec<Bearer> = world.bearers.iter().rev().cloned().collect();
        let all = Box::new(Get::by_bearers("/api/profiles/me", &all, Pick::InTurn));
        rows.push(Asked::new("GET /api/profiles/me, more tokens than are remembered", &[], 64, all));
    }
    rows
}

fn refreshes(world: &World, goals: &Goals) -> Vec<Asked> {
    let seeded = Box::new(Refresh::seeded(world.people.with_session().take(16)));
    let cookies = Box::new(Refresh::cookies(world.cookies.clone()));
    vec![
        Asked::new("refresh, token in the body", goals.refresh, 16, seeded),
        Asked::new("refresh, token in the cookie", goals.refresh, 16, cookies),
    ]
}

fn patches(world: &World, goals: &Goals) -> Vec<Asked> {
    let hot = Arc::new(world.bearers[..HOT.min(world.bearers.len())].to_vec());
    let avatars = Box::new(Patch::avatars(Arc::clone(&hot), Pick::InTurn));
    let found = Box::new(Patch::names_and_bios(hot));
    let random = Box::new(Patch::avatars(Arc::clone(&world.bearers), Pick::Random));
    vec![
        Asked::new("PATCH /api/profiles/me, 64 accounts", goals.hot, 64, avatars),
        Asked::new("PATCH /api/profiles/me, 64 accounts, name and bio", &[], 64, found),
        Asked::new("PATCH /api/profiles/me, at random over all", goals.random, 64, random),
    ]
}

fn passwords(world: &World) -> Vec<Asked> {
    let sign_in = Box::new(SignIn::new(world.people.count, u64::MAX));
    let sign_in = Asked::new("sign-in", &[Goal::Ratio(0.85)], 16, sign_in);
    let sign_up = Asked::new("sign-up", &[], 16, Box::new(SignUp::new("row", u64::MAX)));
    vec![Asked { limit: Limit::Hashes, ..sign_in }, Asked { limit: Limit::None, ..sign_up }]
}

impl Asked {
    /// Makes a kind of request whose baseline is the route of the baseline server.
    pub(crate) fn new(name: &str, goals: &[Goal], connections: usize, script: Box<dyn Script>) -> Self {
        Self { row: Row::new(name, goals), script, connections, limit: Limit::Bare(0) }
    }

    /// Name of this kind of request.
    pub(crate) fn name(&self) -> &str {
        &self.row.name
    }

    /// Determines the response size for the first baseline.
    fn probe(&mut self, service: &Server) -> Result<()> {
        if !matches!(self.limit, Limit::Bare(_)) {
            return Ok(());
        }
        let pace = Pace { rounds: 1, length: PROBE };
        let load = Load { warm_up: Duration::ZERO, ..load(service, self.connections, pace) };
        let seen = drive(&load, &mut *self.script)?;
        self.learn(&seen);
        match seen.last_body {
            Some(_) => Ok(()),
            None => Err(BenchError::Server(format!(
                "{}: no good answer tells how large it is, only {:?}",
                self.row.name, seen.statuses
            ))),
        }
    }

    /// Sets the baseline's response size to that of the last response.
    fn learn(&mut self, seen: &Measured) {
        if let (Limit::Bare(bytes), Some(last)) = (&mut self.limit, seen.last_body) {
            *bytes = last;
        }
    }

    /// Lengthens rounds with password hashes to at least two seconds, because hashing is slow.
    pub(crate) fn pace(&self, pace: Pace) -> Pace {
        match self.limit {
            Limit::Bare(_) => pace,
            Limit::Hashes | Limit::None => Pace { length: pace.length.max(Duration::from_secs(2)), ..pace },
        }
    }
}

impl Limit {
    /// Name of the baseline, printed beside its rate.
    fn told(self) -> String {
        match self {
            Self::Bare(bytes) => format!(", limit of {bytes} bytes"),
            Self::Hashes | Self::None => String::new(),
        }
    }
}

fn limit_of(asked: &Asked, bare: &Server, pace: Pace) -> Result<Option<row::Limit>> {
    match asked.limit {
        Limit::None => Ok(None),
        Limit::Hashes => raw_hash::limit(pace.length).map(Some),
        Limit::Bare(bytes) => {
            let mut script = Get::paths(std::iter::once(format!("/bytes/{bytes}")), Pick::InTurn);
            let (seen, processor, _) = watched(bare, &load(bare, asked.connections, pace), &mut script)?;
            let processor = per_response(processor, &seen);
            Ok(Some(row::Limit { per_second: seen.per_second(), processor }))
        }
    }
}

/// Parameters of a closed loop.
pub(crate) fn load(server: &Server, connections: usize, pace: Pace) -> Load {
    Load { address: server.address, connections, rate: None, warm_up: pace.length / 5, length: pace.length }
}

/// Runs a load on a server. Returns the results, the server's processor seconds during the counted time, and its peak
/// memory.
pub(crate) fn watched(server: &Server, load: &Load, script: &mut dyn Script) -> Result<(Measured, f64, f64)> {
    server.forget_peak();
    let before = server.processor_time()?;
    let seen = drive(load, script)?;
    let used = server.processor_time()? - before;
    let counted = seen.seconds / (seen.seconds + load.warm_up.as_secs_f64());
    Ok((seen, used * counted, server.memory()?.peak))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn seen(last_body: Option<usize>) -> Measured {
        let latency = hdrhistogram::Histogram::new(3).unwrap();
        Measured { latency, statuses: BTreeMap::new(), seconds: 1.0, last_body }
    }

    fn asked() -> Asked {
        Asked::new("row", &[], 1, Box::new(SignUp::new("test", u64::MAX)))
    }

    #[test]
    fn the_limit_has_the_size_of_the_last_answer() {
        let mut asked = asked();
        asked.learn(&seen(Some(512)));
        asked.learn(&seen(Some(498)));
        asked.learn(&seen(None));
        assert!(matches!(asked.limit, Limit::Bare(498)));
    }

    #[test]
    fn hashes_have_no_size() {
        let mut asked = Asked { limit: Limit::Hashes, ..asked() };
        asked.learn(&seen(Some(512)));
        assert!(matches!(asked.limit, Limit::Hashes));
    }
}
