//! Tables `imports` and `import_problems`: imports of accounts from other services, and the lines of their reports. Rows of
//! many records are written by the statements `INSERT_…`, which take one array per column on PostgreSQL. What the
//! database has of many records is read by statements with a JSON array as a parameter.

use latchkey_domain::ids::{ImportId, UserId};
use latchkey_domain::imports::{ConflictPolicy, ImportCounts, ImportJob, ImportState, Occupant};
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginImport, ImportPosition, StoreResult};
use uuid::Uuid;

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, Value, object_text, statements, stored_id, values};

macro_rules! import_columns {
    () => {
        "id, state, format, source, dry_run, policy, read, created, updated, skipped, refused, problems, started_at,
        active_at, ended_at"
    };
}

stored_id!(ImportId);

pub const TABLE: Table = Table::new(
    "imports",
    1,
    columns! {
        id id, text state, text format, text source, bytes digest, flag dry_run, text policy, id claim, int read,
        int created, int updated, int skipped, int refused, text problems, int started_at, int active_at, int ended_at
    },
);

pub const PROBLEMS: Table =
    Table::new("import_problems", 3, columns! { id import_id, int place, int number, text line });

statements! {
    BEGIN = "
    INSERT INTO imports (id, state, format, source, digest, dry_run, policy, claim, read, created, updated, skipped,
        refused, problems, started_at, active_at, ended_at)
    VALUES ($1, 'running', $2, $3, $4, $5, $6, $7, 0, 0, 0, 0, 0, '{}', $8, $8, NULL)";
    RESUME = "
    UPDATE imports SET state = 'running', claim = $2, active_at = $3, ended_at = NULL WHERE id = $1";
    FIND: read find(id: ImportId) = concat!("SELECT ", import_columns!(), " FROM imports WHERE id = $1");
    COUNT: read total() = "SELECT count(*) FROM imports";
    LIST_DOWN: read list_down(from: Timestamp, id: ImportId, limit: u32) = concat!(
        "SELECT ", import_columns!(), " FROM imports WHERE (started_at, id) < ($1, $2)
        ORDER BY started_at DESC, id DESC LIMIT $3"
    );
    LIST_UP: read list_up(from: Timestamp, id: ImportId, limit: u32) = concat!(
        "SELECT ", import_columns!(), " FROM imports WHERE (started_at, id) > ($1, $2)
        ORDER BY started_at, id LIMIT $3"
    );
    /// Locks the imports that did not end well, so that two processes do not begin at once. It is all of them, because an
    /// import may end in between.
    LOCK_OPEN: read lock_open() =
        "SELECT 1 FROM imports WHERE state IN ('running', 'failed') ORDER BY id FOR UPDATE";
    /// Reads the newest 100 imports that run or were interrupted, newest first, each with its digest. One that a clash or its
    /// file ended has a last line in its report, and is over.
    LIST_OPEN: read list_open() = concat!(
        "SELECT ", import_columns!(), ", digest FROM imports AS i WHERE state = 'running' OR state = 'failed' AND NOT EXISTS (
            SELECT 1 FROM import_problems AS p WHERE p.import_id = i.id AND p.place = 9223372036854775807)
        ORDER BY started_at DESC, id DESC LIMIT 100"
    );
    /// Locks an import and reads its place, if this process writes it.
    LOCK_CLAIMED: read lock_claimed(id: ImportId, claim: Uuid) [id, Value::Id(Some(claim))] =
        "SELECT read FROM imports WHERE id = $1 AND claim = $2 AND state = 'running' FOR UPDATE";
    ADVANCE = "
    UPDATE imports SET read = $2, created = $3, updated = $4, skipped = $5, refused = $6, problems = $7, active_at = $8
    WHERE id = $1";
    RENEW: change renew(id: ImportId, claim: Uuid, now: Timestamp) [id, Value::Id(Some(claim)), now] =
        "UPDATE imports SET active_at = $3 WHERE id = $1 AND claim = $2 AND state = 'running'";
    END: change end(id: ImportId, claim: Uuid, state: ImportState, now: Timestamp)
        [id, Value::Id(Some(claim)), state.as_str(), now] =
        "UPDATE imports SET state = $3, active_at = $4, ended_at = $4 WHERE id = $1 AND claim = $2
            AND state IN ('running', $3)";
    /// Writes the last line of the report, after those of all records, if this process writes the import and has ended it.
    INSERT_END: change insert_end(id: ImportId, claim: Uuid, line: &str) [id, Value::Id(Some(claim)), line] = "
    INSERT INTO import_problems (import_id, place, number, line)
    SELECT i.id, 9223372036854775807, 0, $3 FROM imports AS i WHERE i.id = $1 AND i.claim = $2 AND i.state = 'failed'
    ON CONFLICT (import_id, place, number) DO UPDATE SET line = excluded.line";
    /// Ends an import that was interrupted, because its accounts are about to be deleted: a process that slept may not write on.
    INTERRUPT: change interrupt(id: ImportId) = "UPDATE imports SET state = 'failed' WHERE id = $1 AND state = 'running'";
    /// Forgets the file of an import whose accounts are deleted. It may not go on, or what was deleted would be missing.
    FORGET_FILE: change forget_file(id: ImportId, nothing: &[u8]) = "UPDATE imports SET digest = $2 WHERE id = $1";
    END_UNDO: change end_undo(id: ImportId, now: Timestamp) =
        "UPDATE imports SET state = 'undone', ended_at = $2 WHERE id = $1 AND state <> 'undone'";
    FIND_NOT_UNDONE: read find_not_undone(id: ImportId) =
        "SELECT 1 FROM imports WHERE id = $1 AND state <> 'undone' FOR UPDATE";
    LIST_PROBLEMS: read list_problems(id: ImportId, after: i64, limit: u32) = "
    SELECT place, line FROM import_problems WHERE import_id = $1 AND place > $2
        AND place <= (SELECT max(place) FROM (SELECT place FROM import_problems WHERE import_id = $1 AND place > $2
            ORDER BY place LIMIT $3) AS page)
    ORDER BY place, number LIMIT 100000";
    INSERT_PROBLEMS = "
    INSERT INTO import_problems (import_id, place, number, line)
    SELECT import_id, place, number, line FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[]) AS r (import_id, place, number, line)", "
    INSERT INTO import_problems (import_id, place, number, line) VALUES ($1, $2, $3, $4)";
    /// Inserts accounts. `has_profile` is set at once, so that the trigger on profiles has nothing to update.
    INSERT_USERS = "
    INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, banned_at, metadata,
        locale, pending_email, created_at, updated_at, signed_up_at, two_step_at, has_profile, last_sign_in_at,
        user_handle, deletes_at)
    SELECT id, email, email_key, email_verified, first_verified_at, FALSE, contested, CASE WHEN banned THEN now END, metadata,
        locale, NULL, created_at, updated_at, NULL, CASE WHEN two_step THEN now END, has_profile, last_sign_in_at,
        user_handle, deletes_at
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::boolean[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::boolean[], $12::boolean[], $13::bigint[], $14::bytea[], $15::bigint[], $16::bigint[], $17::boolean[]) AS r (id, email, email_key, email_verified,
        first_verified_at, banned, metadata, locale, created_at, updated_at, two_step, has_profile, last_sign_in_at,
        user_handle, now, deletes_at, contested)
    WHERE NOT EXISTS (SELECT 1 FROM undo_tokens AS t WHERE t.email = r.email_key AND t.expires_at > r.now)", "
    INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, banned_at, metadata,
        locale, pending_email, created_at, updated_at, signed_up_at, two_step_at, has_profile, last_sign_in_at,
        user_handle, deletes_at)
    VALUES ($1, $2, $3, $4, $5, FALSE, $17, CASE WHEN $6 THEN $15 END, $7, $8, NULL, $9, $10, NULL,
        CASE WHEN $11 THEN $15 END, $12, $13, $14, $16)";
    INSERT_PASSWORDS = "
    INSERT INTO credentials (user_id, kind, data, proven, created_at, updated_at)
    SELECT user_id, 'password', data, proven, now, now FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::bigint[]) AS r (user_id, data, proven, now)", "
    INSERT INTO credentials (user_id, kind, data, proven, created_at, updated_at)
    VALUES ($1, 'password', $2, $3, $4, $4)";
    INSERT_IDENTITIES = "
    INSERT INTO identities (provider, issuer, subject, user_id, created_at, email, vouched_email_key)
    SELECT provider, issuer, subject, user_id, created_at, email, vouched_email_key
    FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::text[], $7::text[])
        AS r (provider, issuer, subject, user_id, created_at, email, vouched_email_key)", "
    INSERT INTO identities (provider, issuer, subject, user_id, created_at, email, vouched_email_key)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
    INSERT_TOTP = "
    INSERT INTO totp_factors (id, user_id, name, secret, created_at, confirmed_at, attempts)
    SELECT id, user_id, name, secret, now, now, 0 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::bigint[]) AS r (id, user_id, name, secret, now)", "
    INSERT INTO totp_factors (id, user_id, name, secret, created_at, confirmed_at, attempts)
    VALUES ($1, $2, $3, $4, $5, $5, 0)";
    INSERT_PASSKEYS = "
    INSERT INTO passkeys (id, user_id, credential_id, public_key, rp_id, name, aaguid, transports, counter,
        backup_eligible, backed_up, created_at, last_used_at)
    SELECT id, user_id, credential_id, public_key, rp_id, name, aaguid, transports, counter, backup_eligible, backed_up,
        created_at, last_used_at
    FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::bigint[], $10::boolean[], $11::boolean[], $12::bigint[], $13::bigint[])
        AS r (id, user_id, credential_id, public_key, rp_id, name, aaguid, transports, counter, backup_eligible,
        backed_up, created_at, last_used_at)", "
    INSERT INTO passkeys (id, user_id, credential_id, public_key, rp_id, name, aaguid, transports, counter,
        backup_eligible, backed_up, created_at, last_used_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    INSERT_EVENTS = "
    INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details,
        operator_id)
    SELECT id, happened_at, kind, actor, user_id, session_id, address, user_agent, details, operator_id
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::uuid[]) AS r (id, happened_at, kind, actor, user_id, session_id,
        address, user_agent, details, operator_id)", "
    INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details,
        operator_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    /// Locks the accounts with these email addresses.
    LOCK_OCCUPANTS = "
    SELECT 1 FROM users WHERE email_key IN (SELECT value FROM json_array_elements_text($1::json) AS k (value))
    ORDER BY id FOR UPDATE", "
    SELECT 1 FROM users WHERE email_key IN (SELECT value FROM json_each($1))";
    FIND_OCCUPANTS = "
    SELECT u.email_key, u.id, u.email_verified, u.pending, u.banned_at IS NOT NULL,
        EXISTS (SELECT 1 FROM operators AS o WHERE o.user_id = u.id)
            OR NOT u.pending AND EXISTS (SELECT 1 FROM operator_addresses AS a WHERE a.email_key = u.email_key),
        EXISTS (SELECT 1 FROM credentials AS c WHERE c.user_id = u.id AND c.kind = 'password'), u.metadata
    FROM json_array_elements_text($1::json) AS k (value) JOIN users AS u ON u.email_key = k.value", "
    SELECT u.email_key, u.id, u.email_verified, u.pending, u.banned_at IS NOT NULL,
        EXISTS (SELECT 1 FROM operators AS o WHERE o.user_id = u.id)
            OR NOT u.pending AND EXISTS (SELECT 1 FROM operator_addresses AS a WHERE a.email_key = u.email_key),
        EXISTS (SELECT 1 FROM credentials AS c WHERE c.user_id = u.id AND c.kind = 'password'), u.metadata
    FROM json_each($1) AS k CROSS JOIN users AS u ON u.email_key = k.value";
    FIND_RESERVED = "
    SELECT DISTINCT email FROM undo_tokens
    WHERE expires_at > $2 AND email IN (SELECT value FROM json_array_elements_text($1::json) AS k (value))", "
    SELECT DISTINCT email FROM undo_tokens
    WHERE expires_at > $2 AND email IN (SELECT value FROM json_each($1))";
    FIND_IDS = "
    SELECT u.id FROM json_array_elements_text($1::json) AS k (value) JOIN users AS u ON u.id = k.value::uuid", "
    SELECT u.id FROM json_each($1) AS k CROSS JOIN users AS u ON u.id = unhex(k.value)";
    FIND_USERNAMES = "
    SELECT p.username, p.user_id
    FROM json_array_elements_text($1::json) AS k (value) JOIN profiles AS p ON p.username = k.value", "
    SELECT p.username, p.user_id FROM json_each($1) AS k CROSS JOIN profiles AS p ON p.username = k.value";
    /// Reads which credential ids, given in hex, are those of passkeys.
    FIND_PASSKEYS = "
    SELECT p.credential_id
    FROM json_array_elements_text($1::json) AS k (value) JOIN passkeys AS p ON p.credential_id = decode(k.value, 'hex')", "
    SELECT p.credential_id FROM json_each($1) AS k CROSS JOIN passkeys AS p ON p.credential_id = unhex(k.value)";
    /// Reads the accounts of identities, each given as an array of provider, issuer and subject.
    FIND_IDENTITIES = "
    SELECT i.provider, i.issuer, i.subject, i.user_id FROM json_array_elements($1::json) AS k (value)
    JOIN identities AS i ON i.provider = k.value ->> 0 AND i.issuer = k.value ->> 1 AND i.subject = k.value ->> 2", "
    SELECT i.provider, i.issuer, i.subject, i.user_id FROM json_each($1) AS k
    CROSS JOIN identities AS i
        ON i.provider = k.value ->> 0 AND i.issuer = k.value ->> 1 AND i.subject = k.value ->> 2";
}

