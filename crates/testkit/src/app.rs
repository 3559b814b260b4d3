//! The service that a test runs, with its clock, mailbox and background jobs.

use std::net::TcpListener as StdListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use latchkey_service::Service;
use latchkey_store::Store;
use latchkey_store_suite::cluster::TestDatabase;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::browser::Browser;
use crate::builder::{ADMIN_KEY, TestAppBuilder};
use crate::client::{Client, Wire};
use crate::entropy::SeededEntropy;
use crate::instance::{Instance, RestartState};
use crate::mails::{Mail, MailReader};
use crate::session::Session;
use crate::storage::{Storage, temporary_folder};
use crate::time::ManualClock;

/// Complete service in this process, on a port of 127.0.0.1. Background workers do not run by themselves: a test calls
/// [`TestApp::run_jobs`].
pub struct TestApp {
    /// The service's clock.
    pub clock: ManualClock,
    plan: TestAppBuilder,
    restart_state: RestartState,
    /// `None` only during a restart.
    instance: Option<Instance>,
    wire: Arc<Wire>,
    count: AtomicU64,
}

impl TestApp {
    /// Returns a builder with the defaults of tests.
    #[must_use]
    pub fn builder() -> TestAppBuilder {
        TestAppBuilder::default()
    }

    pub(crate) async fn start(plan: TestAppBuilder) -> Self {
        let restart_state = RestartState {
            folder: Arc::new(temporary_folder()),
            data: Arc::new(if plan.is_far { Storage::new_far_data() } else { plan.storage.new_data() }),
            clock: ManualClock::default(),
            entropy: SeededEntropy::new(plan.seed),
            mails: latchkey_mail::MemoryTransport::new(),
            socket: new_socket(),
        };
        Self::on(plan, restart_state).await
    }

    async fn on(plan: TestAppBuilder, restart_state: RestartState) -> Self {
        let address = restart_state.socket.local_addr().unwrap();
        let wire = Arc::new(Wire::new(address, plan.config.site.origin()));
        let instance = Instance::start(&plan, &restart_state).await;
        Self {
            clock: restart_state.clock.clone(),
            plan,
            restart_state,
            instance: Some(instance),
            wire,
            count: AtomicU64::new(1),
        }
    }

    /// Starts another instance on the same database, clock and mailbox, on another port.
    pub async fn beside(&self) -> Self {
        let restart_state = RestartState {
            folder: Arc::clone(&self.restart_state.folder),
            data: Arc::clone(&self.restart_state.data),
            clock: self.clock.clone(),
            entropy: self.restart_state.entropy.clone(),
            mails: self.restart_state.mails.clone(),
            socket: new_socket(),
        };
        Self::on(self.plan.clone(), restart_state).await
    }

    /// Restarts the service on the same data, secret and port. Clients reconnect.
    pub async fn restart(&mut self) {
        self.restart_with(|plan| plan).await;
    }

    /// Restarts with changed settings.
    pub async fn restart_with(&mut self, change: impl FnOnce(TestAppBuilder) -> TestAppBuilder) {
        if let Some(old) = self.instance.take() {
            old.stop().await;
        }
        self.plan = change(self.plan.clone());
        self.wire.reconnect(self.plan.config.site.origin());
        self.instance = Some(Instance::start(&self.plan, &self.restart_state).await);
    }

    /// Shuts the service down as on SIGTERM; returns the number of connections that had to be cut.
    pub async fn shutdown(mut self) -> usize {
        self.instance.take().expect("a running service").stop().await
    }

    /// Runs each background worker once: delivers due mails, loads changes of other instances, purges expired rows.
    pub async fn run_jobs(&self) {
        self.service().outbox.deliver_due().await.expect("mails that can be claimed");
        self.service().shared.sync().await.expect("shared state that can be read");
        self.service().search.follow().await.expect("changes that can be read");
        self.service().instances.report().await.expect("an instance that can be written");
        self.service().upkeep.record_refusals().await.expect("events that can be written");
        self.service().upkeep.count_statistics_if_due().await.expect("counts that can be written");
        self.service().passwords.learn_classes().await.expect("counts that can be read");
        self.service().passwords.wrap_digests().await.expect("digests that can be wrapped");
        self.service().upkeep.purge().await.expect("rows that can be deleted");
    }

    /// Mailbox with the mails sent so far.
    #[must_use]
    pub fn mail(&self) -> MailReader {
        MailReader::new(self.restart_state.mails.clone())
    }

    /// Runs the background workers once, then returns the newest mail to this address.
    pub async fn mail_to(&self, address: &str) -> Mail {
        self.run_jobs().await;
        self.mail().last(address)
    }

    /// Client without credentials, at 127.0.0.1.
    #[must_use]
    pub fn anon(&self) -> Client {
        Client::new(Arc::clone(&self.wire))
    }

    /// Browser for the hosted pages, at 127.0.0.1.
    #[must_use]
    pub fn browser(&self) -> Browser {
        Browser::new(self.anon(), self.public_url())
    }

    /// Client with the admin key.
    #[must_use]
    pub fn admin(&self) -> Client {
        self.bearing(ADMIN_KEY)
    }

    /// Client with this bearer token.
    #[must_use]
    pub fn bearing(&self, bearer: &str) -> Client {
        self.anon().with_bearer(bearer)
    }

    /// Client with the access token of this session.
    #[must_use]
    pub fn with_session(&self, session: &Session) -> Client {
        self.bearing(&session.access_token)
    }

    /// Email address that is unique within the test, such as `name-1@example.org`.
    #[must_use]
    pub fn unique_email(&self, name: &str) -> String {
        format!("{name}-{}@example.org", self.next_number())
    }

    /// TCP connection to the service, for requests that an HTTP client cannot send.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.restart_state.socket.local_addr().unwrap()).await.unwrap()
    }

    /// Sends raw bytes and reads until the server closes the connection. The request should contain `Connection:
    /// close`.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // An error is ignored, because the server may respond and close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Data folder of the service.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.restart_state.folder.path()
    }

    /// Database of the test, if it runs on PostgreSQL.
    #[must_use]
    pub fn database(&self) -> Option<&TestDatabase> {
        self.restart_state.data.database()
    }

    /// Database round trips since the last call, if the app was built to count them.
    #[must_use]
    pub fn round_trips(&self) -> usize {
        self.restart_state.data.round_trips().expect("an app that counts round trips").take()
    }

    /// Returns all stored bytes: those of the SQLite files, or of all rows of the PostgreSQL database.
    #[must_use]
    pub fn kept(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder()).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap());
        files.chain(self.database().map(TestDatabase::bytes).unwrap_or_default()).collect()
    }

    /// Opens the stored data once more, for what no request can store.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.restart_state.data.open(self.folder())
    }

    /// Public URL of the service, without a trailing slash.
    #[must_use]
    pub fn public_url(&self) -> &str {
        self.plan.config.site.origin()
    }

    /// The [`Service`] itself, for operations that have no endpoint, such as key rotation.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.instance.as_ref().expect("a running service").service
    }

    /// Largest number of series that the metrics can have.
    #[must_use]
    pub fn most_series(&self) -> usize {
        self.instance.as_ref().expect("a running service").metrics.most_series()
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

fn new_socket() -> StdListener {
    let socket = StdListener::bind("127.0.0.1:0").expect("a free port");
    socket.set_nonblocking(true).unwrap();
    socket
}
