//! Simulation of one session: browser tabs with a shared cookie jar, a network that loses and delays messages, two
//! instances with deviating clocks, restarts, purges, and possibly a thief.

use latchkey_domain::time::Timestamp;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::promises::{GRACE, Lineage, Party, Promise, Token, check};
use crate::rules::Rule;
use crate::session::Session;
use crate::thief::{Company, Thief, Toll};

const ACTS: usize = 48;

/// Model of the network. Both kinds lose and delay requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Delays of up to two minutes. Responses reach the cookie jar in the order of issue, or never. A request whose
    /// token is past its grace period arrives only if the jar has no newer token and no newer response is in flight.
    Fair,
    /// Delays of up to 15 seconds; responses and requests arrive in any order.
    Rough,
}

/// A request or response in flight.
struct Message {
    at: i64,
    instance: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    Request(Token),
    Answer { token: Token, order: usize },
}

/// State of a simulation run.
pub(crate) struct Life {
    random: StdRng,
    network: Network,
    is_told: bool,
    session: Session,
    lineage: Lineage,
    thief: Thief,
    /// Simulated time in milliseconds.
    now: i64,
    /// Clock skew of each instance in milliseconds.
    ahead: [i64; 2],
    /// Latest time that any clock has shown.
    latest: Timestamp,
    jar: Token,
    /// Sequence numbers of the response in the cookie jar and of the last issued one.
    order: usize,
    given: usize,
    on_the_way: Vec<Message>,
}

impl Life {
    /// Runs the simulation with a seed. With `is_told`, it prints a trace of the events.
    pub(crate) fn live(rule: Rule, seed: u64, network: Network, is_told: bool) -> Result<Toll, Promise> {
        let mut random = StdRng::seed_from_u64(seed);
        let company = if network == Network::Rough { Company::Nobody } else { Company::of(seed) };
        let thief = Thief::new(company, random.random_range(3..20));
        let mut life = Self {
            random,
            network,
            is_told,
            session: Session::new(rule),
            lineage: Lineage::new(),
            thief,
            now: 1_000_000_000,
            ahead: [0; 2],
            latest: Timestamp::default(),
            jar: 0,
            order: 0,
            given: 0,
            on_the_way: Vec::new(),
        };
        for act in 0..ACTS {
            let wait = life.any_wait();
            life.pass(wait)?;
            life.act(act)?;
            if life.session.is_over() {
                break;
            }
        }
        life.pass(120_000)?;
        let (holds, now) = (life.thief.holds, life.clock(0));
        let is_good = holds.is_some_and(|token| life.session.is_good(token, now));
        Ok(life.thief.toll(life.session.is_over(), is_good))
    }

    /// Advances time and delivers messages.
    fn pass(&mut self, wait: i64) -> Result<(), Promise> {
        let until = self.now + wait;
        loop {
            let due = self.on_the_way.iter().enumerate().filter(|(_, message)| message.at <= until);
            let Some((next, _)) = due.min_by_key(|(_, message)| message.at) else { break };
            let message = self.on_the_way.remove(next);
            self.now = self.now.max(message.at);
            match message.what {
                What::Request(token) => self.serve(token, message.instance)?,
                What::Answer { token, order } => self.receive(token, order),
            }
            self.check_owner()?;
        }
        self.now = until;
        Ok(())
    }

    fn act(&mut self, act: usize) -> Result<(), Promise> {
        if self.thief.begins(act) {
            self.thief.copy(self.jar);
            self.tell("the thief copies", self.jar);
        }
        match self.random.random_range(0..100) {
            0..60 => (0..self.random.random_range(1..4)).for_each(|_| self.send()),
            60..85 => self.steal()?,
            85..90 => {
                let instance = self.random.random_range(0..2);
                self.tell("restart", instance);
                self.on_the_way.retain(|message| message.instance != instance);
            }
            90..97 => {
                let instance = self.random.random_range(0..2);
                self.tell("upkeep", instance);
                let now = self.clock(instance);
                self.session.wipe(now);
            }
            _ => {
                let reach = [1_000, 1_000, 20_000, 3_600_000][self.random.random_range(0..4)];
                let instance = self.random.random_range(0..2);
                self.ahead[instance] = self.random.random_range(-reach..=reach);
                self.tell("a clock steps", instance);
            }
        }
        self.check_owner()
    }

