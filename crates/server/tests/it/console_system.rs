//! `/console/system`: the instances that run.

use latchkey_domain::operator::Role;
use latchkey_testkit::{both_stores, minutes};

use crate::console_calls::verified;
use crate::console_user_calls::desk;

const SYSTEM: &str = "/console/system";

both_stores! {
    with(|b| verified(b).console())
    async fn service_without_a_backup_says_who_makes_it(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;

        let page = viewer.browser.get(SYSTEM).await;

        let statistics = app.service().admin.statistics(1).await.unwrap();
        let said = match statistics.counts.engine.as_str() {
            "sqlite" => "None is known here",
            "postgresql" => "Not known here: PostgreSQL&#39;s own tools make it",
            other => panic!("no text for {other}"),
        };
        assert!(page.hosted(200).contains(&format!("<dt>Last backup</dt><dd>{said}</dd>")), "{page:?}");
    }

    with(|b| verified(b).console())
    async fn instances_are_shown_while_they_report_themselves(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        let beside = app.beside().await;
        let (this, other) = (app.service().instances.id().to_string(), beside.service().instances.id().to_string());
        app.run_jobs().await;
        beside.run_jobs().await;
        let shown = async || viewer.browser.get(SYSTEM).await.hosted(200).to_owned();

        let text = shown().await;
        assert!(text.contains(&this) && text.contains(&other), "{text}");
        assert!(text.contains(env!("CARGO_PKG_VERSION")), "{text}");
        let (own, _) = text.split_once("This one").unwrap_or_else(|| panic!("no mark: {text}"));
        assert!(own.ends_with("<span class=\"badge\">") && own.contains(&this), "{text}");

        app.clock.advance(minutes(3));
        app.run_jobs().await;
        let text = shown().await;
        assert!(text.contains(&this) && !text.contains(&other), "not seen for three minutes: {text}");

        beside.run_jobs().await;
        assert!(shown().await.contains(&other));
        beside.service().instances.leave().await.unwrap();
        assert!(!shown().await.contains(&other), "it stopped");
    }
}
