//! The methods of the contract, read from its source: no method is left out of a measurement.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Files of the contract whose methods are not measured: the search feed is read in the background, and imports write
/// batches of many accounts there.
const UNMEASURED_FILES: [&str; 2] = ["search_feed.rs", "imports.rs"];
/// Methods that are not measured. Purges and counts run in the background and repeat while there is something left; an
/// export reads page by page.
const UNMEASURED: [&str; 3] = ["purge_events", "count_statistics", "export_accounts"];

/// Asserts that every method of the contract is among the measured ones, `method` or `method, case`, unless it makes a
/// single call of the executor, whose round trips the measured ones show.
pub(crate) fn assert_all_measured<'a>(measured: impl Iterator<Item = &'a str>) {
    let measured: BTreeSet<_> = measured.filter_map(|name| name.split(',').next()).collect();
    let single = methods_of_one_call();
    let is_known = |method: &String| measured.contains(method.as_str()) || single.contains(method);
    let missing: Vec<_> = methods().into_iter().filter(|method| !is_known(method)).collect();
    assert!(
        missing.is_empty(),
        "tests/round_trips.rs measures every method of the contract; add a line `op!(m.METHOD(…));` for each of these: \
         {missing:?}"
    );
}

/// Methods of the contract.
fn methods() -> BTreeSet<String> {
    let names = functions("../store/src").into_iter().map(|(name, _)| name);
    names.filter(|name| !UNMEASURED.contains(&name.as_str())).collect()
}

/// Methods whose implementation only runs one script: a read or a write without a decision.
fn methods_of_one_call() -> BTreeSet<String> {
    let is_single = |body: &str| {
        let calls = ["self.read(", "self.read_long(", "self.write("].map(|call| body.matches(call).count());
        body.matches(".await").count() == 1 && calls.iter().sum::<usize>() == 1
    };
    let functions = functions("../store-operations/src/engine").into_iter();
    functions.filter(|(_, body)| is_single(body)).map(|(name, _)| name).collect()
}

/// Methods in the files of a folder: name, and the text up to the end of the method or declaration.
fn functions(folder: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let is_measured = |path: &Path| !UNMEASURED_FILES.contains(&path.file_name().unwrap().to_str().unwrap());
    let paths = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file() && is_measured(path));
    let texts = paths.map(|path| fs::read_to_string(path).unwrap());
    let function = |text: &str| {
        let end = text.find("\n    }\n").unwrap_or(text.len());
        (text.split('(').next().unwrap_or_default().to_owned(), text[..end].to_owned())
    };
    texts.flat_map(|text| text.split("\n    async fn ").skip(1).map(function).collect::<Vec<_>>()).collect()
}
