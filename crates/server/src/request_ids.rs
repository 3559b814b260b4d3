//! Ids of requests, cut from random bytes that are drawn many at once: asking the operating system costs several times
//! as much as all that is done with the answer.

use std::sync::{Mutex, PoisonError};

use latchkey_http::edge::RequestIds;
use uuid::{Builder, Uuid};

/// Bytes of an id.
const ID: usize = 16;
/// Bytes that are drawn at once: enough for 64 ids, and no wait that a request would feel.
pub const DRAWN: usize = 64 * ID;

/// Request ids from what `draw` gives. Each byte goes into one id only.
pub struct DrawnIds<F> {
    draw: F,
    rest: Mutex<Rest>,
}

/// What is left of the last draw: the bytes from `used` on.
struct Rest {
    bytes: [u8; DRAWN],
    used: usize,
}

impl<F: Fn() -> [u8; DRAWN]> DrawnIds<F> {
    /// Ids from this source.
    pub const fn new(draw: F) -> Self {
        Self { draw, rest: Mutex::new(Rest { bytes: [0; DRAWN], used: DRAWN }) }
    }
}

impl<F: Fn() -> [u8; DRAWN] + Send + Sync> RequestIds for DrawnIds<F> {
    fn next_id(&self) -> Uuid {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        if rest.used == DRAWN {
            *rest = Rest { bytes: (self.draw)(), used: 0 };
        }
        let mut random = [0; ID];
        random.copy_from_slice(&rest.bytes[rest.used..rest.used + ID]);
        rest.used += ID;
        Builder::from_random_bytes(random).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    /// A source whose draws are all of one byte each: 1, 2, and so on.
    fn counted() -> impl Fn() -> [u8; DRAWN] {
        let draws = AtomicU8::new(0);
        move || [draws.fetch_add(1, Ordering::Relaxed) + 1; DRAWN]
    }

    #[test]
    fn what_is_used_up_is_drawn_anew() {
        let ids = DrawnIds::new(counted());

        let first: Vec<_> = (0..DRAWN / ID).map(|_| ids.next_id()).collect();
        let next = ids.next_id();

        assert!(first.iter().all(|id| id.as_bytes()[0] == 1));
        assert_eq!(next.as_bytes()[0], 2);
    }

    #[test]
    fn no_part_of_a_draw_is_used_twice() {
        let parts = || std::array::from_fn(|at| u8::try_from(at / ID).unwrap());
        let ids = DrawnIds::new(parts);

        let seen: HashSet<_> = (0..DRAWN / ID).map(|_| ids.next_id()).collect();

        assert_eq!(seen.len(), DRAWN / ID);
    }

    #[test]
    fn ids_are_uuids_of_version_4() {
        let ids = DrawnIds::new(counted());
        assert_eq!(ids.next_id().get_version_num(), 4);
    }
}
