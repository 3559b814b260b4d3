//! Refusals of the profile search.

use crate::refusals;

refusals! {
    MISSING_QUERY 400 "A search needs a search text in `q`.", field "q",
        when "a search without a search text",
        next "Provide a search query in the parameter `q`.";
}
