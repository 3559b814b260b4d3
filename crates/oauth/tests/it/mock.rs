//! A mock server with scripted responses and a record of requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use url::Url;

/// A received request.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn form(&self) -> HashMap<String, String> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Script {
    answers: HashMap<String, (StatusCode, Value)>,
    asked: Vec<Asked>,
}

/// Base URL of the mock: all hosts of a provider are its folders.
#[derive(Clone)]
pub(crate) struct Mock {
    pub(crate) address: Url,
    script: Arc<Mutex<Script>>,
}

impl Mock {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let script = Arc::default();
        let router = Router::new().fallback(response).with_state(Arc::clone(&script));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, script }
    }

    /// Mock URL of a provider's URL, without a trailing slash.
    pub(crate) fn at(&self, url: &str) -> String {
        format!("{}{}", self.address, url.trim_start_matches("https://"))
    }

    /// Sets the response of `url` without its query.
    pub(crate) fn on(&self, url: &str, body: Value) {
        self.on_status(url, 200, body);
    }

    pub(crate) fn on_status(&self, url: &str, status: u16, body: Value) {
        let path = format!("/{}", url.trim_start_matches("https://"));
        let status = StatusCode::from_u16(status).unwrap();
        self.script.lock().unwrap().answers.insert(path, (status, body));
    }

    /// All requests in order.
    pub(crate) fn all_asked(&self) -> Vec<Asked> {
        self.script.lock().unwrap().asked.clone()
    }

    /// All requests to `url` in order.
    pub(crate) fn asked(&self, url: &str) -> Vec<Asked> {
        let path = format!("/{}", url.trim_start_matches("https://"));
        let script = self.script.lock().unwrap();
        script.asked.iter().filter(|asked| asked.path.split('?').next() == Some(&path)).cloned().collect()
    }
}

async fn response(State(script): State<Arc<Mutex<Script>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1024 * 1024).await.unwrap();
    let path = head.uri.path_and_query().unwrap().to_string();
    let mut script = script.lock().unwrap();
    script.asked.push(Asked { path, headers: head.headers, body });
    match script.answers.get(head.uri.path()) {
        Some((status, body)) => (*status, axum::Json(body.clone())).into_response(),
        None => (StatusCode::NOT_FOUND, axum::Json(json!({"message": "Not Found"}))).into_response(),
    }
}
