//! GET /api/auth/audit: which acts leave a trace, and what stands in it.
