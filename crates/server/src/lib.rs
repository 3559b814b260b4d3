//! The binary `latchkey`: reads the settings, builds the service from its crates, and runs it or a command.
//!
//! | Module | Contents |
//! |---|---|
//! | [`cli`] | command-line arguments |
//! | [`settings`] | settings of an operator: sources, parsing, rules, warnings |
//! | [`data_folder`] | secrets that development mode generates and stores |
//! | [`storage`] | the database: opening, waiting until it is reachable, migration |
//! | [`wiring`] | construction of the service from the settings |
//! | [`backups`] | backups of a SQLite database: making, verifying, restoring, scheduling |
//! | [`preflight`] | checks before a start, also for `config check` |
//! | [`commands`] | execution of each command |
//! | [`terminal`] | standard input, and questions to the person at a terminal |
//! | [`serve`], [`signals`], [`workers`], [`banner`], [`logging`] | the running service |
//! | [`start_error`] | output of a failed start |

pub mod backups;
pub mod banner;
pub mod cli;
pub mod commands;
pub mod data_folder;
mod listeners;
pub mod logging;
mod metrics;
pub mod preflight;
pub mod serve;
pub mod settings;
pub mod signals;
pub mod start_error;
pub mod storage;
pub mod terminal;
pub mod traces;
pub mod wiring;
pub mod workers;
