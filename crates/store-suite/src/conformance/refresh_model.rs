//! Model-based test of refresh rotation: random sequences of browser tabs, lost responses, duplicate requests and a
//! thief, under a clock that jumps. The model implements only the text of the policy, and the store must agree with it
//! at every step.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use super::fixtures::{GRACE_MS, World, at};
use super::numbered;
use super::random::Random;
use super::refresh::present;
use latchkey_store::{EndedSession, RefreshOutcome};

const WALKS: u64 = 16;
const STEPS: usize = 60;
/// Number of token holders: three tabs and a thief.
const HOLDERS: usize = 4;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Refresh token that was issued for the session.
struct Issued {
    token: TokenHash,
    /// Time of its last replacement.
    replaced_at: Option<i64>,
}

/// State of a session according to the policy.
struct Model {
    opened_at: i64,
    last_refresh: i64,
    is_over: bool,
    /// All issued tokens; the last one is current.
    lineage: Vec<Issued>,
    /// Index of the token in whose place the current one was issued.
    predecessor: Option<usize>,
}

/// Outcome that the policy requires.
#[derive(Debug, PartialEq)]
enum Demand {
    /// The request's new token becomes the current one.
    Next,
    /// The current token, which was issued for the presented one before, is returned again.
    Again(TokenHash),
    Refusal,
    End,
}

impl Model {
    fn is_alive(&self, now: i64) -> bool {
        !self.is_over && now - self.last_refresh < 30 * DAY_MS && now - self.opened_at < 90 * DAY_MS
    }

    fn present(&mut self, index: usize, offered: TokenHash, now: i64) -> Demand {
        if !self.is_alive(now) {
            return Demand::Refusal; // "An ended session has no grace."
        }
        let newest = self.lineage.len() - 1;
        let is_in_grace = self.lineage[index].replaced_at.is_some_and(|at| now - at <= GRACE_MS);
        if index == newest || (self.predecessor == Some(index) && !is_in_grace) {
            // The policy states: "rotated at every use"; "later a new successor with a grace of its own".
            self.lineage[index].replaced_at = Some(now);
            self.lineage.push(Issued { token: offered, replaced_at: None });
            self.predecessor = Some(index);
            self.last_refresh = now;
            return Demand::Next;
        }
        if self.predecessor == Some(index) {
            return Demand::Again(self.lineage[newest].token); // "gives the same successor again"
        }
        if is_in_grace {
            return Demand::Refusal; // "a late twin, however many rotations ago"
        }
        self.is_over = true; // "the unused one is dead"; "every older one revokes the whole session"
        Demand::End
    }
}

/// State of a random walk: the model, the session, and the token of each holder.
struct Walk {
    model: Model,
    session: NewSession,
    holders: [usize; HOLDERS],
    now: Timestamp,
}

impl Walk {
    async fn begin(world: &World, user: latchkey_domain::ids::UserId, now: Timestamp) -> Self {
        let session = world.open_session(user, now).await;
        let first = Issued { token: session.refresh, replaced_at: None };
        let (opened_at, last_refresh) = (now.as_millis(), now.as_millis());
        let lineage = vec![first];
        let model = Model { opened_at, last_refresh, is_over: false, lineage, predecessor: None };
        Self { model, session, holders: [0; HOLDERS], now }
    }

    /// Presents the token of a holder, which then uses the returned token unless the response is lost.
    async fn present(&mut self, world: &World, holder: usize, is_lost: bool) {
        let index = self.holders[holder];
        let token = self.model.lineage[index].token;
        let (outcome, offered) = present(world, &self.session, token, self.now).await;
        let demand = self.model.present(index, offered, self.now.as_millis());

        let answer = match outcome {
            RefreshOutcome::Rotated(_) => Demand::Next,
            RefreshOutcome::SameSuccessor { sealed, .. } => {
                Demand::Again(TokenHash::from_bytes(sealed.try_into().unwrap()))
            }
            RefreshOutcome::Refused => Demand::Refusal,
            RefreshOutcome::Revoked => Demand::End,
            RefreshOutcome::LevelTooLow => panic!("no session of the model must have level 2"),
        };
        assert_eq!(answer, demand, "token {index} of {} by holder {holder}", self.model.lineage.len());
        if !is_lost && matches!(answer, Demand::Next | Demand::Again(_)) {
            self.holders[holder] = self.model.lineage.len() - 1;
        }
    }

    async fn step(&mut self, world: &World, random: &mut Random) {
        match random.below(20) {
            0..8 => self.present(world, random.below(HOLDERS - 1), false).await,
            8..10 => self.present(world, random.below(HOLDERS - 1), true).await,
            10 => self.holders[HOLDERS - 1] = self.holders[random.below(HOLDERS - 1)],
            11 => self.present(world, HOLDERS - 1, false).await,
            // All tabs share the newest cookie.
            12..15 => self.holders[random.below(HOLDERS - 1)] = self.model.lineage.len() - 1,
            15 if random.below(12) == 0 => self.sign_out(world).await,
            _ => self.wait(random),
        }
    }

    async fn sign_out(&mut self, world: &World) {
        let presented = self.model.lineage[self.model.lineage.len() - 1].token;
        let which = EndedSession::OfRefreshToken(numbered::presented(&self.session, presented));
        let event = world.event(AuditKind::SignedOut, self.now);
        let ended = world.end_sessions(which, event, self.now).await.unwrap();
        assert_eq!(ended, u64::from(self.model.is_alive(self.now.as_millis())));
        self.model.is_over = true;
    }

    fn wait(&mut self, random: &mut Random) {
        let steps = [
            1,
            700,
            5_000,
            15_000,
            GRACE_MS - 1,
            GRACE_MS,
            GRACE_MS + 1,
            60_000,
            DAY_MS,
            12 * DAY_MS,
            29 * DAY_MS,
            31 * DAY_MS,
        ];
        // Short waits are more probable.
        let reach = 1 + random.below(steps.len());
        self.now = Timestamp::from_millis(self.now.as_millis() + steps[random.below(reach)]);
    }

    async fn check(&self, world: &World) {
        let is_alive = self.model.is_alive(self.now.as_millis());
        let newest = self.model.lineage[self.model.lineage.len() - 1].token;
        let is_good =
            world.is_refresh_token_good(numbered::presented(&self.session, newest), self.now).await.unwrap();
        assert_eq!(world.lives(self.session.id, self.now).await, is_alive);
        assert_eq!(is_good, is_alive);
    }
}

pub(super) async fn rotation_agrees_with_the_policy_on_seeded_walks(world: World) {
    for seed in 0..WALKS {
        let mut random = Random::new(seed);
        let user = world.verified(&format!("walker{seed}"), at(0)).await;
        let mut walk = Walk::begin(&world, user.id, at(0)).await;
        for step in 0..STEPS {
            walk.step(&world, &mut random).await;
            walk.check(&world).await;
            // After the session has ended, its tokens are used for a few more steps. Then the user signs in again.
            if !walk.model.is_alive(walk.now.as_millis()) && step % 5 == 0 {
                walk = Walk::begin(&world, user.id, walk.now).await;
            }
        }
    }
}
