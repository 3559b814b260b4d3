//! Timing benchmark against user enumeration: `cargo bench -p latchkey --bench enumeration`. It starts the real binary
//! and sends requests with known and unknown email addresses, mixed in random order. For each operation it prints the
//! median response times of both and the two-sided p-value of a Mann-Whitney rank test. It compares unknown addresses
//! with those of
//!
//! - accounts with a password only: all of [`OPERATIONS`], and the sign-in after the cost of hashing was raised;
//! - accounts that are banned, have no password or are in deletion, and addresses that are reserved for the former owner:
//!   sign-in, sign-in mail, and sign-in by a wrong code;
//! - accounts of which some have hashes from elsewhere (argon2id, bcrypt at cost 10, and scrypt in equal shares): sign-in.
//!   All kinds together have the times of unknown addresses; one kind alone does not, and tells no more than its scheme;
//! - other unknown addresses, as a control: the same three;
//! - accounts with two-step sign-in: the first six of [`OPERATIONS`];
//! - accounts with a passkey: the options of a sign-in by passkey, and the sign-in by password.
//!
//! `-- 10000 otp raised` makes 10,000 calls of these operations alone. `--profile release` builds in less time, and tests
//! a binary of that profile; `LATCHKEY_BINARY=PATH` tests the one at that path. Other load on the machine makes both medians longer and small differences invisible.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a benchmark: it reads the real time and prints rounded figures"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use latchkey_testkit::{Device, totp_code};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};

/// Number of calls of an operation, unless the command line has a number.
const CALLS: usize = 2_000;
/// Number of addresses of each kind.
const ADDRESSES: usize = 50;
const PASSWORD: &str = "tangerine-9-trees";
/// Hashes from elsewhere, which no password of the benchmark fits.
const BCRYPT: &str = "$2b$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const SCRYPT: &str =
    "$scrypt$ln=14,r=8,p=1$5DxnrDVGSMmZs5byfm/tnQ$WulKIbsr1mzqX5iNjer+7NGx6I+9sckCw1GA/d9TFjs";
/// Kind of addresses that have no account either. Their rows show what this machine's noise does to `p`.
const CONTROL: &str = "control";
/// Name of the sign-in with hashes from elsewhere.
const ELSEWHERE: &str = "elsewhere";
/// Time after which upkeep has counted at the start.
const COUNTED: Duration = Duration::from_secs(3);

/// Operation under test: its name, its path, and a function that makes the body for an email address.
type Operation = (&'static str, &'static str, fn(&str) -> String);

