//! Command `latchkey serve`: start, listeners and shutdown. The workers are in [`crate::workers`].

use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use latchkey_hosted::{Console, ConsoleParts, Hosted, Routers, routers};
use latchkey_http::app::App;
use latchkey_http::middleware::Middleware;
use latchkey_http::origin::OriginPolicy;
use latchkey_http::readiness_gate::not_ready;
use latchkey_pages::{Pages, console};
use latchkey_service::Service;
use latchkey_service::entropy::SystemEntropy;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::backups::{self, schedule::Schedule};
use crate::banner::banner;
use crate::listeners::{Gates, Listeners};
use crate::metrics::Metrics;
use crate::settings::{MailTransport, Settings, StorageUrl, passkey_origin_warnings, redirect_warnings};
use crate::signals::{Ending, Endings};
use crate::storage::OpenedBy;
use crate::wiring::{self, Assembly, WiringError, assemble, http_settings, serve_settings};
use crate::workers;

/// Time that the start may take before the listeners accept connections and answer 503.
const SHORT_WAIT: Duration = Duration::from_millis(300);

/// Time that the workers (background loops, such as the delivery of mails) get at shutdown to finish what they are
/// doing.
const WORKERS_END: Duration = Duration::from_secs(10);

/// Reason for which the service did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A part of the service could not be built from the settings.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// The service cannot listen on the configured address.
    #[error("{key}: cannot listen on {address}: {source}")]
    Bind {
        /// Key of the setting with the address.
        key: &'static str,
        address: SocketAddr,
        source: io::Error,
    },
    /// Signal handlers cannot be installed.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    /// The secret of the database was replaced while the service ran.
    #[error(
        "server.secret: it was replaced in the database by `latchkey secret rotate` while this process ran, so it has \
         stopped: start it with the new secret"
    )]
    SecretReplaced,
}

/// Runs the service until SIGTERM, SIGINT or SIGHUP, then finishes the requests in flight and stops. Until the database
/// is reachable, all requests get 503. It also stops, with an error, when the secret of the database is replaced.
pub async fn serve(settings: Settings) -> Result<(), ServeError> {
    let stopping = Stopping::default();
    Box::pin(serve_until(settings, &stopping)).await?;
    if stopping.is_for_another_secret() { Err(ServeError::SecretReplaced) } else { Ok(()) }
}

async fn serve_until(settings: Settings, stopping: &Stopping) -> Result<(), ServeError> {
    let stop_signal =
        stop_signal(stopping.clone(), settings.server.stop_delay).map_err(ServeError::Signals)?;
    let listeners = Listeners::open(&settings).await?;
    let addresses =
        Addresses { main: listeners.addresses(), metrics: listeners.metrics_addresses().first().copied() };
    let settings = match addresses.main.first() {
        Some(address) => settings.bound_to(*address, listeners.console_addresses().first().copied()),
        None => settings,
    };
    for warning in settings.warnings() {
        tracing::warn!("{warning}");
    }

    let templates = Rendering {
        pages: wiring::pages(&settings)?.map(Arc::new),
        console: wiring::console(&settings)?.map(Arc::new),
    };
    let metrics = Metrics::new();
    let mut assembling = pin!(assemble(&settings, OpenedBy::Service));
    let Ok(assembly) = timeout(SHORT_WAIT, &mut assembling).await else {
        let listening = (listeners, &addresses);
        let stop = (stop_signal, stopping);
        return serve_closed(&settings, templates, &metrics, listening, assembling, stop).await;
    };
    let assembly = assembly?;
    let routes = layered_routers(&assembly, &settings, templates, &metrics, stopping);
    let exposition = metrics.listener(&plain_middleware(&settings));
    // Requests are answered while the workers start.
    let serving = listeners.serve(routes, exposition, serve_settings(&settings), stop_signal);
    let ((), running) = tokio::join!(serving, Running::start(&settings, &addresses, assembly, stopping));
    running.end().await;
    Ok(())
}

/// The addresses of the listeners that the banner names.
struct Addresses {
    main: Vec<SocketAddr>,
    metrics: Option<SocketAddr>,
}

/// The compiled templates; `None` of what is off.
struct Rendering {
    pages: Option<Arc<Pages>>,
    console: Option<Arc<console::Console>>,
}

