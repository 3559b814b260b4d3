//! Tables `statistics` and `statistics_days`: counts of the whole service at one time, and numbers of events of each
//! day. The statements that count read other tables.

use std::collections::VecDeque;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::statistics::{Counts, DAY, DayCounts};
use latchkey_domain::time::Timestamp;
use latchkey_store::{StoreError, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Pages, Results, Script, Slot, Sql, Value, statements, values};
use crate::tables::credentials;

pub const TABLE: Table = Table::new("statistics", 1, columns! { int id, int counted_at, text counts });

pub const DAYS: Table = Table::new(
    "statistics_days",
    1,
    columns! { int starts_at, int sign_ups, int sign_ins, int failures, int resets },
);

/// Query for the number of accounts in use since each of three times. `seen_devices` is written at each sign-in, and
/// by refreshes at most once a day.
const ACTIVE: &str = "
    SELECT coalesce(sum(CASE WHEN seen > $1 THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN seen > $2 THEN 1 ELSE 0 END), 0),
        count(*)
    FROM (SELECT max(seen_at) AS seen FROM seen_devices WHERE seen_at > $3 GROUP BY user_id) AS seen";

statements! {
    FIND: read find() = "SELECT counted_at, counts FROM statistics WHERE id = 1";
    LIST_DAYS: read list_days(since: Timestamp) = "
    SELECT starts_at, sign_ups, sign_ins, failures, resets FROM statistics_days WHERE starts_at >= $1
    ORDER BY starts_at LIMIT 100";
    SAVE = "
    INSERT INTO statistics (id, counted_at, counts) VALUES (1, $1, $2)
    ON CONFLICT (id) DO UPDATE SET counted_at = excluded.counted_at, counts = excluded.counts";
    SAVE_DAY = "
    INSERT INTO statistics_days (starts_at, sign_ups, sign_ins, failures, resets) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (starts_at) DO UPDATE SET sign_ups = excluded.sign_ups, sign_ins = excluded.sign_ins,
        failures = excluded.failures, resets = excluded.resets";
    /// Counts accounts by the states of the list of users, so that a number is that of the list with this filter.
    COUNT_USERS = "
    SELECT count(*),
        coalesce(sum(CASE WHEN email_verified AND NOT pending AND banned_at IS NULL AND deletes_at IS NULL
            THEN 1 ELSE 0 END), 0),
        coalesce(sum(CASE WHEN pending AND banned_at IS NULL AND deletes_at IS NULL THEN 1 ELSE 0 END), 0),
        count(banned_at), count(two_step_at), (SELECT count(*) FROM operators) FROM users";
    COUNT_ACTIVE = ACTIVE;
    COUNT_SESSIONS = "
    SELECT count(*) FROM sessions WHERE coalesce(ended_at, least(idle_expires_at, absolute_expires_at)) > $1
        AND ended_at IS NULL";
    COUNT_WAYS_IN = "
    SELECT (SELECT count(*) FROM credentials WHERE kind = 'password'), count(DISTINCT user_id) FROM passkeys";
    COUNT_IDENTITIES = "SELECT provider, count(*) FROM identities GROUP BY provider ORDER BY provider LIMIT 1000";
    COUNT_MAILS = "
    SELECT (SELECT count(*) FROM outbox WHERE state = 'queued'), (SELECT count(*) FROM outbox WHERE state = 'dead'),
        (SELECT min(created_at) FROM outbox WHERE state = 'queued')";
    MEASURE = "
    SELECT 'postgresql', pg_database_size(current_database()), (SELECT max(version) FROM schema_migrations)", "
    SELECT 'sqlite', page_count * page_size, (SELECT max(version) FROM schema_migrations)
    FROM pragma_page_count() CROSS JOIN pragma_page_size()";
    /// Counts the events of each day by kind, from the start of the last stored day on.
    COUNT_EVENTS = "
    SELECT happened_at / $2 AS day, kind, count(*) AS events FROM audit_events
    WHERE happened_at >= greatest(coalesce((SELECT max(starts_at) FROM statistics_days), $1), $1)
        AND kind IN ($3, $4, $5, $6)
    GROUP BY 1, 2 ORDER BY 1, 2";
}

