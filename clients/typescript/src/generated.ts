// Generated from docs/openapi.json by scripts/generate.mjs; do not edit.

export type components = {
    schemas: {
        /** @description The current session. */
        CurrentSession: {
            user: components["schemas"]["User"];
            /**
             * Format: date-time
             * @description When the token stops being good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description The answer to ended sessions. */
        EndedSessions: {
            /**
             * @description It was done.
             * @enum {boolean}
             */
            success: true;
            /** @description A sentence for people. */
            message: string;
            /** @description How many. */
            endedCount: number;
        };
        /** @description What every refusal looks like, whatever the route and the status. */
        ErrorResponse: {
            /**
             * @description The code, for programs. Stable.
             * @enum {string}
             */
            error: "VALIDATION_ERROR" | "MISSING_QUERY" | "WEAK_PASSWORD" | "REDIRECT_NOT_ALLOWED" | "INVALID_CODE" | "INVALID_OAUTH_CODE" | "UNSUPPORTED_PROVIDER" | "PROVIDER_NOT_CONFIGURED" | "EMAIL_PROVIDER_NOT_CONFIGURED" | "INVALID_CREDENTIALS" | "AUTH_UNAUTHORIZED" | "ADMIN_UNAUTHORIZED" | "INVALID_ID_TOKEN" | "EMAIL_NOT_VERIFIED" | "INVALID_CSRF_TOKEN" | "SIGNUP_DISABLED" | "USER_BANNED" | "FORBIDDEN" | "PROFILE_NOT_FOUND" | "USER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "EMAIL_EXISTS" | "USERNAME_TAKEN" | "SETTING_PINNED" | "PROVIDER_EXISTS" | "LAST_SIGN_IN_METHOD" | "IDENTITY_TAKEN" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY_REQUESTS" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "SERVICE_BUSY" | "STORAGE_UNAVAILABLE";
            /** @description What went wrong, for people. May change. */
            message: string;
            /** @description The HTTP status of the answer. */
            statusCode: number;
            /** @description What the caller can do, for people. */
            nextAction?: string;
            /** @description The same text, for clients that read the plural. */
            nextActions?: string;
            /** @description The key of the body that is wrong, dotted where it is nested (`options.emailRedirectTo`), or the parameter. */
            field?: string;
            /** @description Why a value is refused, for programs. Stable. `docs/errors.md` says when each is given. */
            reasons?: ("required" | "wrong_type" | "duplicate" | "unknown" | "malformed" | "invalid_format" | "invalid_characters" | "too_short" | "too_long" | "too_large" | "out_of_range" | "not_allowed" | "conflicting" | "reserved" | "missing_number" | "missing_lowercase" | "missing_uppercase" | "missing_special_char" | "too_common" | "contains_email" | "contains_service_name")[];
            /** @description The id of this request, as in `X-Request-Id`: the service's log knows more under it. */
            requestId?: string;
        };
        /** @description A profile with the user's id and all custom fields at the top level; never `metadata`. */
        FlatProfile: {
            /**
             * Format: uuid
             * @description The id of the user: `sub` of access tokens, `auth_id` of profiles.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * @description Display name; empty if not set.
             * @example Ada Lovelace
             */
            name: string;
            /**
             * @description Unique handle; the key is left out while it is not set.
             * @example ada
             */
            username?: string;
            /**
             * @description Picture: an http or https URL.
             * @example https://example.org/ada.png
             */
            avatar_url: string | null;
            /**
             * @description Text about oneself.
             * @example First programmer.
             */
            bio: string | null;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            updatedAt: string;
            /** @description The same fields but `id`, for older clients. */
            profile: {
                /**
                 * @description Display name; empty if not set.
                 * @example Ada Lovelace
                 */
                name: string;
                /**
                 * @description Unique handle; the key is left out while it is not set.
                 * @example ada
                 */
                username?: string;
                /**
                 * @description Picture: an http or https URL.
                 * @example https://example.org/ada.png
                 */
                avatar_url: string | null;
                /**
                 * @description Text about oneself.
                 * @example First programmer.
                 */
                bio: string | null;
                /**
                 * Format: date-time
                 * @description When it was made, in UTC.
                 * @example 2026-03-01T12:00:00.000Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When it last changed, in UTC.
                 * @example 2026-03-01T12:00:00.000Z
                 */
                updatedAt: string;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description The keys that verify access tokens: the current one, and earlier ones while tokens live. */
        JwkSet: {
            keys: {
                /** @enum {string} */
                kty: "EC" | "OKP";
                /** @enum {string} */
                crv: "P-256" | "Ed25519";
                /** @enum {string} */
                alg: "ES256" | "EdDSA";
                /** @enum {string} */
                use: "sig";
                /** @description The `kid` in the header of the tokens that it verifies. */
                kid: string;
                x: string;
                y?: string;
            }[];
        };
        /** @description The answer: the same for known and unknown addresses. */
        MailSent: {
            /**
             * @description It was done.
             * @enum {boolean}
             */
            success: true;
            /** @description A sentence for people. */
            message: string;
        };
        /** @description A sentence. */
        Message: {
            /** @description A sentence for people. */
            message: string;
        };
        /** @description `options` of the older variant. */
        OlderOptions: {
            /**
             * Format: uri
             * @description Redirect target of the older variant: used where neither `redirectTo` nor a default is there.
             * @example https://app.example.org/welcome
             */
            emailRedirectTo?: string | null;
        };
        /** @description One of one's own sessions. */
        OwnSession: {
            /**
             * Format: uuid
             * @description The id of the session: `sid` of access tokens.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the session was last used to refresh, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            lastSeenAt: string;
            /**
             * @description What the client called itself.
             * @example Mozilla/5.0
             */
            userAgent: string | null;
            /**
             * @description The address it came from, IPv4 or IPv6.
             * @example 192.0.2.7
             */
            ip: string;
            /** @description Is true for the session of the request. */
            current: boolean;
        };
        /** @description One's own sessions. */
        OwnSessions: {
            sessions: components["schemas"]["OwnSession"][];
        };
        /** @description `ProfileRecord` (spec 2.1), shown to its owner. */
        ProfileRecord: {
            /**
             * Format: uuid
             * @description The id of the profile; not that of its user.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * Format: uuid
             * @description The id of the user: `sub` of access tokens, `auth_id` of profiles.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            auth_id: string;
            /**
             * @description Display name; empty if not set.
             * @example Ada Lovelace
             */
            name: string;
            /**
             * @description Unique handle; the key is left out while it is not set.
             * @example ada
             */
            username?: string;
            /**
             * @description Picture: an http or https URL.
             * @example https://example.org/ada.png
             */
            avatar_url: string | null;
            /**
             * @description Text about oneself.
             * @example First programmer.
             */
            bio: string | null;
            /**
             * @description Free-form JSON, private to the owner; never null.
             * @example {
             *       "theme": "dark"
             *     }
             */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            updated_at: string;
        };
        /** @description The public settings. */
        PublicConfig: {
            /** @description Keys of the built-in identity providers that are configured. */
            oAuthProviders: string[];
            /** @description Keys of the custom identity providers. */
            customOAuthProviders: string[];
            /** @description An address must be verified before the first sign-in. */
            requireEmailVerification: boolean;
            /** @description Least number of characters of a new password. */
            passwordMinLength: number;
            /** @description A new password needs a digit. */
            requireNumber: boolean;
            /** @description A new password needs a lower-case letter. */
            requireLowercase: boolean;
            /** @description A new password needs an upper-case letter. */
            requireUppercase: boolean;
            /** @description A new password needs a character that is neither letter nor digit. */
            requireSpecialChar: boolean;
            /**
             * @description How a mailbox is proven: six digits to type in, or a link to open.
             * @enum {string}
             */
            verifyEmailMethod: "code" | "link";
            /**
             * @description How a mailbox is proven: six digits to type in, or a link to open.
             * @enum {string}
             */
            resetPasswordMethod: "code" | "link";
            /** @description Sign-up is switched off. */
            disableSignup: boolean;
        };
        /** @description `PublicProfile` (spec 2.2), shown to others and in search. */
        PublicProfile: {
            /**
             * Format: uuid
             * @description The id of the profile; not that of its user.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * Format: uuid
             * @description The id of the user: `sub` of access tokens, `auth_id` of profiles.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            auth_id: string;
            /**
             * @description Display name; empty if not set.
             * @example Ada Lovelace
             */
            name: string;
            /**
             * @description Unique handle; the key is left out while it is not set.
             * @example ada
             */
            username?: string;
            /**
             * @description Picture: an http or https URL.
             * @example https://example.org/ada.png
             */
            avatar_url: string | null;
            /**
             * @description Text about oneself.
             * @example First programmer.
             */
            bio: string | null;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
        };
        /** @description A reset token. */
        ResetToken: {
            /**
             * @description Goes into `otp` of resetPassword.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            token: string;
            /**
             * Format: date-time
             * @description When the token stops being good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description A session with its tokens. */
        Session: {
            user: components["schemas"]["User"];
            /**
             * @description A signed JWT (RFC 7519, RFC 9068): goes into `Authorization: Bearer`.
             * @example eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl
             */
            accessToken: string;
            /**
             * @description Given at sign-up alone: the session is open.
             * @enum {boolean}
             */
            requireEmailVerification?: false;
            /**
             * @description Goes into `X-CSRF-Token` beside the cookie; the same for the life of the session. Clients of type `web` alone.
             * @example cx1Zy0m2V4k8T6bJ3nQwRsUdEfGhIjKlMnOpQrStUvW
             */
            csrfToken?: string;
            /**
             * @description Opaque, good for one refresh. Clients of other types than `web` alone.
             * @example c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg
             */
            refreshToken?: string;
            /**
             * Format: date-time
             * @description When the token stops being good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt?: string;
        };
        /** @description The body of signUp. */
        SignUpRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * Format: password
             * @description The new password. `passwordMinLength` and the `require…` settings may ask for more; common passwords and those that contain the address are refused.
             * @example correct horse battery
             */
            password: string;
            /**
             * @description Display name of the profile, without control characters; empty without one.
             * @example Ada Lovelace
             */
            name?: string | null;
            /**
             * Format: uri
             * @description Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where the method is `link` and no default redirect URL is set.
             * @example https://app.example.org/welcome
             */
            redirectTo?: string | null;
            options?: components["schemas"]["OlderOptions"] | null;
        };
        /** @description The body of a change; only the keys present change. */
        UpdateProfileRequest: {
            /**
             * @description Display name, without control characters.
             * @example Ada Lovelace
             */
            name?: string;
            /**
             * @description Unique handle, compared without case and kept in lower case; reserved words are refused. `null` removes it.
             * @example ada
             */
            username?: string | null;
            /**
             * @description Picture: an absolute http or https URL with a host, without white space. `null` removes it.
             * @example https://example.org/ada.png
             */
            avatar_url?: string | null;
            /**
             * @description Text about oneself. `null` removes it.
             * @example First programmer.
             */
            bio?: string | null;
            /**
             * @description Free-form JSON, private to the owner, at most 16 KiB as text. Replaces the whole object.
             * @example {
             *       "theme": "dark"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** @description A user. */
        User: {
            /**
             * Format: uuid
             * @description The id of the user: `sub` of access tokens, `auth_id` of profiles.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * Format: idn-email
             * @description The address as its owner typed it.
             * @example ada@example.org
             */
            email: string;
            /** @description Is true for a verified address. */
            emailVerified: boolean;
            /** @description `email` where a password is set, then the keys of linked identity providers. */
            providers: string[];
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            updatedAt: string;
            profile: components["schemas"]["UserProfile"];
            /**
             * @description Application data that only an admin writes; never null.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata: {
                [key: string]: unknown;
            };
        };
        /** @description Name and picture of the user's profile; an empty name where there is no profile. */
        UserProfile: {
            /**
             * @description Display name; empty if not set.
             * @example Ada Lovelace
             */
            name: string;
            /**
             * @description Picture: an http or https URL.
             * @example https://example.org/ada.png
             */
            avatar_url: string | null;
        };
    };
};
