//! A counter in the `rand_a` bits of UUID v7 (RFC 9562 section 6.2, method 1). It keeps ids that this instance makes in
//! one millisecond in order of creation, for lists that are sorted by id.

use std::sync::atomic::{AtomicU64, Ordering};

use latchkey_domain::time::Timestamp;

const BITS: u32 = 12;
/// The highest count within a millisecond. Further ids of that millisecond repeat it and have no order.
const LAST: u64 = (1 << BITS) - 1;

/// The counter's state: the millisecond of the latest id in the upper bits, its count within that millisecond in the
/// lower 12.
#[derive(Debug, Default)]
pub(crate) struct IdOrder(AtomicU64);

impl IdOrder {
    /// Overwrites the first two bytes of `random` with the next count of this millisecond.
    pub(crate) fn number(&self, now: Timestamp, mut random: [u8; 10]) -> [u8; 10] {
        let millis = u64::try_from(now.as_millis()).unwrap_or_default();
        let step = |latest: u64| {
            let (latest_millis, number) = (latest >> BITS, latest & LAST);
            Some(if millis > latest_millis {
                millis << BITS
            } else {
                latest_millis << BITS | (number + 1).min(LAST)
            })
        };
        let latest = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).unwrap_or_default();
        let number = step(latest).unwrap_or_default() & LAST;
        let [.., high, low] = number.to_be_bytes();
        random[0] = high;
        random[1] = low;
        random
    }
}

#[cfg(test)]
mod tests {
    use latchkey_domain::ids::EventId;

    use super::*;

    #[test]
    fn ids_of_one_millisecond_stand_in_the_order_of_their_making() {
        let order = IdOrder::default();
        let now = Timestamp::from_millis(1_772_366_400_000);
        let ids: Vec<_> = (0..1000).map(|_| EventId::new(now, order.number(now, [0xAB; 10]))).collect();
        assert!(ids.is_sorted());
        let later = Timestamp::from_millis(1_772_366_400_001);
        assert!(EventId::new(later, order.number(later, [0; 10])) > ids[999]);
    }

    #[test]
    fn the_last_number_of_a_millisecond_is_not_passed() {
        let order = IdOrder::default();
        let now = Timestamp::from_millis(7);
        let mut last = [0; 10];
        for _ in 0..5000 {
            last = order.number(now, [0; 10]);
        }
        assert_eq!(last[..2], [0x0F, 0xFF]);
    }
}
