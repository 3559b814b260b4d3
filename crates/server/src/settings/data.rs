//! Section `data`: the data folder.

use std::path::PathBuf;

use latchkey_settings::{Reader, settings};

settings! {
    /// Settings of section `data`.
    #[derive(Debug)]
    pub struct DataSettings {
        /// Folder for everything that the service writes: the database, generated secrets, mails of the file transport.
        /// Created with mode 700; production refuses a folder that other users can open.
        "data.dir" => dir: PathBuf | read_dir = "./latchkey-data";
    }
}

fn read_dir(reader: &mut Reader<'_>, key: &'static str) -> PathBuf {
    if reader.text(key).is_empty() {
        reader.refuse(key, "it is empty; set it to a folder, such as ./latchkey-data");
    }
    PathBuf::from(reader.text(key))
}
