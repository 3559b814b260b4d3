//! Commands `latchkey version`, `latchkey completions` and `latchkey man`.

use std::io;

use serde_json::json;

use super::{CommandError, json, output};
use crate::cli::{self, CompletionsArgs, ManArgs, Output};
use crate::data_folder::DataFolderError;
use crate::metrics::REVISION;

pub(super) fn version(output: Output) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    if output.json {
        let mut document = json!({"version": version});
        if let Some(revision) = REVISION {
            document["revision"] = revision.into();
        }
        return json::print(&document);
    }
    println!("latchkey {version}");
    Ok(())
}

pub(super) fn completions(arguments: &CompletionsArgs) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::definition(), "latchkey", &mut script);
    output::write(&script)
}

pub(super) fn man(arguments: &ManArgs) -> Result<(), CommandError> {
    let Some(folder) = &arguments.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(cli::definition()).render(&mut page)?;
        return Ok(output::write(&page)?);
    };
    let unwritable = |error| CommandError::from(DataFolderError::unwritable(folder, error));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(cli::definition(), folder).map_err(unwritable)
}
