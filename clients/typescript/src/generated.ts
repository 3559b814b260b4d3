// Generated from docs/openapi.json by scripts/generate.mjs; do not edit.

export type components = {
    schemas: {
        /** @description The data from which a browser updates its passkey manager (`signalAllAcceptedCredentials`). */
        AcceptedPasskeys: {
            /**
             * @description The domain that passkeys belong to; `null` if the service has none.
             * @example accounts.example.org
             */
            rpId: string | null;
            /**
             * @description Random id of the account for authenticators, 16 bytes in base64url without padding.
             * @example AQIDBAUGBwgJCgsMDQ4PEA
             */
            userHandle: string | null;
            /** @description Credential ids of the usable passkeys, in base64url without padding. */
            acceptedCredentialIds: string[];
        };
        /** @description The signed-in user's account, with its second factors and the time and level of the sign-in. */
        Account: {
            user: components["schemas"]["User"];
            /** @description True if the account has a password. */
            hasPassword: boolean;
            /** @description True if two-step sign-in is on. */
            twoStep: boolean;
            /** @description The confirmed authenticator apps, oldest first. */
            totp: components["schemas"]["TotpFactor"][];
            /** @description How many. */
            passkeyCount: number;
            /** @description How many. */
            recoveryCodesLeft: number;
            /** @description Level of the access token: 2 after a first and a second factor. */
            level: number;
            /**
             * Format: date-time
             * @description When the user last signed in or reauthenticated for this access token, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            authTime: string;
            /**
             * Format: date-time
             * @description Until when calls that need a recent sign-in accept this access token, in UTC; `null` if it lacks the second factor.
             * @example 2026-03-01T12:00:00.000Z
             */
            freshUntil: string | null;
            /**
             * @description The kinds of answers that a reauthentication accepts, strongest first; empty if one has to sign in again.
             * @example [
             *       "totp",
             *       "recovery_code"
             *     ]
             */
            reauthenticateWith: ("passkey" | "totp" | "recovery_code" | "password" | "email_code" | "enroll" | "restore")[];
            emailChange?: components["schemas"]["EmailChange"] | null;
            /**
             * @description The language of the account's mails; `null` if none is known.
             * @example de-AT
             */
            locale: string | null;
        };
        /** @description What the service stores about the user. No hash, secret, code or token is in it. */
        AccountExport: {
            /**
             * Format: date-time
             * @description When the data was read, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            exportedAt: string;
            account: components["schemas"]["Account"];
            profile?: components["schemas"]["ProfileFaces"] | null;
            identities: components["schemas"]["Identity"][];
            /** @description The passkeys, without their keys. */
            passkeys: components["schemas"]["PasskeyFacts"][];
            sessions: components["schemas"]["OwnSession"][];
            /** @description The security events of the last 90 days, newest first. */
            events: components["schemas"]["OwnEvent"][];
            /** @description The address of the account, and those before it that are still reserved for it. */
            emails: components["schemas"]["ExportedEmail"][];
        };
        /** @description The response to the deletion of one's account. */
        AccountInDeletion: {
            /**
             * Format: date-time
             * @description When the account is deleted for good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            deletesAt: string;
        };
        /** @description A change of address that was begun. It is the same for free and taken addresses. */
        BegunEmailChange: {
            /**
             * @description It was done.
             * @enum {boolean}
             */
            success: true;
            /** @description A sentence for people. */
            message: string;
            /**
             * Format: uuid
             * @description The id of the change. The codes of its mails are good with it alone.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            changeId: string;
            /**
             * Format: date-time
             * @description When the change and its codes expire, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
            /**
             * @description The addresses that are still to be proven by the codes mailed to them.
             * @example [
             *       "new",
             *       "current"
             *     ]
             */
            needs: ("new" | "current")[];
        };
        /** @description Creation options, with the id to send with the response. */
        BegunPasskey: {
            /**
             * @description The id of the ceremony: opaque, good for ten minutes and one success.
             * @example Y2VyZW1vbnkgaWRzIGFyZSBvcGFxdWU
             */
            ceremonyId: string;
            options: components["schemas"]["PasskeyCreationOptions"];
            /**
             * Format: date-time
             * @description When the options stop being good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description Request options, with the id to send with the response. */
        BegunPasskeySignIn: {
            /**
             * @description The id of the ceremony: opaque, good for ten minutes and one success.
             * @example Y2VyZW1vbnkgaWRzIGFyZSBvcGFxdWU
             */
            ceremonyId: string;
            options: components["schemas"]["PasskeyRequestOptions"];
            /**
             * Format: date-time
             * @description When the options stop being good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description The secret of an authenticator app that is not confirmed yet. */
        BegunTotp: {
            /**
             * Format: uuid
             * @description The id of the factor.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            factorId: string;
            /**
             * @description The secret in Base32, to type into the app.
             * @example JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
             */
            secret: string;
            /**
             * @description The secret as URI, to show as QR code.
             * @example otpauth://totp/Latchkey:ada%40example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Latchkey&algorithm=SHA1&digits=6&period=30
             */
            uri: string;
            /**
             * Format: date-time
             * @description When the app is forgotten unless it is confirmed, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description A challenge, which asks for a second factor or another proof of identity. */
        Challenge: {
            /**
             * @description The id of the challenge.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            id: string;
            /**
             * @description The kinds of answers that it accepts, strongest first.
             * @example [
             *       "totp",
             *       "recovery_code"
             *     ]
             */
            kinds: ("passkey" | "totp" | "recovery_code" | "password" | "email_code" | "enroll" | "restore")[];
            /**
             * Format: date-time
             * @description When the challenge expires, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description Request options for the passkeys of the account. */
        ChallengePasskeyOptions: {
            options: components["schemas"]["PasskeyRequestOptions"];
        };
        /** @description A change of the email address that is not completed. */
        EmailChange: {
            /**
             * Format: idn-email
             * @description The address as its owner typed it.
             * @example ada@example.org
             */
            newEmail: string;
            /**
             * @description The addresses that are proven.
             * @example [
             *       "new",
             *       "current"
             *     ]
             */
            proven: ("new" | "current")[];
            /**
             * Format: date-time
             * @description When the change and its codes expire, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description The addresses that are still to be proven. */
        EmailChangeNeeds: {
            /**
             * @description The addresses that are still to be proven by the codes mailed to them.
             * @example [
             *       "new",
             *       "current"
             *     ]
             */
            needs: ("new" | "current")[];
        };
        /** @description The response after sessions were ended, with their number. */
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
            error: "VALIDATION_ERROR" | "MISSING_QUERY" | "WEAK_PASSWORD" | "REDIRECT_NOT_ALLOWED" | "INVALID_CODE" | "INVALID_OAUTH_CODE" | "UNSUPPORTED_PROVIDER" | "PROVIDER_NOT_CONFIGURED" | "EMAIL_PROVIDER_NOT_CONFIGURED" | "INVALID_CREDENTIALS" | "AUTH_UNAUTHORIZED" | "INVALID_CHALLENGE" | "INVALID_SECOND_FACTOR" | "INVALID_PASSKEY" | "UNKNOWN_PASSKEY" | "ADMIN_UNAUTHORIZED" | "INVALID_ID_TOKEN" | "EMAIL_NOT_VERIFIED" | "INVALID_CSRF_TOKEN" | "REAUTHENTICATION_REQUIRED" | "SECOND_FACTOR_REQUIRED" | "FEATURE_DISABLED" | "SIGNUP_DISABLED" | "USER_BANNED" | "FORBIDDEN" | "PROFILE_NOT_FOUND" | "USER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "TOO_MANY_FACTORS" | "LAST_SECOND_FACTOR" | "PASSKEY_EXISTS" | "EMAIL_EXISTS" | "USERNAME_TAKEN" | "SETTING_PINNED" | "PROVIDER_EXISTS" | "LAST_SIGN_IN_METHOD" | "IDENTITY_TAKEN" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY_REQUESTS" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "SERVICE_BUSY" | "STORAGE_UNAVAILABLE";
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
            challenge?: components["schemas"]["Challenge"];
            /** @description The id of this request, as in `X-Request-Id`: the service's log knows more under it. */
            requestId?: string;
        };
        /** @description An address of the account. */
        ExportedEmail: {
            /**
             * Format: idn-email
             * @description The address as its owner typed it.
             * @example ada@example.org
             */
            email: string;
            /** @description True for the address that the account has now. */
            current: boolean;
            /**
             * Format: date-time
             * @description Until when the former address is reserved for the account, in UTC; `null` for the address of now.
             * @example 2026-03-01T12:00:00.000Z
             */
            reservedUntil: string | null;
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
        /** @description An identity: the user's account at an identity provider. */
        Identity: {
            /**
             * @description The key of an identity provider.
             * @example google
             */
            provider: string;
            /**
             * @description Who it is at the provider.
             * @example 110248495921238986420
             */
            subject: string;
            /**
             * @description The address that the provider gave last.
             * @example ada@example.org
             */
            email: string | null;
            /**
             * Format: date-time
             * @description When it was linked, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
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
        /** @description The response to a request for a mail. It is the same for known and unknown addresses. */
        MailSent: {
            /**
             * @description It was done.
             * @enum {boolean}
             */
            success: true;
            /** @description A sentence for people. */
            message: string;
        };
        /** @description A response that contains only a message for people. */
        Message: {
            /** @description A sentence for people. */
            message: string;
        };
        /** @description A security event of one's own account. */
        OwnEvent: {
            /**
             * Format: uuid
             * @description The id of the event; later events have greater ids.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description What happened.
             * @enum {string}
             */
            kind: "sign_up" | "sign_up_repeated" | "sign_in" | "sign_in_failed" | "sign_out" | "refresh_reuse" | "email_verified" | "reset_code_exchanged" | "password_reset" | "password_changed" | "password_set" | "email_change_started" | "email_change_cancelled" | "email_changed" | "identity_linked" | "identity_unlinked" | "user_banned" | "user_unbanned" | "user_created" | "user_updated" | "user_deleted" | "profile_deleted" | "sessions_ended" | "settings_changed" | "key_rotated" | "admin_refused" | "sign_in_challenged" | "second_factor_failed" | "reauthenticated" | "passkey_added" | "passkey_renamed" | "passkey_removed" | "passkey_refused" | "totp_added" | "totp_removed" | "two_step_on" | "two_step_off" | "recovery_codes_made" | "recovery_code_used" | "factors_reset" | "deletion_scheduled" | "deletion_cancelled" | "account_exported" | "undone" | "request_limited";
            /**
             * @description IP address of the client whose request caused it; `null` if an admin or the service did.
             * @example 192.0.2.7
             */
            ip: string | null;
            /**
             * @description Device of the client whose request caused it; `null` if an admin or the service did.
             * @example Firefox on Linux
             */
            device: string | null;
            /** @description True if it happened in the session of this request. */
            current: boolean;
            /**
             * @description What else is worth knowing, such as the methods of a sign-in. `by` is `admin` or `system` if not the user did it.
             * @example {
             *       "amr": [
             *         "pwd"
             *       ]
             *     }
             */
            details: {
                [key: string]: unknown;
            };
        };
        /** @description A page of the security events of one's own account, newest first. */
        OwnEvents: {
            events: components["schemas"]["OwnEvent"][];
            /**
             * Format: uuid
             * @description Pass it as `before` for the next page; `null` on the last one.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            nextBefore: string | null;
        };
        /** @description The passkeys of the account. */
        OwnPasskeys: components["schemas"]["AcceptedPasskeys"] & {
            /** @description All passkeys, oldest first. */
            passkeys: components["schemas"]["Passkey"][];
        };
        /** @description An open session of the user. Device, name and sign-in are shown where `details` were asked for. */
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
             * @description IP address of the client at the sign-in or the last refresh.
             * @example 192.0.2.7
             */
            ip: string;
            /** @description True for the session of this request. */
            current: boolean;
            /**
             * @description Browser or app, and operating system; `Unknown device` if neither is known.
             * @example Firefox on Linux
             */
            device?: string;
            /**
             * @description Name of the session, as its user calls it.
             * @example Laptop at home
             */
            name?: string | null;
            /**
             * @description How the user signed in (RFC 8176).
             * @example [
             *       "pwd"
             *     ]
             */
            amr?: ("pwd" | "otp" | "fed" | "swk" | "hwk" | "rcv" | "mfa")[];
            /** @description Level of the sign-in: 2 after a first and a second factor. */
            level?: number;
            /**
             * Format: date-time
             * @description When the user signed in, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            authTime?: string;
        };
        /** @description A passkey of the account. */
        Passkey: components["schemas"]["PasskeyFacts"] & {
            /**
             * @description The id by which browsers know the passkey, in base64url without padding.
             * @example AQIDBA
             */
            credentialId: string;
        };
        /** @description An offered algorithm. */
        PasskeyAlgorithm: {
            /** @description Always `public-key`. */
            type: string;
            /**
             * Format: int64
             * @description Its number in the registry of COSE.
             */
            alg: number;
        };
        /** @description The kind of passkey that is asked for. */
        PasskeyAuthenticatorSelection: {
            /** @description Always `required`: the passkey is discoverable. */
            residentKey: string;
            /** @description Always `true`, for browsers that do not know `residentKey`. */
            requireResidentKey: boolean;
            /** @description `required`, or `preferred` with `mediation: "conditional"`. */
            userVerification: string;
        };
        /** @description Options for `navigator.credentials.create()`. */
        PasskeyCreationOptions: {
            rp: components["schemas"]["PasskeyRelyingParty"];
            user: components["schemas"]["PasskeyUser"];
            /**
             * @description 32 random bytes, in base64url without padding.
             * @example mXpUwJ2c0bS8Jm3nQwRsUdEfGhIjKlMnOpQrStUvWxY
             */
            challenge: string;
            /** @description The algorithms, in the order of preference. */
            pubKeyCredParams: components["schemas"]["PasskeyAlgorithm"][];
            /** @description How long the browser waits for the user, in milliseconds. */
            timeout: number;
            authenticatorSelection: components["schemas"]["PasskeyAuthenticatorSelection"];
            /** @description The passkeys that the account has already. */
            excludeCredentials: components["schemas"]["PasskeyDescriptor"][];
            /** @description Always `none`. */
            attestation: string;
            extensions: components["schemas"]["PasskeyExtensions"];
        };
        /** @description A passkey of the account. */
        PasskeyDescriptor: {
            /**
             * @description The id by which browsers know the passkey, in base64url without padding.
             * @example AQIDBA
             */
            id: string;
            /** @description Always `public-key`. */
            type: string;
            /** @description How the browser reaches the authenticator. */
            transports: string[];
        };
        /** @description The extensions that are asked for. */
        PasskeyExtensions: {
            /** @description Always `true`. */
            credProps: boolean;
        };
        /** @description A passkey without its credential id, as an admin sees it. */
        PasskeyFacts: {
            /**
             * Format: uuid
             * @description The id of the passkey.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * @description Name of the factor, as its owner calls it.
             * @example My phone
             */
            name: string;
            /**
             * Format: date-time
             * @description When it was registered, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last used, in UTC; `null` if never.
             * @example 2026-03-01T12:00:00.000Z
             */
            lastUsedAt: string | null;
            /** @description True if it was backed up, such as to the other devices of its owner, at its last use. */
            synced: boolean;
            /**
             * @description The model of the authenticator, by its own account.
             * @example fbfc3007-154e-4ecc-8c0b-6e020557d7bd
             */
            aaguid: string;
            /** @description True if it was registered for the present domain (`passkeys.rp_id`); others are neither offered nor accepted. */
            usable: boolean;
        };
        /** @description The service, as authenticators show it. */
        PasskeyRelyingParty: {
            /** @description The domain that the passkey belongs to. */
            id: string;
            /** @description The name of the service. */
            name: string;
        };
        /** @description Options for `navigator.credentials.get()`. */
        PasskeyRequestOptions: {
            /**
             * @description 32 random bytes, in base64url without padding.
             * @example mXpUwJ2c0bS8Jm3nQwRsUdEfGhIjKlMnOpQrStUvWxY
             */
            challenge: string;
            /** @description How long the browser waits for the user, in milliseconds. */
            timeout: number;
            /** @description The domain that the passkey belongs to. */
            rpId: string;
            /** @description The passkeys that may answer; empty if any may. */
            allowCredentials: components["schemas"]["PasskeyDescriptor"][];
            /** @description Always `required`. */
            userVerification: string;
        };
        /** @description The account, as authenticators show it. */
        PasskeyUser: {
            /**
             * @description Random id of the account for authenticators, 16 bytes in base64url without padding.
             * @example AQIDBAUGBwgJCgsMDQ4PEA
             */
            id: string;
            /** @description The email address of the account. */
            name: string;
            /** @description The name of the profile, or the email address. */
            displayName: string;
        };
        /** @description The profile in both forms. */
        ProfileFaces: {
            record: components["schemas"]["ProfileRecord"];
            flat: components["schemas"]["FlatProfile"];
        };
        /** @description A profile, as shown to its owner. */
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
        /** @description The settings that a sign-in page needs. */
        PublicConfig: {
            /** @description Keys of the built-in identity providers that are configured. */
            oAuthProviders: string[];
            /** @description Keys of the custom identity providers. */
            customOAuthProviders: string[];
            /** @description True if an address must be verified before the first sign-in. */
            requireEmailVerification: boolean;
            /** @description Least number of characters of a new password. */
            passwordMinLength: number;
            /** @description True if a new password must contain a digit. */
            requireNumber: boolean;
            /** @description True if a new password must contain a lower-case letter. */
            requireLowercase: boolean;
            /** @description True if a new password must contain an upper-case letter. */
            requireUppercase: boolean;
            /** @description True if a new password must contain a character that is neither letter nor digit. */
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
            /** @description True if sign-up is disabled. */
            disableSignup: boolean;
            /**
             * @description Sign-in by mail: not at all, by a mailed code, or by code and link.
             * @enum {string}
             */
            emailSignIn: "off" | "code" | "code_and_link";
            /**
             * @description Two-step sign-in: users may turn it on, must set it up, or cannot.
             * @enum {string}
             */
            secondFactor: "off" | "optional" | "required";
            /** @description True if users can sign in by passkey. False also where `server.public_url` has no domain. */
            passkeys: boolean;
            /**
             * @description The languages of mails, as language tags (BCP 47).
             * @example [
             *       "en",
             *       "de"
             *     ]
             */
            locales: string[];
        };
        /** @description A public profile, as shown to other users and in search results. */
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
        /** @description The response after a passkey was removed. */
        RemovedPasskey: components["schemas"]["AcceptedPasskeys"] & {
            /** @description A sentence for people. */
            message: string;
        };
        /** @description A token that allows one password reset. */
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
        /** @description An authenticator app of the account. */
        TotpFactor: {
            /**
             * Format: uuid
             * @description The id of the factor.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * @description Name of the factor, as its owner calls it.
             * @example My phone
             */
            name: string;
            /**
             * Format: date-time
             * @description When it was enrolled, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When one of its codes was last accepted, in UTC; `null` if never.
             * @example 2026-03-01T12:00:00.000Z
             */
            lastUsedAt: string | null;
        };
        /** @description Request to change the user's own profile. Absent keys stay unchanged. */
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
        /** @description A user account. */
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
            /** @description True if the address is verified. */
            emailVerified: boolean;
            /** @description `email` if a password is set, then the keys of linked identity providers, then `passkey` if there is a usable one. */
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
        /** @description Name and picture in the user's profile. The name is empty if the user has no profile. */
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
