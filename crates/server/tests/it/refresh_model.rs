//! Model-based test of refreshSession: many short random sessions with browser tabs, lost responses, duplicate
//! requests, theft and clock steps, compared with a model of the policy.

use std::time::Duration;

use latchkey_testkit::{Session, TestApp, User, both_stores, days, json, minutes, seconds};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const LIVES: u64 = 60;
const STEPS: usize = 25;
const GRACE: Duration = seconds(30);

/// Step of a random session. Tokens are counted from the newest: 0 is the current one, 1 its predecessor.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Presents a token. The current one comes from its owner; an older one from another tab, from a client with a lost
    /// response, or from a thief.
    Refresh(usize),
    /// Sends two requests with the same token at the same time.
    Twice(usize),
    /// Advances the clock.
    Wait(Duration),
    /// Signs out.
    SignOut,
}

/// Expected result of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    New,
    Same,
    Refused,
}

/// Model of a session according to the policy. Times are durations since the start of the session.
struct Model {
    now: Duration,
    /// Time at which each token was last replaced; `None` for the current token, and for one that was never used.
    replaced_at: Vec<Option<Duration>>,
    /// Predecessor of the current token.
    predecessor: Option<usize>,
    idle_until: Duration,
    is_ended: bool,
    access_until: Duration,
}

impl Model {
    fn new() -> Self {
        Self {
            now: seconds(0),
            replaced_at: vec![None],
            predecessor: None,
            idle_until: days(30),
            is_ended: false,
            access_until: minutes(15),
        }
    }

    fn is_alive(&self) -> bool {
        !self.is_ended && self.now < self.idle_until && self.now < days(90)
    }

    fn refresh(&mut self, age: usize) -> Expected {
        if !self.is_alive() {
            return Expected::Refused;
        }
        let newest = self.replaced_at.len() - 1;
        let token = newest - age;
        let is_predecessor = self.predecessor == Some(token);
        let is_in_grace = self.replaced_at[token].is_some_and(|at| self.now - at <= GRACE);
        if age == 0 || (is_predecessor && !is_in_grace) {
            self.replaced_at[token] = Some(self.now);
            self.replaced_at.push(None);
            self.predecessor = Some(token);
            self.idle_until = self.now + days(30);
            self.access_until = self.now + minutes(15);
            return Expected::New;
        }
        if is_predecessor {
            self.access_until = self.now + minutes(15);
            return Expected::Same;
        }
        self.is_ended = !is_in_grace; // else a late duplicate: its successor was used
        Expected::Refused
    }

    /// Outcome of the second of two simultaneous requests. Their token was current, or had just been replaced.
    fn refresh_duplicate(&mut self) -> Expected {
        let age = self.predecessor.map_or(0, |predecessor| self.replaced_at.len() - 1 - predecessor);
        self.refresh(age)
    }
}

/// Session under test with all its tokens, oldest first.
struct SessionRun {
    model: Model,
    tokens: Vec<Session>,
    newest_access: Session,
}

impl SessionRun {
    fn new(user: &User) -> Self {
        Self { model: Model::new(), tokens: vec![user.session.clone()], newest_access: user.session.clone() }
    }

    async fn take(&mut self, app: &TestApp, step: Step) {
        match step {
            Step::Refresh(age) => self.refresh(app, age).await,
            Step::Twice(age) => self.refresh_twice(app, age).await,
            Step::Wait(time) => {
                app.clock.advance(time);
                self.model.now += time;
            }
            Step::SignOut => {
                app.anon().sign_out(self.token(0)).send().await.expect(200);
                self.model.is_ended = true;
            }
        }
        self.assert_access(app).await;
    }

    async fn refresh(&mut self, app: &TestApp, age: usize) {
        let age = age.min(self.tokens.len() - 1);
        let answer = app.anon().refresh(self.token(age)).send().await;
        let expected = self.model.refresh(age);
        if expected == Expected::Refused {
            answer.refused(401, "AUTH_UNAUTHORIZED");
            return;
        }
        self.keep(Session::of(&answer), expected);
    }