/// Kinds of events whose numbers are stored, in the order of the columns.
const COUNTED: [AuditKind; 4] =
    [AuditKind::SignedUp, AuditKind::SignedIn, AuditKind::SignInFailed, AuditKind::PasswordReset];

/// What was counted so far.
#[derive(Clone, Default)]
pub(crate) struct Counted {
    pub(crate) counts: Counts,
    /// The days with their starts. A day without events is absent.
    pub(crate) days: Vec<(Timestamp, DayCounts)>,
}

/// Function that adds the results of a statement to the counts.
type Add = Box<dyn FnOnce(&Results<'_>, &mut Counted) -> StoreResult<()> + Send>;

/// The statements that count, each with its own time limit: of many accounts all of them together take longer than an
/// engine waits for one.
pub(crate) struct Counting {
    waiting: VecDeque<(Script, Add)>,
    add: Option<Add>,
    counted: Counted,
}

impl Counting {
    /// `classes` are the work classes of hashes in the index of these.
    pub(crate) fn new(classes: Vec<String>, since: Timestamp, now: Timestamp) -> Self {
        let [sign_ups, sign_ins, failures, resets] = COUNTED.map(AuditKind::as_str);
        let active = values![now.minus(DAY), now.minus(DAY * 7), now.minus(DAY * 30)];
        let events = values![since, day_millis(), sign_ups, sign_ins, failures, resets];
        let mut waiting: VecDeque<_> = classes.into_iter().map(password_class).collect();
        waiting.extend([
            count(&COUNT_USERS, Vec::new(), users),
            count(&COUNT_ACTIVE, active, active_users),
            count(&COUNT_SESSIONS, values![now], sessions),
            count(&COUNT_WAYS_IN, Vec::new(), ways_in),
            count(&COUNT_IDENTITIES, Vec::new(), identities),
            count(&COUNT_MAILS, Vec::new(), mails),
            count(&MEASURE, Vec::new(), database),
            count(&COUNT_EVENTS, events, days),
        ]);
        Self { waiting, add: None, counted: Counted::default() }
    }
}

impl Pages for Counting {
    /// All counts so far.
    type Page = Counted;

    fn next(&mut self) -> Option<Script> {
        let (script, add) = self.waiting.pop_front()?;
        self.add = Some(add);
        Some(script)
    }

    fn read(&mut self, results: &Results<'_>) -> StoreResult<Counted> {
        if let Some(add) = self.add.take() {
            add(results, &mut self.counted)?;
        }
        Ok(self.counted.clone())
    }
}

fn count(
    sql: &'static Sql,
    values: Vec<Value>,
    add: fn(&Results<'_>, Slot, &mut Counted) -> StoreResult<()>,
) -> (Script, Add) {
    let (script, slot) = Script::of_read(sql, values);
    (script, Box::new(move |results, counted| add(results, slot, counted)))
}

fn password_class(class: String) -> (Script, Add) {
    let mut script = Script::default();
    let slot = credentials::count_class(&mut script, &class);
    let add = move |results: &Results<'_>, counted: &mut Counted| {
        counted.counts.password_classes.insert(class, credentials::count(results, slot)?);
        Ok(())
    };
    (script, Box::new(add))
}

fn users(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    results.find(slot, |cells| {
        cells.of("users");
        counts.users = number(cells, "id")?;
        counts.verified = number(cells, "email_verified")?;
        counts.pending = number(cells, "pending")?;
        counts.banned = number(cells, "banned_at")?;
        counts.two_step = number(cells, "two_step_at")?;
        counts.operators = number(cells, "id")?;
        Ok(())
    })?;
    Ok(())
}

fn active_users(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    results.find(slot, |cells| {
        cells.of("seen_devices");
        counts.active_day = number(cells, "seen_at")?;
        counts.active_week = number(cells, "seen_at")?;
        counts.active_month = number(cells, "seen_at")?;
        Ok(())
    })?;
    Ok(())
}

fn sessions(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    results.find(slot, |cells| {
        counts.live_sessions = number(cells.of("sessions"), "id")?;
        Ok(())
    })?;
    Ok(())
}

/// Passwords outside the index of work classes, which are counted before, are of the usual class.
fn ways_in(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    results.find(slot, |cells| {
        counts.passwords = number(cells.of("credentials"), "kind")?;
        counts.passkeys = number(cells.of("passkeys"), "user_id")?;
        Ok(())
    })?;
    let classes = &mut counts.password_classes;
    let usual = counts.passwords.saturating_sub(classes.values().sum());
    classes.insert(credentials::USUAL_CLASS.to_owned(), usual);
    classes.retain(|_, count| *count > 0);
    Ok(())
}

fn identities(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    let provider = |cells: &mut Cells<'_>| {
        Ok((cells.of("identities").text("provider")?.to_owned(), number(cells, "provider")?))
    };
    counts.providers = results.list(slot, provider)?.into_iter().collect();
    Ok(())
}