    /// Sends a request of a tab with the token in the cookie jar.
    fn send(&mut self) {
        let (delay, instance) = (self.any_delay(), self.random.random_range(0..2));
        if self.random.random_bool(0.9) {
            self.on_the_way.push(Message { at: self.now + delay, instance, what: What::Request(self.jar) });
        }
        self.tell("a tab sends", self.jar);
    }

    /// Delivers a request of the owner.
    fn serve(&mut self, token: Token, instance: usize) -> Result<(), Promise> {
        if self.network == Network::Fair && self.is_overtaken(token) {
            self.tell("a request is lost", token);
            return Ok(());
        }
        let Some(given) = self.present(Party::Owner, token, instance)? else { return Ok(()) };
        self.given += 1;
        let delay = self.any_delay();
        if self.random.random_bool(0.8) {
            let what = What::Answer { token: given, order: self.given };
            self.on_the_way.push(Message { at: self.now + delay, instance, what });
        }
        Ok(())
    }

    fn receive(&mut self, token: Token, order: usize) {
        if order > self.order || self.network == Network::Rough {
            (self.jar, self.order) = (token, order);
            self.thief.see(token);
            self.tell("the jar gets", token);
        }
    }

    /// True if a request arrives after the grace period of its token, while the cookie jar has a newer token or is
    /// about to receive one.
    fn is_overtaken(&mut self, token: Token) -> bool {
        for instance in 0..2 {
            self.clock(instance);
        }
        let Some(replaced_at) = self.lineage.replaced_at(token) else { return false };
        let is_late = self.latest.since(replaced_at) > GRACE || !self.session.is_sealed();
        let is_newer =
            |message: &Message| matches!(message.what, What::Answer { order, .. } if order > self.order);
        is_late && (self.jar != token || self.on_the_way.iter().any(is_newer))
    }

    fn steal(&mut self) -> Result<(), Promise> {
        let Some(token) = self.thief.takes_a_turn() else { return Ok(()) };
        let instance = self.random.random_range(0..2);
        let given = self.present(Party::Thief, token, instance)?;
        self.thief.gets(given);
        Ok(())
    }

    fn present(&mut self, party: Party, token: Token, instance: usize) -> Result<Option<Token>, Promise> {
        let now = self.clock(instance);
        if self.session.is_over() {
            return Ok(None);
        }
        let made = self.lineage.len();
        let given = self.session.present(token, made, now);
        if self.is_told {
            println!("{:>12} {party:?} presents {token} at {instance}: {given:?}", self.now);
        }
        self.lineage.note((party, token), given, self.session.is_over(), now)?;
        self.thief.count(party, self.lineage.len() > made);
        Ok(given)
    }

    fn check_owner(&mut self) -> Result<(), Promise> {
        if self.thief.company != Company::Nobody {
            return Ok(());
        }
        let clocks = if self.ahead[0] == self.ahead[1] { 1 } else { 2 };
        for instance in 0..clocks {
            let now = self.clock(instance);
            check(self.session.is_good(self.jar, now), Promise::OwnerStaysIn)?;
        }
        Ok(())
    }

    /// Returns the time that an instance's clock shows.
    fn clock(&mut self, instance: usize) -> Timestamp {
        let shown = Timestamp::from_millis(self.now + self.ahead[instance]);
        self.latest = self.latest.max(shown);
        shown
    }

    fn any_wait(&mut self) -> i64 {
        let reach =
            [50, 2_000, 2_000, 15_000, 31_000, 31_000, 60_000, 900_000, 900_000, 7_200_000, 864_000_000];
        let reach = reach[self.random.random_range(0..reach.len())];
        self.random.random_range(0..=reach)
    }

    fn any_delay(&mut self) -> i64 {
        let reach = [100, 100, 100, 1_000, 5_000, 15_000, 30_001, 120_000];
        let kinds = if self.network == Network::Fair { reach.len() } else { 6 };
        let reach = reach[self.random.random_range(0..kinds)];
        self.random.random_range(0..=reach)
    }

    fn tell(&self, what: &str, which: usize) {
        if self.is_told {
            println!("{:>12} {what}: {which}", self.now);
        }
    }
}
