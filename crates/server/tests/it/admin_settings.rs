//! GET and PUT /api/auth/config, public-config, pinned settings, who may call admin operations.