/// Answers 503 until the database is open and the service is built, then passes requests to the service.
async fn serve_closed(
    settings: &Settings,
    templates: Rendering,
    metrics: &Metrics,
    (listeners, addresses): (Listeners, &Addresses),
    assembling: impl Future<Output = Result<Assembly, WiringError>>,
    (stop_signal, stopping): (impl Future<Output = ()>, &Stopping),
) -> Result<(), ServeError> {
    let listening: Vec<_> = addresses.main.iter().map(ToString::to_string).collect();
    tracing::info!(listening = listening.join(", "), "answering 503 until the database is there");
    let gates = Gates::default();
    let middleware = plain_middleware(settings);
    let unready = middleware.clone().with_metrics(Arc::clone(&metrics.requests)).wrap(not_ready());
    let routes = gates.before(&unready);
    let (close, closed) = oneshot::channel::<()>();
    let exposition = metrics.listener(&middleware);
    let server = tokio::spawn(listeners.serve(routes, exposition, serve_settings(settings), async {
        let _ = closed.await; // an error means that the sender is gone, which ends the service too
    }));

    let mut stop_signal = pin!(stop_signal);
    let outcome = tokio::select! {
        assembly = assembling => assembly.map(Some),
        () = &mut stop_signal => Ok(None),
    };
    let running = match outcome {
        Ok(Some(assembly)) => {
            // The readiness gate opens before the banner is printed: once the banner says "ready", requests must
            // succeed.
            gates.open(layered_routers(&assembly, settings, templates, metrics, stopping));
            let starting = Running::start(settings, addresses, assembly, stopping);
            Some(tokio::join!(starting, stop_signal).0)
        }
        Ok(None) => None,
        Err(error) => {
            drop(close);
            let _ = server.await; // an error changes nothing: the connections are closed already
            return Err(error.into());
        }
    };
    drop(close);
    let _ = server.await; // a panic of the server is in the log already
    if let Some(running) = running {
        running.end().await;
    } else {
        tracing::info!("stopped");
    }
    Ok(())
}

/// Handle of the running workers.
struct Running {
    workers: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Running {
    /// Prints the banner, unless a signal came meanwhile, and starts the workers.
    async fn start(
        settings: &Settings,
        addresses: &Addresses,
        assembly: Assembly,
        stopping: &Stopping,
    ) -> Self {
        let Assembly { service, storage, kept_admin_key, .. } = assembly;
        warn_of_stored_redirects(settings, &service);
        warn_of_unusable_passkeys(&service).await;
        // A database that cannot be read right now is reported elsewhere; the hint is left out.
        let has_operators = service.operators.list().await.map_or(true, |operators| !operators.is_empty());
        let Addresses { main, metrics } = addresses;
        let banner = banner(settings, &service, main, kept_admin_key.as_ref(), has_operators, *metrics);
        if !stopping.has_begun() {
            let _ = writeln!(io::stdout(), "{banner}"); // closed standard output is ignored: the service starts anyway
            log_started(settings, main);
        }
        let (stop, stopped) = watch::channel(false);
        let mut workers = workers::start(&service, storage.announcing, &stopped, &stopping.of_another_secret);
        match wiring::stored_secret(settings).map(|secret| Schedule::of(settings, secret)) {
            Ok(schedule) => schedule.into_iter().for_each(|one| one.start(&mut workers, &service, &stopped)),
            Err(error) => tracing::error!(%error, "no backups are made"),
        }
        Self { workers, stop }
    }

    /// Stops the workers (background loops) and waits until each has finished its current task, at most
    /// [`WORKERS_END`].
    async fn end(mut self) {
        let _ = self.stop.send(true); // fails only if all workers have ended
        let ended = async { while self.workers.join_next().await.is_some() {} };
        if timeout(WORKERS_END, ended).await.is_err() {
            tracing::warn!("a worker did not end in time; its mails go out after the next start");
        }
        // A backup that runs is not waited for; the next start makes it.
        backups::give_up();
        tracing::info!("stopped");
    }
}

/// Logs the configuration in use, for readers of the log who do not see the banner.
fn log_started(settings: &Settings, addresses: &[SocketAddr]) {
    let mail = &settings.mail;
    let (transport, mails) = match mail.transport {
        MailTransport::None => ("none", None),
        MailTransport::File => ("file", Some(mail.dir.display().to_string())),
        MailTransport::Smtp => ("smtp", Some(format!("{}:{}", settings.smtp.host, settings.smtp.port))),
    };
    let smtp_tls = match settings.smtp.tls {
        latchkey_mail::TlsMode::Starttls => "starttls",
        latchkey_mail::TlsMode::Tls => "tls",
        latchkey_mail::TlsMode::Plain => "none",
    };
    let (storage, storage_tls) = match &settings.storage.url {
        StorageUrl::Sqlite(_) => ("sqlite", None),
        StorageUrl::Postgres(url) => ("postgresql", Some(settings.postgres.options(url.reveal()).uses_tls())),
    };
    let listening: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        mode = settings.server.mode.as_str(),
        listening = listening.join(", "),
        protocol = "plain HTTP",
        public_url = %settings.server.public_url,
        storage,
        storage_tls,
        database = settings.storage.url.shown(),
        mail_transport = transport,
        mail_tls = (mail.transport == MailTransport::Smtp).then_some(smtp_tls),
        mails,
        "started"
    );
}

/// Logs warnings about redirect wildcards that an admin stored in the database. [`Settings::warnings`] covers the
/// configured ones.
fn warn_of_stored_redirects(settings: &Settings, service: &Service) {
    let in_force = service.settings();
    let configured = &settings.editable.allowed_redirect_urls;
    let is_stored = |entry: &&String| !configured.contains(entry);
    let stored: Vec<_> = in_force.values.allowed_redirect_urls.iter().filter(is_stored).cloned().collect();
    let related = service.passkeys.related_origins();
    let id =
        settings.passkeys.rp_id.as_deref().filter(|_| !stored.is_empty() && service.passkeys.is_offered());
    let origins = id.map(|id| passkey_origin_warnings(id, &related)).unwrap_or_default();
    for warning in redirect_warnings(&stored).chain(origins) {
        tracing::warn!("{warning}");
    }
}

