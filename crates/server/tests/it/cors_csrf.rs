//! Which web pages may call: CORS, origins, the CSRF token, cookies.
