//! The app of a test: a running service and the handles on its clock, its mailbox and its jobs.

use std::net::TcpListener as StdListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use latchkey_service::Service;
use latchkey_store_suite::cluster::TestDatabase;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::builder::{ADMIN_KEY, TestAppBuilder};
use crate::client::{Client, Wire};
use crate::entropy::SeededEntropy;
use crate::instance::{Ground, Instance};
use crate::mails::{Mail, MailReader};
use crate::session::Session;
use crate::storage::{Storage, temporary_folder};
use crate::time::ManualClock;

/// A whole service, in this process, on a port of 127.0.0.1. No job runs by itself: mail leaves and old rows go when
/// the test says so.
pub struct TestApp {
    /// The service's time.
    pub clock: ManualClock,
    plan: TestAppBuilder,
    ground: Ground,
    /// Empty only in the midst of a restart.
    instance: Option<Instance>,
    wire: Arc<Wire>,
    count: AtomicU64,
}

impl TestApp {
    /// What a test may say about its service before it starts.
    #[must_use]
    pub fn builder() -> TestAppBuilder {
        TestAppBuilder::default()
    }

    pub(crate) async fn start(plan: TestAppBuilder) -> Self {
        let ground = Ground {
            folder: Arc::new(temporary_folder()),
            data: Arc::new(if plan.is_far { Storage::new_far_data() } else { plan.storage.new_data() }),
            clock: ManualClock::default(),
            entropy: SeededEntropy::new(plan.seed),
            mails: latchkey_mail::MemoryTransport::new(),
            socket: new_socket(),
        };
        Self::on(plan, ground).await
    }

    async fn on(plan: TestAppBuilder, ground: Ground) -> Self {
        let address = ground.socket.local_addr().unwrap();
        let wire = Arc::new(Wire::new(address, plan.config.site.origin()));
        let instance = Instance::start(&plan, &ground).await;
        Self {
            clock: ground.clock.clone(),
            plan,
            ground,
            instance: Some(instance),
            wire,
            count: AtomicU64::new(1),
        }
    }

    /// A second service on the same database, clock and mailbox, with a port of its own.
    pub async fn beside(&self) -> Self {
        let ground = Ground {
            folder: Arc::clone(&self.ground.folder),
            data: Arc::clone(&self.ground.data),
            clock: self.clock.clone(),
            entropy: self.ground.entropy.clone(),
            mails: self.ground.mails.clone(),
            socket: new_socket(),
        };
        Self::on(self.plan.clone(), ground).await
    }

    /// Stops the service and starts another on the same data, secret and port. Clients go on.
    pub async fn restart(&mut self) {
        self.restart_with(|plan| plan).await;
    }

    /// The same with other settings.
    pub async fn restart_with(&mut self, change: impl FnOnce(TestAppBuilder) -> TestAppBuilder) {
        if let Some(old) = self.instance.take() {
            old.stop().await;
        }
        self.plan = change(self.plan.clone());
        self.wire.reconnect(self.plan.config.site.origin());
        self.instance = Some(Instance::start(&self.plan, &self.ground).await);
    }

    /// Stops the service as on SIGTERM; answers how many connections had to be cut.
    pub async fn shutdown(mut self) -> usize {
        self.instance.take().expect("a running service").stop().await
    }

    /// Does what the background workers do, once: sends the mails that are due, takes over what other instances
    /// changed, deletes what is past its use.
    pub async fn run_jobs(&self) {
        self.service().outbox.deliver_due().await.expect("mails that can be claimed");
        self.service().shared.sync().await.expect("shared state that can be read");
        self.service().search.follow().await.expect("changes that can be read");
        self.service().upkeep.record_refusals().await.expect("events that can be written");
        self.service().upkeep.purge().await.expect("rows that can be deleted");
    }

    /// The mailbox, with what was sent so far.
    #[must_use]
    pub fn mail(&self) -> MailReader {
        MailReader::new(self.ground.mails.clone())
    }

    /// Runs the jobs, then takes the newest mail to this address.
    pub async fn mail_to(&self, address: &str) -> Mail {
        self.run_jobs().await;
        self.mail().last(address)
    }

    /// Somebody without credentials, at 127.0.0.1.
    #[must_use]
    pub fn anon(&self) -> Client {
        Client::new(Arc::clone(&self.wire))
    }

    /// An admin.
    #[must_use]
    pub fn admin(&self) -> Client {
        self.bearing(ADMIN_KEY)
    }

    /// Somebody with this bearer.
    #[must_use]
    pub fn bearing(&self, bearer: &str) -> Client {
        self.anon().with_bearer(bearer)
    }

    /// Somebody with the access token of this session.
    #[must_use]
    pub fn with_session(&self, session: &Session) -> Client {
        self.bearing(&session.access_token)
    }

    /// An address that no other call of this test gets: `name-1@example.org`.
    #[must_use]
    pub fn unique_email(&self, name: &str) -> String {
        format!("{name}-{}@example.org", self.next_number())
    }

    /// A connection to the service, for what no HTTP client would do.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.ground.socket.local_addr().unwrap()).await.unwrap()
    }

    /// Sends bytes as they are and reads until the server closes: for what no HTTP client would send. Ask for
    /// `Connection: close`.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The server may refuse and close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Where the service keeps its data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.ground.folder.path()
    }

    /// The test's database, where it is on PostgreSQL.
    #[must_use]
    pub fn database(&self) -> Option<&TestDatabase> {
        self.ground.data.database()
    }

    /// The round trips to the database since the last call, where the app was built to count them.
    #[must_use]
    pub fn round_trips(&self) -> usize {
        self.ground.data.round_trips().expect("an app that counts round trips").take()
    }

    /// Every byte that the service keeps: of its files, or of its rows.
    #[must_use]
    pub fn kept(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder()).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap());
        files.chain(self.database().map(TestDatabase::bytes).unwrap_or_default()).collect()
    }

    /// The address under which clients believe to reach the service, without a trailing slash.
    #[must_use]
    pub fn public_url(&self) -> &str {
        self.plan.config.site.origin()
    }

    /// The use cases behind the socket, for what has no HTTP call, such as rotating keys.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.instance.as_ref().expect("a running service").service
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
