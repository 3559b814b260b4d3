//! Load generator: one thread with many HTTP/1.1 keep-alive connections, and one request in flight on each. A
//! [`Script`] supplies the requests.
//!
//! Closed loop: a connection sends its next request as soon as it has a response. Open loop: requests are due at a
//! fixed rate that does not depend on the server. Latency counts from the due time, so that a stalled server cannot
//! hide it (coordinated omission).

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::error::{BenchError, Result};
use crate::response::{Parsed, Response};
use crate::time::now;

/// Size of the read buffer in bytes.
const READ: usize = 64 * 1024;
/// Maximum wait for socket events, after which the end of the run is checked.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Event tag of the open loop's timer. All other tags are connection numbers.
const DUE: u64 = u64::MAX;
/// Timeout for responses in flight at the end of the run.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Upper limit of the histogram, in nanoseconds.
const LONGEST: u64 = 120_000_000_000;

/// Source of the requests of a load, and consumer of their responses.
pub(crate) trait Script: Send {
    /// Writes the next request of a connection.
    fn next_request(&mut self, connection: usize, out: &mut Vec<u8>);

    /// Handles the response on that connection.
    fn on_response(&mut self, _connection: usize, _answer: &Response<'_>) {}

    /// True if no requests are left.
    fn is_done(&self) -> bool {
        false
    }
}

/// Parameters of a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Address of the server.
    pub(crate) address: SocketAddr,
    /// Number of connections.
    pub(crate) connections: usize,
    /// Total requests per second of an open loop; `None` for a closed loop.
    pub(crate) rate: Option<f64>,
    /// Duration of the warm-up, whose responses are not counted.
    pub(crate) warm_up: Duration,
    /// Duration in which responses are counted.
    pub(crate) length: Duration,
}

/// Results of a load.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Latency in nanoseconds of each response with a status below 400.
    pub(crate) latency: Histogram<u64>,
    /// Number of responses by status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Length of the counted time.
    pub(crate) seconds: f64,
    /// Body size of the last response with a status below 400, counted or not.
    pub(crate) last_body: Option<usize>,
}

impl Measured {
    /// Successful responses per second.
    pub(crate) fn per_second(&self) -> f64 {
        count(self.latency.len()) / self.seconds
    }

    /// Latency quantile in milliseconds.
    pub(crate) fn ms(&self, quantile: f64) -> f64 {
        count(self.latency.value_at_quantile(quantile)) / 1e6
    }

    /// Number of error responses by status.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses.iter().filter(|(status, _)| **status >= 400).map(|(status, count)| (*status, *count))
    }
}

/// Converts a count to a floating-point number.
#[allow(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
pub(crate) const fn count(number: u64) -> f64 {
    number as f64
}

/// Runs the load to its end.
pub(crate) fn drive(load: &Load, script: &mut dyn Script) -> Result<Measured> {
    Driver::new(load)?.run(script)
}

struct Connection {
    stream: TcpStream,
    out: Vec<u8>,
    written: usize,
    input: Vec<u8>,
    due: Instant,
    is_asking: bool,
}

struct Driver {
    load: Load,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    idle: VecDeque<usize>,
    counted_from: Instant,
    ends: Instant,
    /// Due time of the open loop's next request.
    next_due: Instant,
    measured: Measured,
    buffer: Vec<u8>,
}

impl Driver {
    fn new(load: &Load) -> Result<Self> {
        let start = now();
        let latency = Histogram::new_with_bounds(1_000, LONGEST, 3).map_err(BenchError::other)?;
        let mut driver = Self {
            load: *load,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            connections: Vec::new(),
            idle: (0..load.connections).collect(),
            counted_from: start + load.warm_up,
            ends: start + load.warm_up + load.length,
            next_due: start,
            measured: Measured {
                latency,
                statuses: BTreeMap::new(),
                seconds: load.length.as_secs_f64(),
                last_body: None,
            },
            buffer: vec![0; READ],
        };
        for number in 0..load.connections {
            let stream = driver.connect(number)?;
            driver.connections.push(Connection {
                stream,
                out: Vec::new(),
                written: 0,
                input: Vec::new(),
                due: start,
                is_asking: false,
            });
        }
        Ok(driver)
    }

