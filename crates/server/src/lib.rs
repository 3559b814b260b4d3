//! The binary `latchkey`: the only place that builds things.
//!
//! | Room | Holds |
//! |---|---|
//! | [`cli`] | the command line as typed |
//! | [`settings`] | what an operator can set |
//! | [`data_folder`] | what is generated at the first start and kept |
//! | [`storage`] | the database: opened, waited for, migrated |
//! | [`wiring`] | settings become a service |
//! | [`commands`] | what each command does |
//! | [`serve`], [`request_ids`], [`workers`], [`banner`], [`logging`] | the running service |

pub mod banner;
pub mod cli;
pub mod commands;
pub mod data_folder;
pub mod logging;
pub mod request_ids;
pub mod serve;
pub mod settings;
pub mod storage;
pub mod wiring;
pub mod workers;