fn mails(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    results.find(slot, |cells| {
        cells.of("outbox");
        counts.mails_queued = number(cells, "state")?;
        counts.mails_dead = number(cells, "state")?;
        counts.oldest_mail_at = cells.maybe_int("created_at")?;
        Ok(())
    })?;
    Ok(())
}

fn database(results: &Results<'_>, slot: Slot, Counted { counts, .. }: &mut Counted) -> StoreResult<()> {
    results.find(slot, |cells| {
        cells.of("schema_migrations").text("version")?.clone_into(&mut counts.engine);
        counts.database_bytes = number(cells, "version")?;
        counts.migration = number(cells, "version")?;
        Ok(())
    })?;
    Ok(())
}

fn days(results: &Results<'_>, slot: Slot, Counted { days, .. }: &mut Counted) -> StoreResult<()> {
    let event = |cells: &mut Cells<'_>| {
        let day = cells.of("audit_events").int("happened_at")?;
        Ok((day, cells.parsed("kind", AuditKind::parse)?, number(cells, "kind")?))
    };
    for (day, kind, events) in results.list(slot, event)? {
        let starts_at = Timestamp::from_millis(day.saturating_mul(day_millis()));
        if days.last().is_none_or(|(last, _)| *last != starts_at) {
            days.push((starts_at, DayCounts::default()));
        }
        let Some((_, counts)) = days.last_mut() else { continue };
        match kind {
            AuditKind::SignedUp => counts.sign_ups = events,
            AuditKind::SignedIn => counts.sign_ins = events,
            AuditKind::SignInFailed => counts.failures = events,
            _ => counts.resets = events,
        }
    }
    Ok(())
}

pub(crate) fn save(
    writes: &mut Script,
    Counted { counts, days }: &Counted,
    now: Timestamp,
) -> StoreResult<()> {
    let text = serde_json::to_string(counts).map_err(|_| CORRUPT)?;
    writes.change(&SAVE, values![now, text]);
    for (starts_at, counts) in days {
        let [sign_ups, sign_ins, failures, resets] =
            [counts.sign_ups, counts.sign_ins, counts.failures, counts.resets].map(u64::cast_signed);
        writes.change(&SAVE_DAY, values![*starts_at, sign_ups, sign_ins, failures, resets]);
    }
    Ok(())
}

pub(crate) fn read(cells: &mut Cells<'_>) -> StoreResult<(Timestamp, Counts)> {
    let counted_at = cells.of("statistics").time("counted_at")?;
    Ok((counted_at, serde_json::from_value(cells.json("counts")?).map_err(|_| CORRUPT)?))
}

pub(crate) fn read_day(cells: &mut Cells<'_>) -> StoreResult<(Timestamp, DayCounts)> {
    let starts_at = cells.of("statistics_days").time("starts_at")?;
    let counts = DayCounts {
        sign_ups: number(cells, "sign_ups")?,
        sign_ins: number(cells, "sign_ins")?,
        failures: number(cells, "failures")?,
        resets: number(cells, "resets")?,
    };
    Ok((starts_at, counts))
}

const CORRUPT: StoreError = StoreError::Corrupt { table: "statistics", column: "counts" };

fn day_millis() -> i64 {
    i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX)
}

/// Reads a number that cannot be negative.
fn number(cells: &mut Cells<'_>, column: &'static str) -> StoreResult<u64> {
    let number = cells.int(column)?;
    u64::try_from(number).map_err(|_| cells.corrupt(column))
}
