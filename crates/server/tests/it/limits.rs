//! The rate limits of policy: what they count, how they refuse, what they leave alone.
