//! `cargo xtask deploy`: checks the files of `deploy/`, each with its own program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::prerequisites::{self, HELM_PROGRAM, Prerequisite};
use crate::step::{Outcome, output_of, run, run_with, step};

const NEEDED: &[Prerequisite] = &[
    Prerequisite::Nginx,
    Prerequisite::Caddy,
    Prerequisite::DockerCompose,
    Prerequisite::Ruby,
    Prerequisite::Yamllint,
    Prerequisite::Helm,
];

/// Folder for what a check has to write.
const WORK: &str = "target/deploy";
const CHART: &str = "deploy/helm/latchkey";
/// Version of Kubernetes for which the chart is rendered.
const KUBERNETES: &str = "1.31.0";
/// Values without defaults, as an operator gives them.
const VALUES: &[&str] =
    &["publicUrl=https://accounts.example.com", "secretName=latchkey", "mail.host=mail.example.com"];
/// Settings of each kind, as values of the chart, and the variables that they become.
const SETTINGS: &str = r#"settings={"server":{"max_connections":1000000},"auth":{"allowed_redirect_urls":["https://a.example","https://b.example"]},"mail":{"smtp":{"port":2525}},"log":{"format":"text"}}"#;
const VARIABLES: &[(&str, &str)] = &[
    ("SERVER__STOP_DELAY", "5s"),
    ("SERVER__MAX_CONNECTIONS", "1000000"),
    ("AUTH__ALLOWED_REDIRECT_URLS", "https://a.example,https://b.example"),
    ("MAIL__SMTP__PORT", "2525"),
    ("LOG__FORMAT", "text"),
];
/// Variables without defaults of the compose file.
const COMPOSE: &[(&str, &str)] =
    &[("SITE", "accounts.example.com"), ("SMTP_HOST", "mail.example.com"), ("SMTP_USER", "no-reply")];

pub(crate) fn run_checks(_: &[String]) -> Outcome {
    for prerequisite in NEEDED {
        step(prerequisite.name(), || prerequisites::ensure(*prerequisite))?;
    }
    fs::create_dir_all(WORK).map_err(|error| format!("{WORK}: {error}"))?;
    step("nginx", check_nginx)?;
    step("Caddy", || {
        output_of("caddy fmt deploy/Caddyfile --diff")?;
        output_of("caddy adapt --adapter caddyfile --config deploy/Caddyfile --validate").map(drop)
    })?;
    step("compose", || run_with("docker-compose --file deploy/compose.yaml config --quiet", &[], COMPOSE))?;
    step("systemd", check_unit)?;
    step("scripts", || {
        ["postinst", "prerm", "postrm"]
            .iter()
            .try_for_each(|name| run(&format!("sh -n deploy/debian/{name}")))
    })?;
    step("formula", || run("ruby -c deploy/homebrew/latchkey.rb"))?;
    step("YAML", || {
        run(
            "yamllint --config-data relaxed --no-warnings deploy/compose.yaml deploy/helm/latchkey/Chart.yaml deploy/helm/latchkey/values.yaml",
        )
    })?;
    step("chart", check_chart)
}

/// Checks the site inside a configuration of its own, with a certificate made for it.
fn check_nginx() -> Outcome {
    let folder = std::env::current_dir().map_err(|error| error.to_string())?.join(WORK);
    let folder = folder.display();
    output_of(&format!(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=accounts.example.com -keyout {folder}/site.key -out \
         {folder}/site.pem"
    ))?;
    let site = fs::read_to_string("deploy/nginx.conf").map_err(|error| error.to_string())?;
    let site = site.replace("/etc/ssl/accounts.example.com", &format!("{folder}/site"));
    let whole = format!(
        "pid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{site}}}\n"
    );
    fs::write(format!("{WORK}/nginx.conf"), whole).map_err(|error| error.to_string())?;
    run(&format!("nginx -t -q -p {folder} -c {folder}/nginx.conf"))
}

