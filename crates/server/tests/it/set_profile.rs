//! getProfile and setProfile: the flat face of a profile.
