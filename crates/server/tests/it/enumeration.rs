//! Known and unknown addresses answer alike.