/// Checks the unit with another program and without its manual page, because neither is installed.
fn check_unit() -> Outcome {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let unit = fs::read_to_string("deploy/latchkey.service").map_err(|error| error.to_string())?;
    let unit = unit
        .replace("/usr/bin/latchkey", "/bin/true")
        .lines()
        .filter(|line| !line.starts_with("Documentation="))
        .collect::<Vec<_>>()
        .join("\n");
    let file = root.join(WORK).join("latchkey.service");
    fs::write(&file, unit).map_err(|error| error.to_string())?;
    run(&format!("systemd-analyze verify --man=no {}", file.display()))
}

fn check_chart() -> Outcome {
    check_values()?;
    let set = format!("--kube-version {KUBERNETES} --set {}", VALUES.join(","));
    run(&format!("{HELM_PROGRAM} lint --quiet {CHART} {set}"))?;
    let ingress =
        "--set ingress.enabled=true,ingress.host=accounts.example.com,ingress.tlsSecretName=certificate";
    let rendered = output_of(&format!(
        "{HELM_PROGRAM} template latchkey {CHART} {set} {ingress} --set-json {SETTINGS}"
    ))?;
    let rendered = String::from_utf8_lossy(&rendered);
    for (name, value) in VARIABLES {
        let variable = format!("- name: LATCHKEY__{name}\n              value: \"{value}\"");
        if !rendered.contains(&variable) {
            return Err(format!("the chart does not make {name} {value}"));
        }
    }
    let kinds: BTreeSet<_> = rendered.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
    if kinds.iter().copied().ne(["Deployment", "Ingress", "PodDisruptionBudget", "Service"]) {
        return Err(format!("the chart makes {kinds:?}"));
    }
    fs::write(format!("{WORK}/chart.yaml"), rendered.as_bytes()).map_err(|error| error.to_string())?;
    run(&format!("yamllint --config-data relaxed --no-warnings {WORK}/chart.yaml"))
}

/// Checks that every value in a template has a default in `values.yaml`, and that actions are closed.
fn check_values() -> Outcome {
    let values = fs::read_to_string(format!("{CHART}/values.yaml")).map_err(|error| error.to_string())?;
    let known = paths_of(&values);
    let folder = format!("{CHART}/templates");
    let entries = fs::read_dir(Path::new(&folder)).map_err(|error| error.to_string())?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        if text.matches("{{").count() != text.matches("}}").count() {
            return Err(format!("{} has an action that is not closed", path.display()));
        }
        if let Some(unknown) = used_values(&text).into_iter().find(|one| !known.contains(one)) {
            return Err(format!("{} uses {unknown}, which values.yaml does not have", path.display()));
        }
    }
    Ok(())
}

/// Returns the dotted paths after `.Values.` in a template.
fn used_values(template: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_alphanumeric() || character == '.';
    let uses = template.split(".Values.").skip(1);
    uses.map(|rest| rest.chars().take_while(|character| is_part(*character)).collect()).collect()
}

/// Returns the dotted paths of all keys of a YAML file with an indentation of two spaces.
fn paths_of(yaml: &str) -> BTreeSet<String> {
    let mut parents: Vec<String> = Vec::new();
    let mut paths = BTreeSet::new();
    for line in yaml.lines().filter(|line| !line.trim_start().starts_with(['#', '-'])) {
        let Some((key, _)) = line.split_once(':') else { continue };
        let depth = (key.len() - key.trim_start().len()) / 2;
        parents.truncate(depth);
        parents.push(key.trim().to_owned());
        paths.insert(parents.join("."));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_paths() {
        let known = paths_of("image:\n  # text: no\n  tag: \"\"\nreplicas: 2\n");
        let wanted = ["image", "image.tag", "replicas"];
        assert_eq!(known.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
        let used = used_values("{{ .Values.image.tag | default 1 }} {{ with .Values.replicas }}");
        assert_eq!(used.iter().map(String::as_str).collect::<Vec<_>>(), ["image.tag", "replicas"]);
    }
}
