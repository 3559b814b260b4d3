//! An in-process SMTP server for tests: accepts all mails, or fails as scripted. No queue, limits or
//! validation.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// An accepted mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The address in `MAIL FROM`.
    pub from: String,
    /// The addresses in `RCPT TO`.
    pub to: Vec<String>,
    /// The mail after dot-unstuffing.
    pub data: Vec<u8>,
    /// Argument of `AUTH`, as sent.
    pub auth: Option<String>,
    /// True if it was sent over TLS.
    pub over_tls: bool,
}

/// A stage of the session at which a script can intervene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the greeting.
    Greeting,
    /// `EHLO`.
    Ehlo,
    /// `STARTTLS`.
    StartTls,
    /// `AUTH`.
    Auth,
    /// `MAIL FROM`.
    Mail,
    /// `RCPT TO`.
    Rcpt,
    /// `DATA`.
    Data,
    /// After the end of the mail.
    Content,
}

/// Scripted behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Replies with this line, for example `451 4.7.1 later`.
    Answer(String),
    /// Closes the connection without a reply.
    HangUp,
    /// Never answers.
    Silence,
}

/// A scripted step, executed once at the first such stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Stage of the session.
    pub at: Moment,
    /// Behaviour at that stage.
    pub act: Act,
}

impl Step {
    /// Replies with `line` at that stage.
    #[must_use]
    pub fn answer(at: Moment, line: impl Into<String>) -> Self {
        Self { at, act: Act::Answer(line.into()) }
    }

    /// Closes the connection at that stage.
    #[must_use]
    pub const fn hang_up(at: Moment) -> Self {
        Self { at, act: Act::HangUp }
    }

    /// Stops replying at that stage.
    #[must_use]
    pub const fn silence(at: Moment) -> Self {
        Self { at, act: Act::Silence }
    }
}

/// Configuration of a sink.
#[derive(Clone, Default)]
pub struct SinkOptions {
    /// Port on 127.0.0.1; 0 selects a free one.
    pub port: u16,
    /// Offers and requires AUTH PLAIN.
    pub login: bool,
    /// Server certificate; enables STARTTLS.
    pub tls: Option<Arc<ServerConfig>>,
    /// With `tls`: implicit TLS instead of STARTTLS.
    pub implicit_tls: bool,
}

/// A running sink, stopped on drop.
pub struct SmtpSink {
    port: u16,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    options: SinkOptions,
    script: Mutex<VecDeque<Step>>,
    mails: watch::Sender<Vec<Received>>,
    connections: watch::Sender<usize>,
}

impl SmtpSink {
    /// Starts a plain-text sink on a free port of 127.0.0.1.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(SinkOptions::default()).await
    }

    /// Starts a sink.
    pub async fn start_with(options: SinkOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            options,
            script: Mutex::default(),
            mails: watch::Sender::default(),
            connections: watch::Sender::default(),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { port, shared, task })
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Accepted mails, oldest first.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.mails.borrow().clone()
    }

    /// Waits until `count` mails were accepted. Callers add a timeout.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let mut mails = self.shared.mails.subscribe();
        let enough = mails.wait_for(|mails| mails.len() >= count).await;
        enough.map(|mails| mails.clone()).unwrap_or_default()
    }

    /// Number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        *self.shared.connections.borrow()
    }

    /// Stops the sink and frees its port for another one.
    pub async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    /// Adds steps to the script.
    pub fn script(&self, steps: impl IntoIterator<Item = Step>) {
        self.shared.steps().extend(steps);
    }
}

impl Drop for SmtpSink {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn steps(&self) -> MutexGuard<'_, VecDeque<Step>> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next scripted behaviour for this stage.
    fn act(&self, at: Moment) -> Option<Act> {
        let mut steps = self.steps();
        let index = steps.iter().position(|step| step.at == at)?;
        steps.remove(index).map(|step| step.act)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut conversations = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.send_modify(|count| *count += 1);
        let shared = Arc::clone(&shared);
        // Some tests break sessions off on purpose.
        conversations.spawn(async move { serve(stream, &shared).await.ok() });
    }
}

async fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let acceptor = shared.options.tls.clone().map(TlsAcceptor::from);
    if let (true, Some(acceptor)) = (shared.options.implicit_tls, &acceptor) {
        let mut conversation = Conversation::new(acceptor.accept(stream).await?, true, shared);
        conversation.greet().await?;
        return conversation.run().await.map(drop);
    }

    let mut conversation = Conversation::new(stream, false, shared);
    conversation.greet().await?;
    let End::Upgrade = conversation.run().await? else { return Ok(()) };
    let Some(acceptor) = acceptor else { return Ok(()) };
    let stream = acceptor.accept(conversation.stream.into_inner()).await?;
    Conversation::new(stream, true, shared).run().await.map(drop)
}