    /// Sends two requests with the same token at the same time. The first one decides; the second is a duplicate.
    async fn refresh_twice(&mut self, app: &TestApp, age: usize) {
        let age = age.min(self.tokens.len() - 1);
        let request = || app.anon().refresh(self.token(age)).send();
        let (one, other) = tokio::join!(request(), request());
        let expected = self.model.refresh(age);
        if expected == Expected::Refused {
            one.refused(401, "AUTH_UNAUTHORIZED");
            other.refused(401, "AUTH_UNAUTHORIZED");
            return;
        }
        let (one, other) = (Session::of(&one), Session::of(&other));
        assert_eq!(one.refresh_secret(), other.refresh_secret(), "two lineages");
        self.keep(one, expected);
        assert_eq!(self.model.refresh_duplicate(), Expected::Same);
        self.keep(other, Expected::Same);
    }

    fn keep(&mut self, next: Session, expected: Expected) {
        let secret = next.refresh_secret();
        match expected {
            Expected::Same => assert_eq!(secret, self.token(0).refresh_secret()),
            _ => assert!(
                self.tokens.iter().all(|token| token.refresh_secret() != secret),
                "an old token again"
            ),
        }
        assert_eq!(next.csrf_token, self.tokens[0].csrf_token);
        self.newest_access = next.clone();
        if expected == Expected::New {
            self.tokens.push(next);
        }
    }

    /// Asserts that the newest access token is valid exactly while the session is active and the token has not expired.
    async fn assert_access(&self, app: &TestApp) {
        let answer = app.with_session(&self.newest_access).get("/api/auth/sessions/current").send().await;
        let is_good = self.model.is_alive() && self.model.now < self.model.access_until;
        assert_eq!(answer.status, if is_good { 200 } else { 401 }, "{answer:?}");
    }

    fn token(&self, age: usize) -> &Session {
        &self.tokens[self.tokens.len() - 1 - age]
    }
}

both_stores! {
    async fn refresh_tokens_do_what_the_policy_says_whatever_happens(app) {
        for seed in 0..LIVES {
            let mut random = StdRng::seed_from_u64(seed);
            let client_type = if seed % 2 == 0 { "web" } else { "server" };
            let mut life = SessionRun::new(&app.user_on(&format!("life-{seed}"), client_type).await);
            let mut bystander = SessionRun::new(&app.user_on(&format!("bystander-{seed}"), client_type).await);

            for number in 0..STEPS {
                let step = any_step(&mut random);
                println!("life {seed}, step {number}: {step:?}"); // shown when it fails
                life.take(&app, step).await;
                bystander.model.now = life.model.now;
            }

            bystander.assert_access(&app).await;
        }
    }

    async fn oldest_token_of_many_is_a_replay(app) {
        let ada = app.user_on("ada", "server").await;
        let mut session = ada.session.clone();
        for _ in 0..70 {
            session = Session::of(&app.anon().refresh(&session).send().await);
        }
        app.clock.advance(seconds(31));

        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");

        app.anon().refresh(&session).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn token_made_up_from_halves_of_two_sessions_is_refused_and_ends_neither(app) {
        let (ada, bob) = (app.user_on("ada", "server").await, app.user_on("bob", "server").await);
        let (one, other) = (ada.session.refresh_secret(), bob.session.refresh_secret());
        let mixed = format!("{}{}", &one[..one.len() / 2], &other[other.len() / 2..]);

        let body = json!({"refreshToken": mixed});
        let answer = app.anon().post("/api/auth/refresh", body).client_type("server").send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
        bob.refreshed().await.expect(200);
    }
}

fn any_step(random: &mut StdRng) -> Step {
    match random.random_range(0..100) {
        0..40 => Step::Refresh(0),
        40..55 => Step::Refresh(1),
        55..60 => Step::Refresh(random.random_range(2..5)),
        60..65 => Step::Twice(random.random_range(0..2)),
        65..66 => Step::SignOut,
        _ => Step::Wait(any_time(random)),
    }
}

fn any_time(random: &mut StdRng) -> Duration {
    let exactly = [
        Duration::from_millis(1),
        seconds(1),
        seconds(29),
        GRACE,
        GRACE + Duration::from_millis(1),
        minutes(14),
        minutes(15),
        days(1),
        days(29),
        days(30) - Duration::from_millis(1),
        days(30),
    ];
    // Most waits end within the grace period, where most decisions are made.
    let count = if random.random_bool(0.7) { 3 } else { exactly.len() };
    exactly[random.random_range(0..count)]
}
