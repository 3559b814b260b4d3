//! A running instance of the service: its business logic ([`Service`]), its router, and the server loop on
//! its socket.

use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use latchkey_hosted::{Console, ConsoleParts, Entry, Hosted, PageKeys, page_routes, routers};
use latchkey_http::app::App;
use latchkey_http::metrics::{self, HttpMetrics};
use latchkey_http::middleware::Middleware;
use latchkey_http::serve::serve;
use latchkey_mail::{
    FileTransport, MemoryTransport, SmtpSettings, SmtpTransport, Templates, TlsMode, Transport,
};
use latchkey_metrics::Registry;
use latchkey_pages::{Languages, Links, Pages, Site, Theme, console as templates};
use latchkey_service::entropy::Entropy;
use latchkey_service::secrets::ServerSecret;
use latchkey_service::settings::BaseSettings;
use latchkey_service::{Mailer, Service, ServiceParts};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::builder::{MailTransport, TestAppBuilder};
use crate::console::{ConsolePlan, Listener};
use crate::entropy::SeededEntropy;
use crate::storage::Data;
use crate::time::ManualClock;

pub(crate) const SECRET: &[u8] = b"the server secret of all tests, 32 bytes and more";

/// State of an instance that survives a restart.
pub(crate) struct RestartState {
    pub(crate) folder: Arc<tempfile::TempDir>,
    pub(crate) data: Arc<Data>,
    pub(crate) clock: ManualClock,
    pub(crate) entropy: SeededEntropy,
    pub(crate) mails: MemoryTransport,
    /// Socket that stays open during a restart, to reserve the port. The server listens on a
    /// duplicate.
    pub(crate) socket: StdListener,
}

/// Running instance of the service.
pub struct Instance {
    pub(crate) service: Arc<Service>,
    pub(crate) metrics: Arc<Registry>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<usize>,
}

impl Instance {
    pub(crate) async fn start(plan: &TestAppBuilder, restart_state: &RestartState) -> Self {
        let mut config = plan.config.clone();
        config.relying_party.cors_origins = vec![plan.http.public_origin()];
        config.relying_party.cors_origins.extend(plan.cors_origins.iter().cloned());
        let parts = ServiceParts {
            config,
            base_settings: base_settings(plan),
            store: restart_state.data.open(restart_state.folder.path()),
            clock: Arc::new(restart_state.clock.clone()),
            entropy: Arc::new(restart_state.entropy.clone()),
            secret: ServerSecret::new(plan.secret.to_vec()).unwrap(),
            mailer: Mailer {
                templates: Templates::embedded().unwrap(),
                transport: transport(plan, restart_state),
            },
            oauth: plan.oauth.clone(),
        };
        let service = Arc::new(Service::start(parts).await.expect("a service that starts"));
        service.search.follow().await.expect("an index of the profiles");

        let metrics = Arc::new(HttpMetrics::new(metrics::routes().chain(page_routes())));
        let registry = Arc::new(Registry::default());
        registry.add(Arc::clone(&metrics) as _);
        registry.add(Arc::clone(&service) as _);
        let app = App::new(Arc::clone(&service), plan.http.clone(), plan.cors_origins.clone());
        let app = app.with_metrics(Arc::clone(&registry));
        let middleware =
            Middleware::new(Arc::clone(&app.settings), app.origins.clone(), Arc::new(counted_ids()))
                .with_metrics(metrics);
        let secret = ServerSecret::new(plan.secret.to_vec()).unwrap();
        let keys = Arc::new(PageKeys::derive(&secret).expect("keys"));
        let hosted = plan.has_pages.then(|| {
            Hosted::new(
                Arc::clone(&service),
                Arc::clone(&app.settings),
                Arc::new(pages()),
                Arc::new(restart_state.entropy.clone()),
                Arc::clone(&keys),
            )
        });
        let console = plan.console.as_ref().map(|console_plan| {
            let entropy = Arc::new(restart_state.entropy.clone());
            console_of(&service, &app, (entropy, keys), entry(plan, console_plan))
        });
        let routers = routers(app, hosted, console, &middleware);
        let listener = plan.console.as_ref().and_then(|console| console.listener);
        let is_own = listener == Some(Listener::Console);
        let router = routers.console.filter(|_| is_own).unwrap_or(routers.main);

        let listener = TcpListener::from_std(restart_state.socket.try_clone().unwrap()).unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(serve(vec![listener], router, plan.serve.clone(), async {
            let _ = stopped.await; // an error means that the app was dropped, which stops it too
        }));
        Self { service, metrics: registry, stop, server }
    }

    /// Shuts the instance down as on SIGTERM. Returns the number of connections that had to be cut.
    pub(crate) async fn stop(self) -> usize {
        let _ = self.stop.send(());
        self.server.await.expect("a server that stops")
    }
}

fn transport(plan: &TestAppBuilder, restart_state: &RestartState) -> Option<Transport> {
    match plan.mail {
        MailTransport::Memory => Some(Transport::Memory(restart_state.mails.clone())),
        MailTransport::Files => {
            let folder = restart_state.folder.path().join("mails");
            Some(Transport::File(FileTransport::new(&folder).expect("a folder for mails")))
        }
        MailTransport::Smtp(port) => {
            let settings = SmtpSettings { tls: TlsMode::Plain, ..SmtpSettings::new("127.0.0.1", port) };
            let transport = SmtpTransport::new(settings).unwrap_or_else(|error| panic!("{error}"));
            Some(Transport::Smtp(transport))
        }
        MailTransport::None => None,
    }
}

fn base_settings(plan: &TestAppBuilder) -> BaseSettings {
    let origin = plan.config.site.origin();
    let mut own_targets = if plan.has_pages { latchkey_hosted::own_targets(origin) } else { Vec::new() };
    if !plan.config.operators.providers.is_empty() {
        let console = plan.config.site.console_url.origin().ascii_serialization();
        own_targets.extend(latchkey_hosted::console_target(&console));
    }
    BaseSettings { own_targets, ..plan.base.clone() }
}

fn pages() -> Pages {
    let site = Site { name: "Latchkey".to_owned(), links: Links::default() };
    Pages::new(site, &Theme::default(), Languages::built_in().with_pseudo()).expect("templates")
}

fn entry(plan: &TestAppBuilder, console: &ConsolePlan) -> Entry {
    Entry {
        public_url: console.public_url.clone().unwrap_or_else(|| plan.http.public_url.clone()),
        allowed_networks: console.allowed_networks.clone(),
        has_own_listener: console.listener.is_some(),
    }
}

fn console() -> templates::Console {
    let instance = templates::Instance {
        name: "Latchkey".to_owned(),
        mode: templates::Mode::Development,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    templates::Console::new(&instance, &Theme::default()).expect("templates")
}

/// Returns a generator of sequential request ids, which does not use the test's random numbers.
fn counted_ids() -> impl Fn() -> Uuid + Send + Sync {
    let next = AtomicU64::new(1);
    move || Uuid::from_u128(next.fetch_add(1, Ordering::Relaxed).into())
}

/// Builds the console of an instance.
fn console_of(
    service: &Arc<Service>,
    app: &App,
    (entropy, keys): (Arc<dyn Entropy>, Arc<PageKeys>),
    entry: Entry,
) -> Console {
    Console::new(ConsoleParts {
        service: Arc::clone(service),
        settings: Arc::clone(&app.settings),
        templates: Arc::new(console()),
        entropy,
        keys,
        entry,
        has_passkeys: true,
        warnings: vec!["a warning of the tests".to_owned()],
    })
}