pub(crate) fn begin(writes: &mut Script, begin: &BeginImport) {
    let values = values![
        begin.id,
        begin.from.as_str(),
        begin.source.as_str(),
        begin.digest.as_slice(),
        begin.is_dry_run,
        begin.policy.as_str(),
        Value::Id(Some(begin.claim)),
        begin.now,
    ];
    writes.change(&BEGIN, values);
}

pub(crate) fn resume(writes: &mut Script, id: ImportId, claim: Uuid, now: Timestamp) {
    writes.change(&RESUME, values![id, Value::Id(Some(claim)), now]);
}

/// Stores the outcomes so far, and with them the place in the file.
pub(crate) fn advance(
    writes: &mut Script,
    id: ImportId,
    counts: &ImportCounts,
    now: Timestamp,
) -> StoreResult<()> {
    let values = values![
        id,
        stored(counts.read),
        stored(counts.created),
        stored(counts.updated),
        stored(counts.skipped),
        stored(counts.refused),
        object_text(&counts.problems_json())?,
        now,
    ];
    writes.change(&ADVANCE, values);
    Ok(())
}

/// Reads a page of imports, and one more; for [`ImportPosition::Before`] the oldest first.
pub(crate) fn list(script: &mut Script, position: ImportPosition, limit: u32) -> Slot {
    let limit = limit.saturating_add(1);
    match position {
        ImportPosition::First => {
            list_down(script, Timestamp::from_millis(i64::MAX), Uuid::max().into(), limit)
        }
        ImportPosition::After(key) => list_down(script, key.started_at, key.id, limit),
        ImportPosition::Before(key) => list_up(script, key.started_at, key.id, limit),
    }
}

