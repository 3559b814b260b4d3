//! Properties of offset pagination over generated parameters.
#![allow(clippy::unwrap_used, missing_docs)]

use latchkey_domain::page::Page;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_text_makes_it_panic(limit in "\\PC{0,30}", offset in "\\PC{0,30}") {
        let _ = Page::parse(Some(&limit), Some(&offset));
    }

    #[test]
    fn plain_numbers_read_as_they_are(limit in 1_u32..=100, offset in 0_u64..=i64::MAX as u64) {
        let page = Page::parse(Some(&limit.to_string()), Some(&offset.to_string())).unwrap();
        prop_assert_eq!((page.limit(), page.offset()), (limit, offset));
        prop_assert_eq!(page.number(), offset / u64::from(limit) + 1);
    }

    #[test]
    fn only_plain_digits_pass(text in "[ +-]?[0-9a-f_.,٣]{0,6}[ ]?") {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        prop_assert_eq!(Page::parse(None, Some(&text)).is_ok(), is_plain);
        let is_zero = is_plain && text.bytes().all(|byte| byte == b'0');
        prop_assert_eq!(Page::parse(Some(&text), None).is_ok(), is_plain && !is_zero);
    }

    #[test]
    fn pages_side_by_side_cover_everything_once(limit in 1_u32..=100, total in 0_u64..1000) {
        let mut seen = 0;
        for number in 0..=total / u64::from(limit) {
            let page = Page::new(limit, number * u64::from(limit));
            prop_assert_eq!(page.number(), number + 1);
            prop_assert_eq!(page.offset(), seen);
            seen = (page.offset() + u64::from(page.limit())).min(total);
        }
        prop_assert_eq!(seen, total);
    }
}
