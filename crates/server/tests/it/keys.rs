//! Access tokens as others see them: claims, JWKS, key rotation.