pub(crate) fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Adds a read whose parameter is a JSON array.
pub(crate) fn read_many(
    script: &mut Script,
    sql: &'static crate::form::Sql,
    keys: &[serde_json::Value],
    more: Vec<Value>,
) -> Slot {
    let mut values = values![serde_json::Value::from(keys).to_string()];
    values.extend(more);
    script.read(sql, values)
}

pub(crate) fn import(results: &Results<'_>, slot: Slot) -> StoreResult<Option<ImportJob>> {
    results.find(slot, read_import)
}

pub(crate) fn read_import(cells: &mut Cells<'_>) -> StoreResult<ImportJob> {
    cells.of("imports");
    Ok(ImportJob {
        id: cells.id("id")?,
        state: cells.parsed("state", ImportState::parse)?,
        from: cells.text("format")?.to_owned(),
        source: cells.text("source")?.to_owned(),
        is_dry_run: cells.flag("dry_run")?,
        policy: cells.parsed("policy", ConflictPolicy::parse)?,
        counts: ImportCounts {
            read: count(cells, "read")?,
            created: count(cells, "created")?,
            updated: count(cells, "updated")?,
            skipped: count(cells, "skipped")?,
            refused: count(cells, "refused")?,
            problems: ImportCounts::problems_from(&cells.object("problems")?),
        },
        started_at: cells.time("started_at")?,
        active_at: cells.time("active_at")?,
        ended_at: cells.maybe_time("ended_at")?,
    })
}

pub(crate) fn count(cells: &mut Cells<'_>, column: &'static str) -> StoreResult<u64> {
    cells.int(column)?.try_into().map_err(|_| cells.corrupt(column))
}

/// Decodes an account of [`FIND_OCCUPANTS`], with its email address.
pub(crate) fn read_occupant(cells: &mut Cells<'_>) -> StoreResult<(String, Occupant)> {
    let key = cells.of("users").text("email_key")?.to_owned();
    let occupant = Occupant {
        id: cells.id::<UserId>("id")?,
        email_verified: cells.flag("email_verified")?,
        is_pending: cells.flag("pending")?,
        is_banned: cells.flag("banned_at")?,
        is_operator: cells.flag("user_id")?,
        has_password: cells.flag("data")?,
        metadata: cells.object("metadata")?,
    };
    Ok((key, occupant))
}
