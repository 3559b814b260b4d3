//! The binary `latchkey`: the only place that builds things.
//!
//! | Room | Holds |
//! |---|---|
//! | [`cli`] | the command line as typed |
//! | [`settings`] | what an operator can set |
//! | [`data_folder`] | what is generated at the first start and kept |
//! | [`storage`] | the database: opened, waited for, migrated |
//! | [`wiring`] | settings become a service |
//! | [`preflight`] | checks before a start, for `config check` too |
//! | [`commands`] | what each command does |
//! | [`terminal`] | standard input, and questions to the person at a terminal |
//! | [`serve`], [`signals`], [`workers`], [`banner`], [`logging`] | the running service |
//! | [`start_error`] | a start that failed |

pub mod banner;
pub mod cli;
pub mod commands;
pub mod data_folder;
pub mod logging;
pub mod preflight;
pub mod serve;
pub mod settings;
pub mod signals;
pub mod start_error;
pub mod storage;
pub mod terminal;
pub mod wiring;
pub mod workers;