    fn connect(&self, number: usize) -> Result<TcpStream> {
        let stream = TcpStream::connect(self.load.address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::ET | EventFlags::RDHUP;
        epoll::add(&self.epoll, &stream, EventData::new_u64(number as u64), interest)?;
        Ok(stream)
    }

    /// Creates a timer that fires at the rate of the open loop until it is dropped. The timeout of `epoll` is rounded
    /// up to milliseconds, which would count as latency of the server.
    fn set_timer(&mut self, rate: f64) -> Result<OwnedFd> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        let interest = EventFlags::IN | EventFlags::ET;
        epoll::add(&self.epoll, &timer, EventData::new_u64(DUE), interest)?;
        let every = Duration::from_secs_f64(1.0 / rate);
        let tv_sec = i64::try_from(every.as_secs()).map_err(BenchError::other)?;
        let period = Timespec { tv_sec, tv_nsec: i64::from(every.subsec_nanos()) };
        let schedule = Itimerspec { it_interval: period, it_value: period };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &schedule)?;
        self.next_due = now() + every;
        Ok(timer)
    }

    fn run(mut self, script: &mut dyn Script) -> Result<Measured> {
        let timer = self.load.rate.map(|rate| self.set_timer(rate)).transpose()?;
        let mut events = Vec::with_capacity(self.load.connections.max(1));
        loop {
            let time = now();
            let is_over = time >= self.ends || script.is_done();
            // Responses in flight are awaited, because the script may use them in its next run.
            if is_over && (self.idle.len() == self.connections.len() || time >= self.ends + DRAIN_TIMEOUT) {
                let counted = time.min(self.ends).saturating_duration_since(self.counted_from);
                self.measured.seconds = counted.as_secs_f64().max(1e-9);
                return Ok(self.measured);
            }
            if !is_over {
                self.start_due_requests(time, script)?;
            }
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&TICK)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                if let (DUE, Some(timer)) = (event.data.u64(), &timer) {
                    rustix::io::read(timer, &mut [0; 8])?; // reading the count rearms the timer
                    continue;
                }
                let number = usize::try_from(event.data.u64()).map_err(BenchError::other)?;
                self.serve(number, script)?;
            }
        }
    }

    /// Starts requests on idle connections: all in a closed loop, the due ones in an open loop.
    fn start_due_requests(&mut self, time: Instant, script: &mut dyn Script) -> Result<()> {
        let Some(rate) = self.load.rate else {
            while !script.is_done()
                && let Some(number) = self.idle.pop_front()
            {
                self.next_request(number, now(), script)?;
            }
            return Ok(());
        };
        while self.next_due <= time
            && !script.is_done()
            && let Some(number) = self.idle.pop_front()
        {
            let due = self.next_due;
            self.next_due += Duration::from_secs_f64(1.0 / rate);
            self.next_request(number, due, script)?;
        }
        Ok(())
    }

    fn next_request(&mut self, number: usize, due: Instant, script: &mut dyn Script) -> Result<()> {
        let connection = &mut self.connections[number];
        connection.out.clear();
        connection.written = 0;
        script.next_request(number, &mut connection.out);
        connection.due = due;
        connection.is_asking = true;
        self.write(number)
    }

    fn write(&mut self, number: usize) -> Result<()> {
        let connection = &mut self.connections[number];
        while connection.written < connection.out.len() {
            match connection.stream.write(&connection.out[connection.written..]) {
                Ok(0) => return self.reconnect(number),
                Ok(written) => connection.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(_) => return self.reconnect(number),
            }
        }
        Ok(())
    }

    /// Reads the responses that have arrived at a socket.
    fn serve(&mut self, number: usize, script: &mut dyn Script) -> Result<()> {
        self.write(number)?;
        loop {
            let connection = &mut self.connections[number];
            match connection.stream.read(&mut self.buffer) {
                Ok(0) => return self.reconnect(number),
                Ok(read) => {
                    connection.input.extend_from_slice(&self.buffer[..read]);
                    self.on_response(number, script)?;
                    if read < READ {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(_) => return self.reconnect(number),
            }
        }
    }

    fn on_response(&mut self, number: usize, script: &mut dyn Script) -> Result<()> {
        let connection = &mut self.connections[number];
        let Parsed::Whole(response, length) = Response::parse(&connection.input)? else { return Ok(()) };
        let time = now();
        script.on_response(number, &response);
        if response.status < 400 {
            self.measured.last_body = Some(response.body.len());
        }
        // A response counts if it arrived (closed loop) or its request was due (open loop) after the warm-up.
        let counts_from = if self.load.rate.is_some() { connection.due } else { time };
        let is_counted = counts_from >= self.counted_from && time <= self.ends;
        if is_counted && connection.is_asking {
            *self.measured.statuses.entry(response.status).or_default() += 1;
            if response.status < 400 {
                let nanos = time.saturating_duration_since(connection.due).as_nanos();
                self.measured.latency.saturating_record(u64::try_from(nanos).unwrap_or(LONGEST));
            }
        }
        let closes = response.closes;
        connection.input.drain(..length);
        connection.is_asking = false;
        if closes {
            let stream = self.connect(number)?;
            self.connections[number].stream = stream;
        }
        // In a closed loop the connection sends its next request at once and is never idle.
        if self.load.rate.is_none() && !script.is_done() && time < self.ends {
            return self.next_request(number, now(), script);
        }
        self.idle.push_back(number);
        Ok(())
    }

    /// Reconnects after a broken connection and repeats the request. The time of the reconnect counts as latency.
    fn reconnect(&mut self, number: usize) -> Result<()> {
        let stream = self.connect(number)?;
        let connection = &mut self.connections[number];
        connection.stream = stream;
        connection.input.clear();
        connection.written = 0;
        if connection.is_asking { self.write(number) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::{Get, Pick};
    use std::net::TcpListener;

    /// Script that sends a fixed number of requests.
    struct Times(usize, Get);

    impl Script for Times {
        fn next_request(&mut self, connection: usize, out: &mut Vec<u8>) {
            self.0 -= 1;
            self.1.next_request(connection, out);
        }

        fn is_done(&self) -> bool {
            self.0 == 0
        }
    }

    /// Accepts one connection and sends these responses.
    fn serve(listener: &TcpListener, answers: &[(u16, &str)]) {
        let (mut stream, _) = listener.accept().unwrap();
        for (status, body) in answers {
            let mut input = Vec::new();
            while !input.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                input.extend_from_slice(&byte);
            }
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    }

    #[test]
    fn the_last_body_is_that_of_a_good_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let load = Load {
            address: listener.local_addr().unwrap(),
            connections: 1,
            rate: None,
            warm_up: Duration::ZERO,
            length: Duration::from_mins(1),
        };
        let mut script = Times(3, Get::paths(std::iter::once("/".to_owned()), Pick::InTurn));
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| serve(&listener, &[(200, "a"), (200, "four"), (503, "refused")]));
            drive(&load, &mut script).unwrap()
        });

        assert_eq!(seen.last_body, Some(4));
        assert_eq!(seen.refused().collect::<Vec<_>>(), [(503, 1)]);
    }
}