const OPERATIONS: [Operation; 8] = [
    ("sign-in", "/api/auth/sessions", |email| {
        format!(r#"{{"email":"{email}","password":"wrong-{PASSWORD}"}}"#)
    }),
    ("resend", "/api/auth/email/send-verification", |email| format!(r#"{{"email":"{email}"}}"#)),
    ("reset", "/api/auth/email/send-reset-password", |email| format!(r#"{{"email":"{email}"}}"#)),
    ("exchange", "/api/auth/email/exchange-reset-password-token", |email| {
        format!(r#"{{"email":"{email}","code":"000000"}}"#)
    }),
    ("send-otp", "/api/auth/email/send-otp", |email| format!(r#"{{"email":"{email}"}}"#)),
    ("otp", "/api/auth/sessions", |email| format!(r#"{{"method":"otp","email":"{email}","otp":"000000"}}"#)),
    ("sign-up", "/api/auth/users", |email| format!(r#"{{"email":"{email}","password":"new-{PASSWORD}"}}"#)),
    ("own", "/api/auth/sessions", |email| format!(r#"{{"email":"{email}","password":"new-{PASSWORD}"}}"#)),
];

const PASSKEY_OPTIONS: Operation =
    ("options", "/api/auth/passkeys/authentication-options", |email| format!(r#"{{"email":"{email}"}}"#));

const VERIFICATION_OFF: [&str; 2] = ["--set", "auth.require_email_verification=false"];
const VERIFICATION_ON: [&str; 2] = ["--set", "auth.require_email_verification=true"];
const ADMIN_KEY: &str = "admin-key-of-the-benchmark-0123456789abcdef";
const WITH_ADMIN: [&str; 4] = [
    "--set",
    "auth.require_email_verification=true",
    "--set",
    "admin.api_key=admin-key-of-the-benchmark-0123456789abcdef",
];
const RAISED: [&str; 4] =
    ["--set", "auth.require_email_verification=true", "--set", "passwords.iterations=3"];

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let (server, port) = start(folder.path(), &VERIFICATION_OFF);
    let mut connection = Connection::open(port);
    for number in 0..ADDRESSES {
        let body = format!(r#"{{"email":"{}","password":"{PASSWORD}"}}"#, address("known", number));
        connection.post("/api/auth/users", &body);
    }
    stop(server);
    println!(
        "{:<14}{:<10}{:>8}{:>14}{:>14}{:>10}",
        "addresses", "operation", "calls", "these ms", "unknown ms", "p"
    );
    // First, while no unknown address has an account that a sign-up of this benchmark made.
    let (server, port) = start(folder.path(), &RAISED);
    compare(port, "known", &[("raised", OPERATIONS[0].1, OPERATIONS[0].2)]);
    stop(server);
    let (server, port) = start(folder.path(), &VERIFICATION_ON);
    compare(port, "known", &OPERATIONS);
    stop(server);

    let folder = tempfile::tempdir().unwrap();
    let (server, port) = start(folder.path(), &WITH_ADMIN);
    for number in 0..ADDRESSES {
        make_kinds(&mut Connection::open(port), number, &folder.path().join("latchkey-data/mails"));
    }
    for kind in ["banned", "passwordless", "reserved", "deletion", CONTROL] {
        compare(port, kind, &[OPERATIONS[0], OPERATIONS[4], OPERATIONS[5]]);
    }
    stop(server);

    println!("a third of the known accounts each have argon2id, bcrypt and scrypt:");
    let folder = tempfile::tempdir().unwrap();
    let (server, port) = start(folder.path(), &WITH_ADMIN);
    (0..ADDRESSES).for_each(|number| drop(sign_up(&mut Connection::open(port), "known", number)));
    stop(server);
    import_hashes(folder.path());
    // Upkeep counts the hashes at the start.
    let (server, port) = start(folder.path(), &WITH_ADMIN);
    std::thread::sleep(COUNTED);
    compare(port, "known", &[(ELSEWHERE, OPERATIONS[0].1, OPERATIONS[0].2)]);
    stop(server);

    println!("known accounts have two-step sign-in:");
    let folder = tempfile::tempdir().unwrap();
    let (server, port) = start(folder.path(), &WITH_ADMIN);
    (0..ADDRESSES).for_each(|number| enroll(&mut Connection::open(port), number));
    compare(port, "known", &OPERATIONS[..6]);
    stop(server);

    println!("known accounts have a passkey:");
    let folder = tempfile::tempdir().unwrap();
    let (server, port) = start(folder.path(), &WITH_ADMIN);
    (0..ADDRESSES).for_each(|number| equip(&mut Connection::open(port), number, port));
    compare(port, "known", &[PASSKEY_OPTIONS, OPERATIONS[0]]);
    stop(server);
}

/// Replaces the hashes of two thirds of the accounts, as an import would have stored them. A wrong password is sent to
/// each, so that none is hashed anew.
fn import_hashes(folder: &Path) {
    let database = rusqlite::Connection::open(folder.join("latchkey-data/latchkey.db")).unwrap();
    for (remainder, hash) in [(1, BCRYPT), (2, SCRYPT)] {
        let sql = "UPDATE credentials SET data = ?1 WHERE user_id IN
            (SELECT user_id FROM (SELECT user_id, row_number() OVER (ORDER BY user_id) AS place FROM credentials)
             WHERE place % 3 = ?2)";
        assert!(database.execute(sql, rusqlite::params![hash, remainder]).unwrap() > 0);
    }
    // What was counted a moment ago would not be counted again for a minute.
    database.execute("DELETE FROM statistics", []).unwrap();
}

/// Creates an account with the admin key and returns the id of the user.
fn create(connection: &mut Connection, account: &Value) -> String {
    let key = format!("x-api-key: {ADMIN_KEY}\r\n");
    let (status, user) = connection.call("POST /api/auth/users", &key, &account.to_string());
    assert_eq!(status, 200, "{user}");
    user["id"].as_str().or(user["user"]["id"].as_str()).unwrap().to_owned()
}

/// Makes an address of each kind that differs from the accounts `known`: of a banned account, of one without a password,
/// reserved by the undo link of a changed address, and of an account in deletion.
fn make_kinds(connection: &mut Connection, number: usize, mails: &Path) {
    let banned = json!({ "email": address("banned", number), "password": PASSWORD, "autoConfirm": true });
    let id = create(connection, &banned);
    let key = format!("x-api-key: {ADMIN_KEY}\r\n");
    assert_eq!(connection.call(&format!("PATCH /api/auth/users/{id}"), &key, r#"{"banned":true}"#).0, 200);

    let passwordless = address("passwordless", number);
    connection.post("/api/auth/email/send-otp", &json!({ "email": passwordless }).to_string());
    let code = mailed_code(mails, &passwordless);
    let by_code = json!({ "method": "otp", "email": passwordless, "otp": code }).to_string();
    assert_eq!(connection.post("/api/auth/sessions", &by_code), 200);

    let bearer = sign_up(connection, "deletion", number);
    assert_eq!(connection.call("DELETE /api/auth/account", &bearer, "").0, 200);

    let bearer = sign_up(connection, "reserved", number);
    let moved = format!("moved{number}@example.org");
    let (_, begun) =
        connection.call("POST /api/auth/email/change", &bearer, &json!({ "newEmail": moved }).to_string());
    let confirm = json!({
        "changeId": begun["changeId"],
        "newCode": mailed_code(mails, &moved),
        "currentCode": mailed_code(mails, &address("reserved", number)),
    });
    let (status, body) =
        connection.call("POST /api/auth/email/change/confirm", &bearer, &confirm.to_string());
    assert_eq!(status, 200, "{body}");
}

/// Returns an address of a kind. Those of all kinds are equally long.
fn address(kind: &str, number: usize) -> String {
    format!("{}{number}@example.org", &kind[..5])
}

/// Returns an address without an account. It differs from those of its kind in one letter, so that both are neighbours
/// in every index, and no other kind uses it.
fn unknown_address(kind: &str, number: usize) -> String {
    format!("{}x{number}@example.org", &kind[..4])
}

/// Waits for the mail to an address, and returns its six-digit code.
fn mailed_code(folder: &Path, email: &str) -> String {
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    for _ in 0..500 {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        let mail = texts.find(|text| text.contains(&format!("To: {email}\r\n")));
        if let Some(code) = mail.iter().flat_map(|mail| mail.lines()).map(str::trim).find(is_code) {
            return code.to_owned();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no code was mailed to {email}");
}

/// Creates a verified account, signs in, and returns the header with the access token.
fn sign_up(connection: &mut Connection, kind: &str, number: usize) -> String {
    let account = json!({ "email": address(kind, number), "password": PASSWORD, "autoConfirm": true });
    create(connection, &account);
    let (_, session) =
        connection.call("POST /api/auth/sessions?client_type=server", "", &account.to_string());
    format!("authorization: Bearer {}\r\n", session["accessToken"].as_str().unwrap())
}

/// Creates a verified account and turns two-step sign-in on.
fn enroll(connection: &mut Connection, number: usize) {
    let bearer = sign_up(connection, "known", number);
    let (_, begun) = connection.call("POST /api/auth/factors/totp", &bearer, "{}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let code = totp_code(begun["secret"].as_str().unwrap(), i64::try_from(now).unwrap());
    let confirm = json!({ "factorId": begun["factorId"], "code": code }).to_string();
    let path = "POST /api/auth/factors/totp/confirm?client_type=server";
    assert_eq!(connection.call(path, &bearer, &confirm).0, 200);
}

/// Creates a verified account and registers a passkey.
fn equip(connection: &mut Connection, number: usize, port: u16) {
    let bearer = sign_up(connection, "known", number);
    let (_, begun) = connection.call("POST /api/auth/passkeys/registration-options", &bearer, "{}");
    let credential = Device::at(&format!("http://localhost:{port}")).create(&begun["options"]).to_json();
    let register = json!({ "ceremonyId": begun["ceremonyId"], "credential": credential }).to_string();
    assert_eq!(connection.call("POST /api/auth/passkeys", &bearer, &register).0, 200);
}

/// Compares addresses of this kind with unknown ones, in the operations that the command line names, or all of them.
fn compare(port: u16, kind: &str, operations: &[Operation]) {
    let mut connection = Connection::open(port);
    let words: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let calls = words.iter().find_map(|word| word.parse().ok()).unwrap_or(CALLS);
    let names: Vec<_> = words.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    for (name, path, body) in operations {
        if !names.is_empty() && !names.iter().any(|word| *word == name || *word == kind) {
            continue;
        }
        // The scheme of an unknown address is drawn for it, so a few addresses would not have the shares of all.
        let unknown_ones = if *name == ELSEWHERE { calls } else { ADDRESSES };
        let (these, unknown) = measure(&mut connection, kind, (calls, unknown_ones), path, *body);
        let p = rank_test(&these, &unknown);
        println!("{kind:<14}{name:<10}{calls:>8}{:>14.4}{:>14.4}{p:>10.3}", median(&these), median(&unknown));
    }
}

fn stop(mut server: Child) {
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Sends the requests of an operation and returns the response times in milliseconds, for addresses of this kind and for
/// unknown ones.
fn measure(
    connection: &mut Connection,
    kind: &str,
    (calls, unknown_ones): (usize, usize),
    path: &str,
    body: fn(&str) -> String,
) -> (Vec<f64>, Vec<f64>) {
    let mut random = StdRng::seed_from_u64(7);
    let (mut these, mut unknown) = (Vec::new(), Vec::new());
    for number in 0..40 {
        connection.post(path, &body(&format!("warm{number}@example.org")));
    }
    let mut order: Vec<_> = (0..calls).map(|call| call % 2 == 0).collect();
    order.shuffle(&mut random);
    for (call, is_known) in order.into_iter().enumerate() {
        let address = if is_known {
            address(kind, call % ADDRESSES)
        } else {
            unknown_address(kind, call % unknown_ones)
        };
        let body = body(&address);
        let started = Instant::now();
        let status = connection.post(path, &body);
        let elapsed = started.elapsed().as_secs_f64() * 1000.0;
        assert!(matches!(status, 200 | 202 | 400 | 401 | 403), "{path} answered {status}");
        if is_known { these.push(elapsed) } else { unknown.push(elapsed) }
    }
    (these, unknown)
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Two-sided p-value of the Mann-Whitney test by its normal approximation.
fn rank_test(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<_> =
        a.iter().map(|value| (*value, true)).chain(b.iter().map(|value| (*value, false))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let ranks: f64 =
        all.iter().enumerate().filter(|(_, (_, is_a))| *is_a).map(|(rank, _)| rank as f64 + 1.0).sum();
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let statistic = ranks - count_a * (count_a + 1.0) / 2.0;
    let deviation = (count_a * count_b * (count_a + count_b + 1.0) / 12.0).sqrt();
    2.0 * upper_tail(((statistic - count_a * count_b / 2.0) / deviation).abs())
}

/// The upper tail of the normal distribution (Abramowitz and Stegun 7.1.26, error below 1e-7).
fn upper_tail(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let polynomial = series.into_iter().fold(0.0, |sum, coefficient| sum * t + coefficient) * t;
    0.5 * polynomial * (-x * x).exp()
}

/// Starts the service with these settings, rate limits off; returns its port.
fn start(folder: &std::path::Path, settings: &[&str]) -> (Child, u16) {
    let binary = std::env::var_os("LATCHKEY_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_latchkey").into());
    let mut child = Command::new(binary)
        .current_dir(folder)
        .args(["--set", "server.bind=127.0.0.1:0", "--set", "limits.enabled=false"])
        .args(["--set", "log.level=error"])
        .args(settings)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let banner = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let address = banner.map(|line| line.unwrap()).find(|line| line.contains("Listening")).unwrap();
    let port = address.split("127.0.0.1:").nth(1).unwrap().split(',').next().unwrap().trim().parse().unwrap();
    (child, port)
}

/// HTTP connection with keep-alive.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self(BufReader::new(stream))
    }

    fn post(&mut self, path: &str, body: &str) -> u16 {
        self.call(&format!("POST {path}"), "", body).0
    }

    /// Sends a request, by method and path, with further headers; returns status and body.
    fn call(&mut self, request: &str, headers: &str, body: &str) -> (u16, Value) {
        let head = format!(
            "{request} HTTP/1.1\r\nhost: localhost\r\n{headers}content-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        self.0.get_mut().write_all((head + body).as_bytes()).unwrap();
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut received = Vec::new();
        self.0.by_ref().take(length).read_to_end(&mut received).unwrap();
        (status, serde_json::from_slice(&received).unwrap_or_default())
    }
}
