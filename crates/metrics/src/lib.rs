//! Metrics: cells of atomic numbers, families of them by label, and their exposition as `OpenMetrics` 1.0 or Prometheus
//! text 0.0.4 ([ADR 0032](../../../docs/adr/0032-metrics-are-arrays-of-atomics.md)). Every label value comes from a list
//! that the code or the settings fix, so the number of series has a bound, [`Collect::most_series`].
//!
//! | Module | Contents |
//! |---|---|
//! | [`cell`] | counter, gauge, histogram, times |
//! | [`family`], [`named`], [`site`] | cells by label: of fixed lists, by names as they occur, by place in the code |
//! | [`page`] | the exposition |
//! | [`registry`] | all families of a process |
//! | [`stopwatch`] | durations |

pub mod cell;
pub mod family;
pub mod named;
pub mod page;
pub mod registry;
pub mod site;
pub mod stopwatch;

pub use cell::{Counter, Gauge, Histogram, Times};
pub use family::{Family, Key};
pub use named::Named;
pub use page::{About, Format, Kind, Page};
pub use registry::{Collect, Registry};
pub use site::{Site, Sites};
pub use stopwatch::Stopwatch;
