//! Refusals of imports.

use super::{NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    FORMAT_UNKNOWN 400 "There is no format of this name.", field "from",
        when "an import names a format that the service does not read",
        next "Name one of: latchkey, supabase, firebase, auth0, clerk, keycloak, better-auth, pocketbase, rauthy, django, csv.";
    IMPORT_RUNNING 409 "Another import is running.",
        when "an import begins, or is undone, while one is running",
        next "Wait until it has ended; `latchkey import list` shows it.";
    IMPORT_NOT_UNDOABLE 409 "The import is older than 30 days, or was undone, or was a dry run.",
        when "an import is undone that is older than 30 days, was undone already, or was a dry run",
        next "Delete the accounts one by one in the console or with `latchkey user delete`.";
}

/// An interrupted import of a file of the same name has another content, or other options.
pub const IMPORT_CHANGED: Refusal = Refusal {
    message: "The file, or an option, has changed since its import was interrupted, or its undo was.",
    next_action: "Run the command as before on the file as it was, or take back what was written: `latchkey import list`, then `latchkey import undo ID`.",
    ..IMPORT_RUNNING
};

/// An import of a file of the same name was written a moment ago, with another content, or other options.
pub const IMPORT_OTHER_OF_FILE: Refusal = Refusal {
    message: "An import of this file is running, or was killed less than 30 seconds ago, and the file, or an option, has changed since.",
    next_action: "Let it end: `latchkey import list` shows it. If it was killed, run the command as before on the file as it was, or take back what was written: `latchkey import undo ID`.",
    ..IMPORT_RUNNING
};

/// Another process has taken the import over.
pub const IMPORT_SUPERSEDED: Refusal =
    Refusal { message: "Another process has taken this import over.", ..IMPORT_RUNNING };

/// No import has the id.
pub const IMPORT_NOT_FOUND: Refusal = Refusal {
    message: "There is no import with this id.",
    next_action: "Check the id; `latchkey import list` shows the imports.",
    ..NOT_FOUND
};
