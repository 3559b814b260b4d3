//! OCI image, as an archive of its layout: <https://github.com/opencontainers/image-spec/blob/main/image-layout.md>. No
//! container engine is needed to write it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::archive::{gzip, sha256, tar};
use super::stage::{Stage, copy, set_mode, write};
use super::target::text_of;
use super::{Release, remove};
use crate::step::Outcome;

/// User and group of the process. Kubernetes asks for numbers to see that it is not root.
const USER: u32 = 65_532;

/// A file of the layout, named by its digest.
struct Blob {
    digest: String,
    size: u64,
}

pub(super) fn pack(release: &Release, stage: &Stage, out: &Path) -> Outcome {
    let work = out.join("image");
    let layout = work.join("layout");
    let (files, data) = (work.join("files"), work.join("data-layer"));
    copy(&stage.path("latchkey"), &files.join("usr/bin/latchkey"), 0o755)?;
    for name in ["LICENSE", "THIRD-PARTY-LICENSES.txt"] {
        copy(&stage.path(name), &files.join("usr/share/doc/latchkey").join(name), 0o644)?;
    }
    write(&files.join("etc/passwd"), format!("latchkey:x:{USER}:{USER}::/data:/sbin/nologin\n").as_bytes())?;
    write(&files.join("etc/group"), format!("latchkey:x:{USER}:\n").as_bytes())?;
    fs::create_dir_all(data.join("data")).map_err(|error| error.to_string())?;
    set_mode(&data.join("data"), 0o700)?;

    let mut layers = Vec::new();
    for (folder, entries, owner) in [(&files, "etc usr", 0), (&data, "data", USER)] {
        layers.push(layer(release, folder, entries, owner, &layout)?);
    }
    let config = blob(&layout, &config(release, &layers)?)?;
    let manifest = blob(&layout, &manifest(&config, &layers))?;
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{}", manifest.digest),
            "size": manifest.size,
            "platform": {"architecture": release.target.architecture, "os": "linux"},
            "annotations": {"org.opencontainers.image.ref.name": release.version},
        }],
    });
    write(&layout.join("index.json"), index.to_string().as_bytes())?;
    write(&layout.join("oci-layout"), br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    let name = format!("latchkey-{}-{}.oci.tar", release.version, release.target.architecture);
    tar(release, &layout, "blobs index.json oci-layout", 0, &out.join(name))?;
    remove(&work)
}

/// Packs a folder as a layer. Returns the digest of the uncompressed layer, and the blob.
fn layer(
    release: &Release,
    folder: &Path,
    entries: &str,
    owner: u32,
    layout: &Path,
) -> Result<(String, Blob), String> {
    let file = folder.with_extension("tar");
    tar(release, folder, entries, owner, &file)?;
    let uncompressed = sha256(&file)?;
    gzip(release, &file)?;
    Ok((uncompressed, keep(layout, &folder.with_extension("tar.gz"))?))
}

/// Configuration of the image. `Healthcheck` is Docker's; engines that do not know it ignore it.
fn config(release: &Release, layers: &[(String, Blob)]) -> Result<Value, String> {
    let created = text_of(&format!("date --utc --date=@{} +%FT%TZ", release.epoch))?;
    let second = 1_000_000_000_u64;
    Ok(json!({
        "created": created,
        "architecture": release.target.architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": {"8700/tcp": {}},
            "Env": [
                "PATH=/usr/bin",
                "LATCHKEY__SERVER__BIND=0.0.0.0:8700",
                "LATCHKEY__DATA__DIR=/data",
                // The only folder that is there. `latchkey import -` copies its input.
                "TMPDIR=/data",
            ],
            "Entrypoint": ["/usr/bin/latchkey"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/data",
            "Labels": {
                "org.opencontainers.image.title": "Latchkey",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.source": "https://github.com/latchkey/latchkey",
            },
            "StopSignal": "SIGTERM",
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/latchkey", "health"],
                "Interval": 30 * second,
                "Timeout": 6 * second,
                "StartPeriod": 60 * second,
                "Retries": 3,
            },
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": layers.iter().map(|(digest, _)| format!("sha256:{digest}")).collect::<Vec<_>>(),
        },
        "history": [
            {"created": created, "created_by": "cargo xtask dist: the binary"},
            {"created": created, "created_by": "cargo xtask dist: /data"},
        ],
    }))
}

fn manifest(config: &Blob, layers: &[(String, Blob)]) -> Value {
    let descriptor = |kind: &str, blob: &Blob| {
        json!({
            "mediaType": format!("application/vnd.oci.image.{kind}"),
            "digest": format!("sha256:{}", blob.digest),
            "size": blob.size,
        })
    };
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("config.v1+json", config),
        "layers": layers.iter().map(|(_, blob)| descriptor("layer.v1.tar+gzip", blob)).collect::<Vec<_>>(),
    })
}

/// Writes a document as a blob.
fn blob(layout: &Path, document: &Value) -> Result<Blob, String> {
    let draft = layout.join("draft.json");
    write(&draft, document.to_string().as_bytes())?;
    keep(layout, &draft)
}

/// Moves a file to its place in the layout.
fn keep(layout: &Path, file: &Path) -> Result<Blob, String> {
    let digest = sha256(file)?;
    let size = fs::metadata(file).map_err(|error| error.to_string())?.len();
    let place: PathBuf = layout.join("blobs/sha256").join(&digest);
    copy(file, &place, 0o644)?;
    fs::remove_file(file).map_err(|error| error.to_string())?;
    Ok(Blob { digest, size })
}