/// End of a session.
enum End {
    Closed,
    Upgrade,
}

struct Conversation<'a, S> {
    stream: BufStream<S>,
    over_tls: bool,
    shared: &'a Shared,
    auth: Option<String>,
    from: String,
    to: Vec<String>,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Conversation<'a, S> {
    fn new(stream: S, over_tls: bool, shared: &'a Shared) -> Self {
        let stream = BufStream::new(stream);
        Self { stream, over_tls, shared, auth: None, from: String::new(), to: Vec::new() }
    }

    async fn greet(&mut self) -> io::Result<()> {
        self.reply(Moment::Greeting, "220 sink.test ESMTP").await.map(drop)
    }

    async fn run(&mut self) -> io::Result<End> {
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).await? == 0 {
                return Ok(End::Closed);
            }
            let line = line.trim_end();
            let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            match verb.as_str() {
                "EHLO" => drop(self.reply(Moment::Ehlo, &self.offer()).await?),
                "STARTTLS" if self.reply(Moment::StartTls, "220 go ahead").await? => return Ok(End::Upgrade),
                "STARTTLS" => {}
                "AUTH" => {
                    if self.reply(Moment::Auth, "235 2.7.0 welcome").await? {
                        self.auth = Some(line["AUTH".len()..].trim().to_owned());
                    }
                }
                "MAIL" => self.mail(line).await?,
                "RCPT" => {
                    if self.reply(Moment::Rcpt, "250 2.1.5 ok").await? {
                        self.to.push(address(line));
                    }
                }
                "DATA" => self.data().await?,
                "QUIT" => {
                    self.say("221 2.0.0 bye").await?;
                    return Ok(End::Closed);
                }
                "NOOP" | "RSET" => self.say("250 2.0.0 ok").await?,
                _ => self.say("502 5.5.1 unknown").await?,
            }
        }
    }

    fn offer(&self) -> String {
        let mut lines = vec!["sink.test", "8BITMIME"];
        if self.shared.options.tls.is_some() && !self.over_tls {
            lines.push("STARTTLS");
        }
        if self.shared.options.login {
            lines.push("AUTH PLAIN");
        }
        let last = lines.len() - 1;
        let mark = |index| if index == last { ' ' } else { '-' };
        let lines: Vec<String> =
            lines.iter().enumerate().map(|(index, line)| format!("250{}{line}", mark(index))).collect();
        lines.join("\r\n")
    }

    async fn mail(&mut self, line: &str) -> io::Result<()> {
        if self.shared.options.login && self.auth.is_none() {
            return self.say("530 5.7.0 log in first").await;
        }
        if self.reply(Moment::Mail, "250 2.1.0 ok").await? {
            self.from = address(line);
            self.to.clear();
        }
        Ok(())
    }

    async fn data(&mut self) -> io::Result<()> {
        if !self.reply(Moment::Data, "354 go on").await? {
            return Ok(());
        }
        let mut data = Vec::new();
        loop {
            let mut line = Vec::new();
            if self.stream.read_until(b'\n', &mut line).await? == 0 {
                return Ok(());
            }
            if line == b".\r\n" {
                break;
            }
            data.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
        }
        let received = Received {
            from: self.from.clone(),
            to: std::mem::take(&mut self.to),
            data,
            auth: self.auth.clone(),
            over_tls: self.over_tls,
        };
        // Stored before the reply, so that a client with the reply finds the mail; removed if the reply is
        // negative.
        let act = self.shared.act(Moment::Content);
        if act.is_none() {
            self.shared.mails.send_modify(|mails| mails.push(received));
        }
        self.perform(act, "250 2.0.0 taken").await.map(drop)
    }

    /// Replies as scripted, or positively; returns true if positively.
    async fn reply(&mut self, at: Moment, kind_answer: &str) -> io::Result<bool> {
        let act = self.shared.act(at);
        self.perform(act, kind_answer).await
    }

    async fn perform(&mut self, act: Option<Act>, kind_answer: &str) -> io::Result<bool> {
        match act {
            None => self.say(kind_answer).await.map(|()| true),
            Some(Act::Answer(line)) => self.say(&line).await.map(|()| false),
            Some(Act::HangUp) => Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Act::Silence) => {
                // Until the client disconnects.
                tokio::io::copy(&mut (&mut self.stream).take(u64::MAX), &mut tokio::io::sink()).await?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
        }
    }

    async fn say(&mut self, line: &str) -> io::Result<()> {
        self.stream.write_all(line.as_bytes()).await?;
        self.stream.write_all(b"\r\n").await?;
        self.stream.flush().await
    }
}

/// Address between `<` and `>`.
fn address(line: &str) -> String {
    let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map(|(address, _)| address.to_owned()).unwrap_or_default()
}