/// Logs the number of passkeys that were registered for another domain than the one in the settings. They stay stored,
/// but are neither offered nor accepted.
async fn warn_of_unusable_passkeys(service: &Service) {
    match service.passkeys.count_unusable().await {
        Ok(0) => {}
        Ok(count) => tracing::warn!(
            count,
            "passkeys are unusable, because they were registered for another domain than passkeys.rp_id: set it back, or \
             tell their owners to register new ones"
        ),
        Err(error) => tracing::warn!(%error, "unusable passkeys cannot be counted"),
    }
}

/// Builds the middleware for routes that need no service: 503 until it is there, and the listener of the metrics.
fn plain_middleware(settings: &Settings) -> Middleware {
    let http = Arc::new(http_settings(settings));
    let listed = settings.server.cors_origins.clone();
    let is_listed = move |origin: &str| listed.iter().any(|known| known == origin);
    let origins = OriginPolicy::new(&http, Arc::new(is_listed));
    Middleware::new(http, origins, Arc::new(new_request_id)).without_proxy_warning()
}

fn layered_routers(
    assembly: &Assembly,
    settings: &Settings,
    templates: Rendering,
    metrics: &Metrics,
    stopping: &Stopping,
) -> Routers {
    stopping.is_serving.store(true, Ordering::Relaxed);
    metrics.add_service(&assembly.service);
    let app = App::new(
        Arc::clone(&assembly.service),
        http_settings(settings),
        settings.server.cors_origins.clone(),
    )
    .with_metrics(Arc::clone(&metrics.registry))
    .not_ready_while(Arc::clone(&stopping.has_begun));
    let middleware =
        Middleware::new(Arc::clone(&app.settings), app.origins.clone(), Arc::new(new_request_id))
            .with_metrics(Arc::clone(&metrics.requests));
    let pages = templates.pages.map(|pages| {
        Hosted::new(
            Arc::clone(&assembly.service),
            Arc::clone(&app.settings),
            pages,
            Arc::new(SystemEntropy),
            Arc::clone(&assembly.page_keys),
        )
    });
    let console = templates.console.map(|templates| {
        Console::new(ConsoleParts {
            service: Arc::clone(&assembly.service),
            settings: Arc::clone(&app.settings),
            templates,
            entropy: Arc::new(SystemEntropy),
            keys: Arc::clone(&assembly.page_keys),
            entry: wiring::console_entry(settings),
            has_passkeys: settings.console_has_passkeys(),
            warnings: settings.warnings(),
        })
    });
    routers(app, pages, console, &middleware)
}

/// Makes a request id (UUID v4). The generator uses the operating system only for its seed, see ADR 0025.
#[expect(clippy::disallowed_methods, reason = "a request id decides nothing; tests inject their own")]
fn new_request_id() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

/// Whether the service stops, and why. A service that stops is not called ready any more.
#[derive(Clone, Default)]
struct Stopping {
    has_begun: Arc<AtomicBool>,
    is_for_another_secret: Arc<AtomicBool>,
    /// True once requests reach the service. Before that, a stop has nothing to wait for.
    is_serving: Arc<AtomicBool>,
    /// Notified by the worker that finds the database sealed under another secret.
    of_another_secret: Arc<Notify>,
}

impl Stopping {
    fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    fn is_for_another_secret(&self) -> bool {
        self.is_for_another_secret.load(Ordering::Relaxed)
    }

    /// Waits for the next signal that ends the service; `None` if its secret is replaced earlier.
    async fn next_cause(&self, endings: &mut Endings) -> Option<Ending> {
        tokio::select! {
            signal = endings.next() => Some(signal),
            () = self.of_another_secret.notified() => None,
        }
    }
}

/// Returns a future that completes at the first signal that ends the service, or when its secret is replaced. Signal
/// handlers are installed at once, so that no signal is lost during the start. While requests are served, `delay` lies
/// between the signal and the completion; a second signal or a replaced secret ends it.
fn stop_signal(stopping: Stopping, delay: Duration) -> io::Result<impl Future<Output = ()>> {
    let mut endings = Endings::receive()?;
    Ok(async move {
        let mut cause = stopping.next_cause(&mut endings).await;
        stopping.has_begun.store(true, Ordering::Relaxed);
        if let Some(signal) = cause
            && !delay.is_zero()
            && stopping.is_serving.load(Ordering::Relaxed)
        {
            tracing::info!(%signal, "not ready any more: requests are still served for server.stop_delay");
            if let Ok(None) = timeout(delay, stopping.next_cause(&mut endings)).await {
                cause = None;
            }
        }
        if let Some(signal) = cause {
            tracing::info!(%signal, "stopping: requests in flight are finished");
        } else {
            stopping.is_for_another_secret.store(true, Ordering::Relaxed);
            tracing::info!("stopping, because server.secret was replaced: requests in flight are finished");
        }
    })
}
