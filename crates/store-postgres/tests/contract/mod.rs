//! The methods of the contract, read from its source: no method is left out of a measurement.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Files of the contract whose methods are not measured: the search feed is read in the background.
const UNMEASURED_FILES: [&str; 1] = ["search_feed.rs"];
/// Methods that are not measured: purges run in the background and repeat while rows are left.
const UNMEASURED: [&str; 1] = ["purge_events"];

/// Asserts that every method of the contract is among the measured ones, `method` or `method, case`.
pub(crate) fn assert_all_measured<'a>(measured: impl Iterator<Item = &'a str>) {
    let measured: BTreeSet<_> = measured.filter_map(|name| name.split(',').next()).collect();
    let missing: Vec<_> =
        methods().into_iter().filter(|method| !measured.contains(method.as_str())).collect();
    assert!(
        missing.is_empty(),
        "tests/round_trips.rs measures every method of the contract; add a line `op!(m.METHOD(…));` for each of these: \
         {missing:?}"
    );
}

fn methods() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/src");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_measured = |path: &Path| !UNMEASURED_FILES.contains(&path.file_name().unwrap().to_str().unwrap());
    let sources = files.filter(|path| path.is_file() && is_measured(path));
    let texts: Vec<_> = sources.map(|path| fs::read_to_string(path).unwrap()).collect();
    let signatures =
        texts.iter().flat_map(|text| text.lines().filter_map(|line| line.strip_prefix("    async fn ")));
    let names = signatures.filter_map(|signature| signature.split('(').next().map(str::to_owned));
    names.filter(|name| !UNMEASURED.contains(&name.as_str())).collect()
}
