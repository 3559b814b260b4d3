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
        /** @description A user, as shown to an admin. */
        AdminUser: components["schemas"]["User"] & {
            /** @description True if the user is banned. */
            banned: boolean;
            /**
             * Format: date-time
             * @description When the user last completed a sign-in, in UTC; absent if never.
             * @example 2026-03-01T12:00:00.000Z
             */
            lastSignInAt?: string;
            /**
             * Format: date-time
             * @description When the account is deleted for good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            deletesAt?: string;
        };
        /** @description Answer to a challenge. */
        AnswerChallengeRequest: {
            /**
             * @description The id of the challenge.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId: string;
            /**
             * @description One of the `kinds` of the challenge.
             * @enum {string}
             */
            kind: "passkey" | "totp" | "recovery_code" | "password" | "email_code" | "enroll" | "restore";
            /**
             * @description For `totp` and `email_code`: six digits. For `recovery_code`: sixteen letters and digits; case, spaces and hyphens do not count.
             * @example 123456
             */
            code?: string | null;
            /**
             * Format: password
             * @description For `password`: the password of the account.
             * @example correct horse battery
             */
            password?: string | null;
            /**
             * @description For `passkey`: the browser's response to the options of `getChallengePasskeyOptions`, as `toJSON()` gives it.
             * @example {}
             */
            credential?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description An event of the audit log. */
        AuditEvent: {
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
            event: "sign_up" | "sign_up_repeated" | "sign_in" | "sign_in_failed" | "sign_out" | "refresh_reuse" | "email_verified" | "reset_code_exchanged" | "password_reset" | "password_changed" | "password_set" | "email_change_started" | "email_change_cancelled" | "email_changed" | "identity_linked" | "identity_unlinked" | "user_banned" | "user_unbanned" | "user_created" | "user_imported" | "import_started" | "import_undone" | "user_updated" | "user_deleted" | "profile_deleted" | "profile_cleared" | "sessions_ended" | "session_ended" | "mail_retried" | "reset_sent" | "verification_sent" | "limits_lifted" | "user_read" | "users_exported" | "settings_changed" | "provider_tested" | "key_rotated" | "database_restored" | "secret_rotated" | "admin_refused" | "sign_in_challenged" | "second_factor_failed" | "reauthenticated" | "passkey_added" | "passkey_renamed" | "passkey_removed" | "passkey_refused" | "totp_added" | "totp_removed" | "two_step_on" | "two_step_off" | "recovery_codes_made" | "recovery_code_used" | "factors_reset" | "deletion_scheduled" | "deletion_cancelled" | "account_exported" | "instance_exported" | "undone" | "operator_granted" | "operator_revoked" | "operator_link_made" | "operator_activated" | "operator_refused" | "request_limited";
            /**
             * @description Who caused it.
             * @enum {string}
             */
            actor: "user" | "admin" | "operator" | "system";
            /**
             * Format: uuid
             * @description The operator who caused it; only for the actor `operator`.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            operatorId?: string;
            /**
             * Format: uuid
             * @description The user that it is about.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            userId: string | null;
            /**
             * Format: uuid
             * @description The session that it happened in.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            sessionId: string | null;
            /**
             * @description IP address of the client whose request caused it; `null` without a request.
             * @example 192.0.2.7
             */
            ip: string | null;
            /**
             * @description What the client called itself.
             * @example Mozilla/5.0
             */
            userAgent: string | null;
            /**
             * @description What else is worth knowing, such as names of changed settings; never a secret.
             * @example {
             *       "reason": "wrong password"
             *     }
             */
            details: {
                [key: string]: unknown;
            };
        };
        /** @description A page of audit events, newest first. */
        AuditPage: {
            data: components["schemas"]["AuditEvent"][];
            pagination: components["schemas"]["AuditPagination"];
        };
        /** @description Position of the page in the audit log. */
        AuditPagination: {
            /** @description Most items of the page. */
            limit: number;
            /**
             * Format: uuid
             * @description Pass it as `before` for the next page; left out on the last one.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            nextBefore?: string;
        };
        /** @description Request for creation options. */
        BeginPasskeyRequest: {
            /**
             * @description `conditional`: the browser registers without a prompt, or not at all.
             * @enum {string|null}
             */
            mediation?: "conditional" | null;
            /**
             * @description A challenge of kind `enroll`, in place of a bearer.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId?: string | null;
        };
        /** @description Request for request options. */
        BeginPasskeySignInRequest: {
            /**
             * Format: email
             * @description If given, only a passkey of the account with this address is accepted. It changes nothing in the response.
             * @example ada@example.org
             */
            email?: string | null;
        };
        /** @description Request to enrol an authenticator app. */
        BeginTotpRequest: {
            /**
             * @description Name of the factor, as its owner calls it.
             * @example My phone
             */
            name?: string | null;
            /**
             * @description A challenge of kind `enroll`, in place of a bearer.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId?: string | null;
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
        /** @description The response to a correct answer. It depends on the purpose of the challenge. */
        ChallengeAnswered: components["schemas"]["Session"] | components["schemas"]["Challenged"] | components["schemas"]["ResetToken"] | components["schemas"]["Message"];
        /** @description Request options for the passkeys of the account. */
        ChallengePasskeyOptions: {
            options: components["schemas"]["PasskeyRequestOptions"];
        };
        /** @description Request for the options of a challenge. */
        ChallengePasskeyOptionsRequest: {
            /**
             * @description The id of the challenge.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId: string;
        };
        /** @description The challenge for a second factor, which a sign-in gets instead of a session. */
        Challenged: {
            challenge: components["schemas"]["Challenge"];
        };
        /** @description Request body of the operation `changeEmail`. */
        ChangeEmailRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            newEmail: string;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description Request body of the operation `changePassword`. */
        ChangePasswordRequest: {
            /**
             * Format: password
             * @description The current password. Left out only by an account without one.
             * @example correct horse battery
             */
            currentPassword?: string;
            /**
             * Format: password
             * @description The new password. `passwordMinLength` and the `require…` settings may ask for more; common passwords and those that contain the address are refused.
             * @example correct horse battery
             */
            newPassword: string;
        };
        /** @description The authenticator app, as changed by the request. */
        ChangedFactor: {
            factor: components["schemas"]["TotpFactor"];
        };
        /** @description The passkey, as registered or changed by the request. */
        ChangedPasskey: {
            passkey: components["schemas"]["Passkey"];
        };
        /** @description Request to sign in by a mailed code. */
        CodeSignIn: {
            /**
             * @description How one signs in: by a mailed code.
             * @enum {string}
             */
            method: "otp";
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * @description The code of the mail: six digits, or sixteen letters and digits in groups.
             * @example 123456
             */
            otp: string;
            /**
             * @description Display name of the profile, without control characters; empty without one.
             * @example Ada Lovelace
             */
            name?: string | null;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description The settings that an admin can change. */
        Config: components["schemas"]["PublicConfig"] & {
            /** @description The allowed redirect URLs. */
            allowedRedirectUrls: string[];
            /**
             * @description The redirect target where none is given.
             * @example https://app.example.org/
             */
            defaultRedirectUrl: string | null;
            /**
             * @description The language of mails to people who asked for none; one of `locales`.
             * @example de-AT
             */
            defaultLocale: string;
        };
        /** @description Request body of the operation `confirmEmailChange`. */
        ConfirmEmailChangeRequest: {
            /**
             * Format: uuid
             * @description The id of the change. The codes of its mails are good with it alone.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            changeId: string;
            /**
             * @description The code of the mail to the new address.
             * @example 123456
             */
            newCode?: string | null;
            /**
             * @description The code of the mail to the current address.
             * @example 123456
             */
            currentCode?: string | null;
        };
        /** @description Request to confirm an authenticator app. */
        ConfirmTotpRequest: {
            /**
             * Format: uuid
             * @description The id of the factor.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            factorId: string;
            /**
             * @description The code that the app shows.
             * @example 123456
             */
            code: string;
            /**
             * @description A challenge of kind `enroll`, in place of a bearer.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId?: string | null;
        };
        /** @description The new session with the recovery codes, if two-step sign-in was off; else the app alone. */
        ConfirmedTotp: components["schemas"]["TwoStepOn"] | components["schemas"]["ChangedFactor"];
        /** @description Request to configure a custom provider. */
        CreateCustomOAuthConfigRequest: {
            /**
             * @description The key of an identity provider.
             * @example google
             */
            key: string;
            /**
             * @description What people call the provider; its key without it.
             * @example Acme
             */
            name?: string | null;
            /**
             * Format: uri
             * @description The provider's discovery document (OpenID Connect Discovery 1.0), or its issuer.
             * @example https://id.acme.example/.well-known/openid-configuration
             */
            discoveryEndpoint: string;
            /**
             * @description The client's id at the provider.
             * @example 1234.apps.googleusercontent.com
             */
            clientId: string;
            /**
             * @description The client's secret at the provider: written, never read back.
             * @example GOCSPX-…
             */
            clientSecret?: string | null;
            /** @description The scopes to ask for; `null` for the usual ones. */
            scopes?: string[] | null;
            /** @description Client ids of native apps, for sign-in by id token. */
            nativeClientIds?: string[] | null;
            /** @description Whether an address that the provider verified opens the account of that address; `true` without it at the creation. With `false` a taken address is refused: its owner signs in and links. */
            linkByEmail?: boolean | null;
            /** @description Whether one can sign in with it; `true` without it at the creation. */
            enabled?: boolean | null;
        };
        /** @description Request to configure a built-in provider. */
        CreateOAuthConfigRequest: {
            /**
             * @description The key of an identity provider.
             * @example google
             */
            provider: string;
            /**
             * @description The client's id at the provider.
             * @example 1234.apps.googleusercontent.com
             */
            clientId: string;
            /**
             * @description The client's secret at the provider: written, never read back.
             * @example GOCSPX-…
             */
            clientSecret?: string | null;
            /** @description The scopes to ask for; `null` for the usual ones. */
            scopes?: string[] | null;
            /** @description Client ids of native apps, for sign-in by id token. */
            nativeClientIds?: string[] | null;
            /**
             * @description Microsoft alone: `common` (the default), `organizations`, `consumers` or a directory's id.
             * @example organizations
             */
            tenant?: string | null;
            /**
             * @description Apple alone: the team's id.
             * @example A1B2C3D4E5
             */
            teamId?: string | null;
            /**
             * @description Apple alone: the id of the private key.
             * @example F6G7H8I9J0
             */
            keyId?: string | null;
            /**
             * @description Apple alone: the private key as PEM, the text of the .p8 file. Written, never read back.
             * @example -----BEGIN PRIVATE KEY-----
             *     …
             *     -----END PRIVATE KEY-----
             */
            privateKey?: string | null;
            /** @description Whether an address that the provider verified opens the account of that address; `true` without it at the creation. With `false` a taken address is refused: its owner signs in and links. */
            linkByEmail?: boolean | null;
            /** @description Whether one can sign in with it; `true` without it at the creation. */
            enabled?: boolean | null;
        };
        /** @description Request of an admin to create a user. */
        CreateUserRequest: {
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
            /** @description True if the address counts as verified; `false` by default. */
            autoConfirm?: boolean | null;
            /** @description True if the user gets a profile; `true` by default. */
            createProfile?: boolean | null;
            /**
             * @description Application data, at most 16 KiB as JSON.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The language of the account's mails; `null` if none is known.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description The user that an admin created. */
        CreatedUser: {
            user: components["schemas"]["AdminUser"];
        };
        /** @description The CSRF token of the session in the refresh cookie. */
        CsrfToken: {
            /**
             * @description Goes into `X-CSRF-Token` beside the cookie; the same for the life of the session. Clients of type `web` alone.
             * @example cx1Zy0m2V4k8T6bJ3nQwRsUdEfGhIjKlMnOpQrStUvW
             */
            csrfToken: string;
        };
        /** @description The signed-in user, and the expiry of the access token. */
        CurrentSession: {
            user: components["schemas"]["User"];
            /**
             * Format: date-time
             * @description When the token stops being good, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description Configuration of a custom provider. */
        CustomOAuthConfig: components["schemas"]["OAuthClient"] & {
            /**
             * @description The key of an identity provider.
             * @example google
             */
            key: string;
            /**
             * Format: uri
             * @description The provider's discovery document (OpenID Connect Discovery 1.0), or its issuer.
             * @example https://id.acme.example/.well-known/openid-configuration
             */
            discoveryEndpoint: string;
        };
        /** @description The configured custom providers. */
        CustomOAuthConfigs: {
            data: components["schemas"]["CustomOAuthConfig"][];
            /** @description How many. */
            count: number;
        };
        /** @description Request to delete users. A malformed id counts as an unknown id. */
        DeleteUsersRequest: {
            /** @description Ids of users; unknown ones are skipped. */
            userIds: string[];
        };
        /** @description The response after users were deleted, with their number. */
        DeletedUsers: {
            /** @description A sentence for people. */
            message: string;
            /** @description How many. */
            deletedCount: number;
        };
        /** @description A change of the email address that is not completed. */
        EmailChange: {
            /**
             * Format: uuid
             * @description The id of the change. The codes of its mails are good with it alone.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            changeId?: string;
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
        /** @description The response to codes none of which was wrong. */
        EmailChangeConfirmed: components["schemas"]["EmailChanged"] | components["schemas"]["EmailChangeNeeds"];
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
        /** @description The user with the new address. The session continues. */
        EmailChanged: {
            user: components["schemas"]["User"];
            /**
             * @description A signed JWT (RFC 7519, RFC 9068): goes into `Authorization: Bearer`.
             * @example eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl
             */
            accessToken: string;
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
        /** @description The response after a user's sessions were ended, with their number. */
        EndedUserSessions: {
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
            error: "VALIDATION_ERROR" | "MISSING_QUERY" | "WEAK_PASSWORD" | "REDIRECT_NOT_ALLOWED" | "INVALID_CODE" | "FORMAT_UNKNOWN" | "INVALID_OAUTH_CODE" | "UNSUPPORTED_PROVIDER" | "PROVIDER_NOT_CONFIGURED" | "EMAIL_PROVIDER_NOT_CONFIGURED" | "INVALID_CREDENTIALS" | "AUTH_UNAUTHORIZED" | "INVALID_CHALLENGE" | "INVALID_SECOND_FACTOR" | "INVALID_PASSKEY" | "UNKNOWN_PASSKEY" | "ADMIN_UNAUTHORIZED" | "INVALID_ID_TOKEN" | "EMAIL_NOT_VERIFIED" | "INVALID_CSRF_TOKEN" | "REAUTHENTICATION_REQUIRED" | "SECOND_FACTOR_REQUIRED" | "FEATURE_DISABLED" | "SIGNUP_DISABLED" | "USER_BANNED" | "OPERATOR_PROTECTED" | "FORBIDDEN" | "PROFILE_NOT_FOUND" | "USER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "TOO_MANY_FACTORS" | "LAST_SECOND_FACTOR" | "PASSKEY_EXISTS" | "EMAIL_EXISTS" | "USERNAME_TAKEN" | "SETTING_PINNED" | "IMPORT_RUNNING" | "IMPORT_NOT_UNDOABLE" | "LAST_OWNER" | "PROVIDER_EXISTS" | "LAST_SIGN_IN_METHOD" | "IDENTITY_TAKEN" | "MAIL_NOT_RETRIED" | "MAIL_NOT_SENT" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY_REQUESTS" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "SERVICE_BUSY" | "STORAGE_UNAVAILABLE";
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
        /** @description Request body of the operation `exchangeResetPasswordToken`. */
        ExchangeResetPasswordTokenRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * @description The code of the mail: six digits, or sixteen letters and digits in groups.
             * @example 123456
             */
            code: string;
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
        /** @description State of the service, as one word. */
        Health: {
            /**
             * @description What is so.
             * @enum {string}
             */
            status: "live" | "ready";
        };
        /** @description Request to sign in with an id token. */
        IdTokenRequest: {
            /**
             * @description The key of an identity provider.
             * @example google
             */
            provider: string;
            /**
             * @description The id token (OpenID Connect) that the provider gave to the app: good once.
             * @example eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl
             */
            token: string;
            /**
             * @description The nonce that the app made. Required where the token has one, which may be this text or its SHA-256 in hex. At `apple`, 64 hex digits in the token are always taken for the SHA-256.
             * @example n-0S6_WzA2Mj
             */
            nonce?: string | null;
            /**
             * @description Display name of the profile, without control characters; empty without one.
             * @example Ada Lovelace
             */
            name?: string | null;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description The user's identities, oldest first. */
        Identities: {
            identities: components["schemas"]["Identity"][];
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
        /** @description An import of accounts from another service. */
        Import: {
            /**
             * Format: uuid
             * @description The id of the import.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /**
             * @description `failed`: it ended early; an import of the same file goes on.
             * @enum {string}
             */
            state: "running" | "done" | "failed" | "undone";
            /** @description Name of the format. */
            from: string;
            /** @description Whether nothing but the report is written. */
            dryRun: boolean;
            /**
             * Format: int64
             * @description Records that were read.
             */
            read: number;
            /**
             * Format: int64
             * @description Accounts that were created.
             */
            created: number;
            /**
             * Format: int64
             * @description Accounts that got something that they lacked.
             */
            updated: number;
            /**
             * Format: int64
             * @description Records whose account stayed as it was.
             */
            skipped: number;
            /**
             * Format: int64
             * @description Records that were refused.
             */
            refused: number;
            /** @description Number of problems by code: `email_invalid`, `duplicate_in_file`, `email_taken`, `not_trusted`, `id_taken`, `identity_taken`, `username_taken`, `hash_unknown`, `hash_weak`, `hash_out_of_bounds`, `field_dropped`, `record_too_large`, `json_invalid`, `operator_protected`, `factor_not_carried`, `provider_not_configured`. */
            problems: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description When it began, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When it ended, in UTC; `null` while it runs.
             * @example 2026-03-01T12:00:00.000Z
             */
            endedAt: string | null;
        };
        /** @description A line of the report: a problem with a record, or the new id of an account whose id could not be kept. */
        ImportReportLine: {
            /**
             * Format: int64
             * @description Line of the file at which the record begins.
             */
            line?: number | null;
            /** @enum {string} */
            outcome?: "created" | "updated" | "skipped" | "refused";
            /** @enum {string} */
            code?: "email_invalid" | "duplicate_in_file" | "email_taken" | "not_trusted" | "id_taken" | "identity_taken" | "username_taken" | "hash_unknown" | "hash_weak" | "hash_out_of_bounds" | "field_dropped" | "record_too_large" | "json_invalid" | "operator_protected" | "factor_not_carried" | "provider_not_configured";
            /** @description Field of the record that the problem is about. */
            field?: string | null;
            /** @description What is wrong, without the value. */
            message?: string | null;
            /** @description Id in the source. */
            importedId?: string | null;
            /**
             * Format: uuid
             * @description The id of the user: `sub` of access tokens, `auth_id` of profiles.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id?: string;
        };
        /** @description An import. */
        ImportResponse: {
            job: components["schemas"]["Import"];
        };
        /**
         * @description A line of an export: the head (`latchkey-export`), then accounts (`user`), identity providers (`provider`) and the
         *     settings (`settings`), and at last the `end`, with the number of accounts and the SHA-256 of all lines before it. A
         *     file without its end is torn. The fields depend on the kind; docs/operations.md lists them.
         */
        InstanceExportLine: {
            kind: string;
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
        /** @description Request to start linking an identity. Each field may be in the query string instead. */
        LinkIdentityRequest: {
            /**
             * Format: uri
             * @description Where the browser goes in the end; must be on the list. Here or in the query string; without it the default redirect URL.
             * @example https://app.example.org/settings
             */
            redirect_uri?: string | null;
            /**
             * @description The PKCE challenge by S256 (RFC 7636); here or in the query string.
             * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
             */
            code_challenge?: string | null;
            /**
             * @description Further parameters of the authorization request; reserved ones are left out.
             * @example {
             *       "prompt": "select_account"
             *     }
             */
            additionalParams?: {
                [key: string]: string;
            } | null;
        };
        /** @description Request to sign in by a mailed link. */
        LinkSignIn: {
            /**
             * @description How one signs in: by a mailed link.
             * @enum {string}
             */
            method: "link";
            /**
             * @description The token of the link: 64 hex digits.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            token: string;
            /**
             * @description The PKCE verifier (RFC 7636) whose challenge the flow was begun with.
             * @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
             */
            code_verifier?: string;
            /**
             * @description Display name of the profile, without control characters; empty without one.
             * @example Ada Lovelace
             */
            name?: string | null;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description A mail in the outbox and its fate, without its content. */
        Mail: components["schemas"]["UserMail"] & {
            /**
             * Format: uuid
             * @description The user that it is about.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            userId: string | null;
            /**
             * Format: date-time
             * @description When it is sent next, in UTC; `null` unless it waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            nextAttemptAt: string | null;
        };
        /** @description A page of the mails in the outbox, newest first. */
        MailPage: {
            data: components["schemas"]["Mail"][];
            pagination: components["schemas"]["MailPagination"];
        };
        /** @description Position of the page in the list of mails. */
        MailPagination: {
            /** @description Most items of the page. */
            limit: number;
            /** @description How many. */
            total: number;
            /**
             * @description Pass it as `cursor` for the next page; left out on the last one. Opaque.
             * @example MTc3MjM2NjQwMDAwMC4wMTk5YTFi
             */
            nextCursor?: string;
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
        /** @description Sign-up while verification is off: a session. Sign-up while it is required: no session yet, the same for a free and a taken address. With an admin key: the user. */
        NewUserAnswer: components["schemas"]["Session"] | components["schemas"]["VerificationRequired"] | components["schemas"]["CreatedUser"];
        /** @description A sign-up; with an admin key, an admin's creation of a user. */
        NewUserRequest: components["schemas"]["SignUpRequest"] | components["schemas"]["CreateUserRequest"];
        /** @description Configuration fields that built-in and custom providers share. */
        OAuthClient: {
            /** @description Display name of the provider. */
            name: string;
            /**
             * @description The client's id at the provider.
             * @example 1234.apps.googleusercontent.com
             */
            clientId: string;
            /** @description True if a client secret is stored. The secret is never returned. */
            hasClientSecret: boolean;
            /** @description The scopes that are asked for; `null` for the usual ones. */
            scopes: string[] | null;
            /** @description Client ids of native apps, for sign-in with an id token. */
            nativeClientIds: string[];
            /**
             * @description True if a sign-in with an email address verified by the provider leads to the existing account of that address.
             *     The identity is linked to the account, or takes the account over if its address was never verified.
             */
            linkByEmail: boolean;
            /** @description True if users can sign in with the provider. */
            enabled: boolean;
            /** @description True if the settings file defines the provider. An admin cannot change it then. */
            pinned: boolean;
            /**
             * @description The redirect URI to register at the provider.
             * @example https://accounts.example.org/api/auth/oauth/google/callback
             */
            redirectUri: string;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description When it last changed, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            updatedAt?: string;
        };
        /** @description Configuration of a built-in provider. */
        OAuthConfig: components["schemas"]["OAuthClient"] & {
            /**
             * @description The key of an identity provider.
             * @example google
             */
            provider: string;
            /**
             * @description Microsoft alone: `common` (the default), `organizations`, `consumers` or a directory's id.
             * @example organizations
             */
            tenant: string | null;
            /**
             * @description Apple alone: the team's id.
             * @example A1B2C3D4E5
             */
            teamId: string | null;
            /**
             * @description Apple alone: the id of the private key.
             * @example F6G7H8I9J0
             */
            keyId: string | null;
        };
        /** @description The configured built-in providers. */
        OAuthConfigs: {
            data: components["schemas"]["OAuthConfig"][];
            /** @description How many. */
            count: number;
        };
        /** @description Request to exchange the code from an OAuth callback. */
        OAuthExchangeRequest: {
            /**
             * @description The `service_code` that came back with the browser: good once, for 60 seconds.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            code: string;
            /**
             * @description The PKCE verifier (RFC 7636) whose challenge the flow was begun with.
             * @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
             */
            code_verifier: string;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description The provider's URL to which the app sends the browser. */
        OAuthStart: {
            /**
             * @description Where to send the browser: the provider's page.
             * @example https://accounts.google.com/o/oauth2/v2/auth?client_id=…
             */
            authUrl: string;
        };
        /** @description The object `options`, in which older clients send the redirect target. */
        OlderOptions: {
            /**
             * Format: uri
             * @description Redirect target of the older variant: used where neither `redirectTo` nor a default is there.
             * @example https://app.example.org/welcome
             */
            emailRedirectTo?: string | null;
        };
        /** @description An OpenAPI 3.1 document. */
        OpenApiDocument: {
            /** @example 3.1.0 */
            openapi: string;
        } & {
            [key: string]: unknown;
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
            kind: "sign_up" | "sign_up_repeated" | "sign_in" | "sign_in_failed" | "sign_out" | "refresh_reuse" | "email_verified" | "reset_code_exchanged" | "password_reset" | "password_changed" | "password_set" | "email_change_started" | "email_change_cancelled" | "email_changed" | "identity_linked" | "identity_unlinked" | "user_banned" | "user_unbanned" | "user_created" | "user_imported" | "import_started" | "import_undone" | "user_updated" | "user_deleted" | "profile_deleted" | "profile_cleared" | "sessions_ended" | "session_ended" | "mail_retried" | "reset_sent" | "verification_sent" | "limits_lifted" | "user_read" | "users_exported" | "settings_changed" | "provider_tested" | "key_rotated" | "database_restored" | "secret_rotated" | "admin_refused" | "sign_in_challenged" | "second_factor_failed" | "reauthenticated" | "passkey_added" | "passkey_renamed" | "passkey_removed" | "passkey_refused" | "totp_added" | "totp_removed" | "two_step_on" | "two_step_off" | "recovery_codes_made" | "recovery_code_used" | "factors_reset" | "deletion_scheduled" | "deletion_cancelled" | "account_exported" | "instance_exported" | "undone" | "operator_granted" | "operator_revoked" | "operator_link_made" | "operator_activated" | "operator_refused" | "request_limited";
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
        /** @description The open sessions of the user. */
        OwnSessions: {
            sessions: components["schemas"]["OwnSession"][];
        };
        /** @description Position of the page in the list of users. */
        Pagination: {
            /** @description How many items were skipped. */
            offset: number;
            /** @description Most items of the page. */
            limit: number;
            /** @description How many. */
            total: number;
            /**
             * @description Pass it as `cursor` for the next page; left out on the last one. Opaque.
             * @example MTc3MjM2NjQwMDAwMC4wMTk5YTFi
             */
            nextCursor?: string;
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
        /** @description The new session after a passkey turned two-step sign-in on, with the passkey and the recovery codes. */
        PasskeyEnrolled: components["schemas"]["Session"] & {
            passkey: components["schemas"]["Passkey"];
            /** @description Codes for the day that the app is lost, each good once. Shown this once. */
            recoveryCodes: string[];
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
        /** @description The new session with the passkey and the recovery codes, if a challenge enrols; else the passkey alone. */
        PasskeyRegistered: components["schemas"]["PasskeyEnrolled"] | components["schemas"]["ChangedPasskey"];
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
        /** @description The browser's response to request options. */
        PasskeySignInRequest: {
            /**
             * @description The id of the ceremony: opaque, good for ten minutes and one success.
             * @example Y2VyZW1vbnkgaWRzIGFyZSBvcGFxdWU
             */
            ceremonyId: string;
            /** @description The browser's response, as `toJSON()` gives it (`AuthenticationResponseJSON`). */
            credential: {
                /**
                 * @description The credential id, in base64url without padding.
                 * @example AQIDBA
                 */
                id: string;
                /**
                 * @description The same as `id`.
                 * @example AQIDBA
                 */
                rawId: string;
                /**
                 * @description Always `public-key`.
                 * @example public-key
                 */
                type: string;
                response: {
                    /**
                     * @description In base64url without padding.
                     * @example AQIDBA
                     */
                    clientDataJSON: string;
                    /**
                     * @description In base64url without padding.
                     * @example AQIDBA
                     */
                    authenticatorData: string;
                    /**
                     * @description In base64url without padding.
                     * @example AQIDBA
                     */
                    signature: string;
                    /**
                     * @description In base64url without padding.
                     * @example AQIDBA
                     */
                    userHandle: string;
                };
            };
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
        /** @description Request body of the operation `signInWithPassword`. */
        PasswordSignIn: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * Format: password
             * @description The password, taken as it is: never trimmed, never cut.
             * @example correct horse battery
             */
            password: string;
            /**
             * @description How one signs in; by password if left out.
             * @enum {string|null}
             */
            method?: "password" | null;
        };
        /**
         * @description Fields to change. Every other key is a custom field, public, with any value; `null` deletes it. Custom fields are at most 16 KiB of JSON together. `id`, `auth_id`, `profile`, `createdAt`, `updatedAt`, `created_at`, `updated_at` and `metadata` are read-only and ignored.
         * @example {
         *       "bio": "First programmer.",
         *       "favourite_colour": "green"
         *     }
         */
        ProfileChange: {
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
        } & {
            [key: string]: unknown;
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
        /** @description Profiles that match, the best first. */
        PublicProfiles: components["schemas"]["PublicProfile"][];
        /** @description New recovery codes. */
        RecoveryCodes: {
            /** @description Codes for the day that the app is lost, each good once. Shown this once. */
            recoveryCodes: string[];
        };
        /** @description Request of a client that stores the refresh token itself. Either spelling of the key is accepted. */
        RefreshRequest: {
            /**
             * @description The refresh token of clients other than `web`: 86 characters of base64url. Ignored for `web`, which sends the cookie.
             * @example c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg
             */
            refreshToken?: string | null;
            /**
             * @description The refresh token of clients other than `web`: 86 characters of base64url. Ignored for `web`, which sends the cookie.
             * @example c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg
             */
            refresh_token?: string | null;
        };
        /** @description The browser's response to creation options. */
        RegisterPasskeyRequest: {
            /**
             * @description The id of the ceremony: opaque, good for ten minutes and one success.
             * @example Y2VyZW1vbnkgaWRzIGFyZSBvcGFxdWU
             */
            ceremonyId: string;
            /** @description The browser's response, as `toJSON()` gives it (`RegistrationResponseJSON`). */
            credential: {
                /**
                 * @description The credential id, in base64url without padding.
                 * @example AQIDBA
                 */
                id: string;
                /**
                 * @description The same as `id`.
                 * @example AQIDBA
                 */
                rawId: string;
                /**
                 * @description Always `public-key`.
                 * @example public-key
                 */
                type: string;
                response: {
                    /**
                     * @description In base64url without padding.
                     * @example AQIDBA
                     */
                    clientDataJSON: string;
                    /**
                     * @description In base64url without padding.
                     * @example AQIDBA
                     */
                    attestationObject: string;
                };
            };
            /**
             * @description Name of the factor, as its owner calls it.
             * @example My phone
             */
            name?: string | null;
            /**
             * @description A challenge of kind `enroll`, in place of a bearer.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId?: string | null;
        };
        /** @description The related origins. */
        RelatedOrigins: {
            /** @description The https origins whose host is neither the relying party id nor below it. */
            origins: string[];
        };
        /** @description The response after a passkey was removed. */
        RemovedPasskey: components["schemas"]["AcceptedPasskeys"] & {
            /** @description A sentence for people. */
            message: string;
        };
        /** @description Request to rename a passkey. */
        RenamePasskeyRequest: {
            /**
             * @description Name of the factor, as its owner calls it.
             * @example My phone
             */
            name: string;
        };
        /** @description Request to name a session. */
        RenameSessionRequest: {
            /**
             * @description Name of the session, as its user calls it. `null` removes it.
             * @example Laptop at home
             */
            name: string | null;
        };
        /** @description Request to rename an authenticator app. */
        RenameTotpRequest: {
            /**
             * @description Name of the factor, as its owner calls it.
             * @example My phone
             */
            name: string;
        };
        /** @description A session after it was named. */
        RenamedSession: {
            session: components["schemas"]["OwnSession"];
        };
        /** @description Request body of the operation `resetPassword`. */
        ResetPasswordRequest: {
            /**
             * Format: password
             * @description The new password. `passwordMinLength` and the `require…` settings may ask for more; common passwords and those that contain the address are refused.
             * @example correct horse battery
             */
            newPassword: string;
            /**
             * @description The reset token: 64 hex digits, of the exchange or of the mailed link.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            otp: string;
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
        /** @description Request to mail the code of a challenge. */
        SendChallengeCodeRequest: {
            /**
             * @description The id of the challenge.
             * @example Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4
             */
            challengeId: string;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description Request body of the operation `resendVerificationEmail`. */
        SendMailRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * Format: uri
             * @description Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where the method is `link` and no default redirect URL is set.
             * @example https://app.example.org/welcome
             */
            redirectTo?: string | null;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
            options?: components["schemas"]["OlderOptions"] | null;
        };
        /** @description Request body of the operation `sendResetPasswordEmail`. The key `options` of older clients is ignored here. */
        SendResetMailRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * Format: uri
             * @description Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where the method is `link` and no default redirect URL is set.
             * @example https://app.example.org/welcome
             */
            redirectTo?: string | null;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description Request body of the operation `signInWithOtp`. */
        SendSignInMailRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * Format: uri
             * @description Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where the method is `link` and no default redirect URL is set.
             * @example https://app.example.org/welcome
             */
            redirectTo?: string | null;
            /**
             * @description The PKCE challenge by S256 (RFC 7636), whose verifier the link will need; without it the mail has no link.
             * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
             */
            code_challenge?: string | null;
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
        };
        /** @description Request of an admin to have a mail with a code or link sent to a user. */
        SendUserMailRequest: {
            /**
             * Format: uri
             * @description Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where the method is `link` and no default redirect URL is set.
             * @example https://app.example.org/welcome
             */
            redirectTo?: string | null;
        };
        /** @description A response that opens or refreshes a session, with its tokens. */
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
        /** @description The fields to change, under `profile` or at the top level; with `profile`, keys beside it are ignored. */
        SetProfileRequest: {
            profile: components["schemas"]["ProfileChange"];
        } | ({
            profile?: components["schemas"]["ProfileChange"];
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
        } & {
            [key: string]: unknown;
        });
        /** @description Request to turn two-step sign-in on or off. */
        SetTwoStepRequest: {
            /** @description True to turn two-step sign-in on, false to turn it off. */
            enabled: boolean;
        };
        /** @description Request of an admin to set a password. */
        SetUserPasswordRequest: {
            /**
             * Format: password
             * @description The new password. `passwordMinLength` and the `require…` settings may ask for more; common passwords and those that contain the address are refused.
             * @example correct horse battery
             */
            newPassword: string;
        };
        /** @description A reason why a user cannot sign in, or not as usual. */
        SignInObstacle: {
            /**
             * @description `banned`, `no_way` (no password, usable passkey or linked provider, and no sign-in by mail), `unverified`, `no_factor` (two-step sign-in without a second factor), `deletion` (a sign-in takes it back), `must_enroll` (the next sign-in sets up a second factor) or `limited`.
             * @enum {string}
             */
            kind: "banned" | "no_way" | "unverified" | "no_factor" | "deletion" | "must_enroll" | "limited";
            /**
             * Format: date-time
             * @description Since when, in UTC: of the ban, or of the address that is not verified; otherwise `null`.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string | null;
            /**
             * Format: date-time
             * @description Until when, in UTC: of the account in deletion, or of the limit; otherwise `null`.
             * @example 2026-03-01T12:00:00.000Z
             */
            until: string | null;
            mail: components["schemas"]["VerificationMail"] | null;
            limit: components["schemas"]["UserLimit"] | null;
        };
        /** @description Request to sign in. The method says which fields it has. */
        SignInRequest: components["schemas"]["PasswordSignIn"] | components["schemas"]["CodeSignIn"] | components["schemas"]["LinkSignIn"];
        /** @description The response to a sign-in: a session, or a challenge. */
        SignInResponse: components["schemas"]["Session"] | components["schemas"]["Challenged"];
        /** @description Request body of the operation `signUp`. */
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
            /**
             * @description The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it `Accept-Language` decides. The language of an account has precedence.
             * @example de-AT
             */
            locale?: string | null;
            options?: components["schemas"]["OlderOptions"] | null;
        };
        /** @description The response to a sign-out. */
        SignedOut: {
            /**
             * @description It was done.
             * @enum {boolean}
             */
            success: true;
            /** @description A sentence for people. */
            message: string;
        };
        /** @description Statistics of the whole service. */
        Stats: {
            /**
             * Format: date-time
             * @description When everything was counted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            asOf: string;
            users: components["schemas"]["StatsUsers"];
            active: components["schemas"]["StatsActive"];
            sessions: components["schemas"]["StatsSessions"];
            /**
             * @description Numbers of passwords by the scheme of their hash. `digest` are weak hashes of imported accounts that wait to be
             *     wrapped.
             */
            passwords: {
                [key: string]: number;
            };
            factors: components["schemas"]["StatsFactors"];
            /** @description Number of linked identities by the key of their provider. */
            providers: {
                [key: string]: number;
            };
            /** @description One entry for each day in UTC, oldest first, up to today. */
            series: components["schemas"]["StatsDay"][];
            mails: components["schemas"]["StatsMails"];
            database: components["schemas"]["StatsDatabase"];
        };
        /** @description Numbers of accounts in use within the last 24 hours, 7 days and 30 days. */
        StatsActive: {
            /** Format: int64 */
            day: number;
            /** Format: int64 */
            week: number;
            /** Format: int64 */
            month: number;
        };
        /** @description The database. */
        StatsDatabase: {
            /**
             * @description `sqlite` or `postgresql`.
             * @example sqlite
             */
            engine: string;
            /**
             * Format: int64
             * @description Its size.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Number of its newest migration.
             */
            migration: number;
        };
        /** @description Numbers of events of one day. */
        StatsDay: {
            /**
             * @description The day, in UTC.
             * @example 2026-03-02
             */
            day: string;
            /** Format: int64 */
            signUps: number;
            /** Format: int64 */
            signIns: number;
            /**
             * Format: int64
             * @description Refused sign-ins.
             */
            failures: number;
            /**
             * Format: int64
             * @description Passwords set by a reset.
             */
            resets: number;
        };
        /** @description Numbers of accounts with further factors. */
        StatsFactors: {
            /**
             * Format: int64
             * @description Accounts with two-step sign-in.
             */
            twoStep: number;
            /**
             * Format: int64
             * @description Accounts with a passkey.
             */
            passkeys: number;
        };
        /** @description Numbers of mails. */
        StatsMails: {
            /**
             * Format: int64
             * @description Mails that wait for delivery.
             */
            queued: number;
            /**
             * Format: int64
             * @description Mails that failed for good.
             */
            dead: number;
            /**
             * Format: int64
             * @description Age of the oldest mail that waits for delivery, at the time `asOf`; 0 if none waits.
             */
            oldestSeconds: number;
        };
        /** @description Numbers of sessions. */
        StatsSessions: {
            /**
             * Format: int64
             * @description Sessions that have neither ended nor expired.
             */
            live: number;
        };
        /** @description Numbers of accounts. */
        StatsUsers: {
            /** Format: int64 */
            total: number;
            /**
             * Format: int64
             * @description Accounts in the state `verified`: those with a verified address that are neither banned nor in deletion.
             */
            verified: number;
            /**
             * Format: int64
             * @description Accounts in the state `pending`: those whose sign-up waits for its verification.
             */
            pending: number;
            /**
             * Format: int64
             * @description Accounts in the state `banned`.
             */
            banned: number;
            /**
             * Format: int64
             * @description Accounts with a role in the console.
             */
            operators: number;
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
        /** @description The new session after two-step sign-in was turned on, with the recovery codes. */
        TwoStepOn: components["schemas"]["Session"] & {
            factor?: components["schemas"]["TotpFactor"] | null;
            /** @description Codes for the day that the app is lost, each good once. Shown this once. */
            recoveryCodes: string[];
        };
        /** @description The response to a change of two-step sign-in. */
        TwoStepSet: components["schemas"]["TwoStepOn"] | components["schemas"]["Message"];
        /** @description Request body of the operation `undoChange`. */
        UndoRequest: {
            /**
             * @description The reset token: 64 hex digits, of the exchange or of the mailed link.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            token: string;
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email: string;
            /**
             * @description A TOTP code or recovery code, where a second factor is needed.
             * @example 123456
             */
            code?: string | null;
        };
        /** @description Accounts of an import that was undone. */
        UndoneImport: {
            /**
             * Format: int64
             * @description Accounts that were deleted.
             */
            deleted: number;
            /**
             * Format: int64
             * @description Accounts that stay because they have signed in.
             */
            signedIn: number;
            /**
             * Format: int64
             * @description Accounts that stay because they were changed since, or have a role in the console.
             */
            changed: number;
            /**
             * Format: int64
             * @description Accounts that were gone already.
             */
            gone: number;
        };
        /** @description The user after an identity was unlinked. */
        UnlinkedIdentity: {
            /** @description A sentence for people. */
            message: string;
            user: components["schemas"]["User"];
        };
        /** @description A change of one's own account. */
        UpdateAccountRequest: {
            /**
             * @description A language tag (BCP 47).
             * @example de-AT
             */
            locale: string;
        };
        /** @description A change of settings. Absent keys stay unchanged. */
        UpdateConfigRequest: {
            /** @description True if an address must be verified before the first sign-in. */
            requireEmailVerification?: boolean | null;
            /**
             * @description How a mailbox is proven: six digits to type in, or a link to open.
             * @enum {string|null}
             */
            verifyEmailMethod?: "code" | "link" | null;
            /**
             * @description How a mailbox is proven: six digits to type in, or a link to open.
             * @enum {string|null}
             */
            resetPasswordMethod?: "code" | "link" | null;
            /** @description The allowed redirect URLs. Replaces the whole list. */
            allowedRedirectUrls?: string[] | null;
            /**
             * Format: uri
             * @description The redirect target where none is given; must be on the list. `null` removes it.
             * @example https://app.example.org/
             */
            defaultRedirectUrl?: string | null;
            /** @description True if sign-up is disabled. */
            disableSignup?: boolean | null;
            /**
             * @description Sign-in by mail: not at all, by a mailed code, or by code and link.
             * @enum {string|null}
             */
            emailSignIn?: "off" | "code" | "code_and_link" | null;
            /**
             * @description Two-step sign-in: users may turn it on, must set it up, or cannot.
             * @enum {string|null}
             */
            secondFactor?: "off" | "optional" | "required" | null;
            /** @description True if users can sign in by passkey. */
            passkeys?: boolean | null;
            /**
             * @description The language of mails to people who asked for none; one of `locales`.
             * @example de-AT
             */
            defaultLocale?: string | null;
            /** @description Least number of characters of a new password. */
            passwordMinLength?: number | null;
            /** @description True if a new password must contain a digit. */
            requireNumber?: boolean | null;
            /** @description True if a new password must contain a lower-case letter. */
            requireLowercase?: boolean | null;
            /** @description True if a new password must contain an upper-case letter. */
            requireUppercase?: boolean | null;
            /** @description True if a new password must contain a character that is neither letter nor digit. */
            requireSpecialChar?: boolean | null;
        };
        /** @description Request to change the configuration of a custom provider. */
        UpdateCustomOAuthConfigRequest: {
            /**
             * @description What people call the provider; its key without it.
             * @example Acme
             */
            name?: string | null;
            /**
             * Format: uri
             * @description The provider's discovery document (OpenID Connect Discovery 1.0), or its issuer.
             * @example https://id.acme.example/.well-known/openid-configuration
             */
            discoveryEndpoint?: string | null;
            /**
             * @description The client's id at the provider.
             * @example 1234.apps.googleusercontent.com
             */
            clientId?: string | null;
            /**
             * @description The client's secret at the provider: written, never read back.
             * @example GOCSPX-…
             */
            clientSecret?: string | null;
            /** @description The scopes to ask for; `null` for the usual ones. */
            scopes?: string[] | null;
            /** @description Client ids of native apps, for sign-in by id token. */
            nativeClientIds?: string[] | null;
            /** @description Whether an address that the provider verified opens the account of that address; `true` without it at the creation. With `false` a taken address is refused: its owner signs in and links. */
            linkByEmail?: boolean | null;
            /** @description Whether one can sign in with it; `true` without it at the creation. */
            enabled?: boolean | null;
        };
        /** @description Request to change the configuration of a built-in provider. */
        UpdateOAuthConfigRequest: {
            /**
             * @description The client's id at the provider.
             * @example 1234.apps.googleusercontent.com
             */
            clientId?: string | null;
            /**
             * @description The client's secret at the provider: written, never read back.
             * @example GOCSPX-…
             */
            clientSecret?: string | null;
            /** @description The scopes to ask for; `null` for the usual ones. */
            scopes?: string[] | null;
            /** @description Client ids of native apps, for sign-in by id token. */
            nativeClientIds?: string[] | null;
            /**
             * @description Microsoft alone: `common` (the default), `organizations`, `consumers` or a directory's id.
             * @example organizations
             */
            tenant?: string | null;
            /**
             * @description Apple alone: the team's id.
             * @example A1B2C3D4E5
             */
            teamId?: string | null;
            /**
             * @description Apple alone: the id of the private key.
             * @example F6G7H8I9J0
             */
            keyId?: string | null;
            /**
             * @description Apple alone: the private key as PEM, the text of the .p8 file. Written, never read back.
             * @example -----BEGIN PRIVATE KEY-----
             *     …
             *     -----END PRIVATE KEY-----
             */
            privateKey?: string | null;
            /** @description Whether an address that the provider verified opens the account of that address; `true` without it at the creation. With `false` a taken address is refused: its owner signs in and links. */
            linkByEmail?: boolean | null;
            /** @description Whether one can sign in with it; `true` without it at the creation. */
            enabled?: boolean | null;
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
        /** @description Request to change a user. */
        UpdateUserRequest: {
            /**
             * Format: email
             * @description An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.
             * @example ada@example.org
             */
            email?: string;
            /** @description Left out, it stays as it is. */
            emailVerified?: boolean;
            /** @description Left out, it stays as it is. */
            banned?: boolean;
            /**
             * @description Application data, at most 16 KiB as JSON. Replaces the whole object.
             * @example {
             *       "plan": "pro"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description `true` restores an account in deletion. */
            restore?: boolean;
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
        /** @description A user's second factors, without secrets. */
        UserFactors: {
            /** @description True if two-step sign-in is on. */
            twoStep: boolean;
            /** @description The confirmed authenticator apps, oldest first. */
            totp: components["schemas"]["TotpFactor"][];
            /** @description The passkeys, oldest first. */
            passkeys: components["schemas"]["PasskeyFacts"][];
            /** @description How many. */
            recoveryCodesLeft: number;
        };
        /** @description A limit that refuses requests for a user now. */
        UserLimit: {
            /** @description Name of the limit, as in the error response of a request that it refuses. */
            limit: string;
            /** @description What the refused mails or codes are for, such as `verify_email`; `null` for other limits. */
            purpose: string | null;
            /**
             * @description Clients that are refused: `all`; `known`, those in networks from which the user signed in lately; `unknown`, those in all other networks; `some`, those in the networks that caused the failures.
             * @enum {string}
             */
            clients: "all" | "known" | "unknown" | "some";
            /**
             * Format: date-time
             * @description When requests are accepted again, in UTC; `null` if the limit holds until a success or until it is lifted.
             * @example 2026-03-01T12:00:00.000Z
             */
            until: string | null;
        };
        /** @description The limits that hold for a user now. */
        UserLimits: {
            data: components["schemas"]["UserLimit"][];
        };
        /** @description A mail to a user and its fate, without its content. */
        UserMail: {
            /**
             * Format: uuid
             * @description The id of the mail.
             * @example 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            id: string;
            /** @description Kind of the mail, as `docs/mails.md` lists them. */
            kind: string;
            /** @description Address to which the mail was written. */
            email: string;
            /** @description `queued`, `sent` (accepted by the mail server) or `dead` (given up for good). */
            state: string;
            /**
             * Format: int32
             * @description Number of attempts to send it.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was sent or given up, in UTC; `null` while it waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            endedAt: string | null;
            /** @description Error of the last failed attempt, without addresses and codes; `null` if there is none. */
            error: string | null;
        };
        /** @description The mails to a user, newest first. */
        UserMails: {
            data: components["schemas"]["UserMail"][];
        };
        /** @description A page of users. */
        UserPage: {
            data: components["schemas"]["AdminUser"][];
            pagination: components["schemas"]["Pagination"];
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
        /** @description A live session of a user. */
        UserSession: {
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
            /**
             * @description Browser or app, and operating system; `Unknown device` if neither is known.
             * @example Firefox on Linux
             */
            device: string;
        };
        /** @description The live sessions of a user. */
        UserSessions: {
            data: components["schemas"]["UserSession"][];
        };
        /** @description Whether a user can sign in, and what is in the way. */
        UserSignInState: {
            /** @description True if a sign-in is possible, from some client at least. Limits that close every way to all clients make it false. */
            canSignIn: boolean;
            /** @description What is in the way, the weightiest first; empty if nothing is. */
            obstacles: components["schemas"]["SignInObstacle"][];
        };
        /** @description The last sign-ins of a user and the last failures, each newest first. */
        UserSignIns: {
            /** @description Completed sign-ins. */
            signIns: components["schemas"]["AuditEvent"][];
            /** @description Wrong passwords, codes and second factors, and refused passkeys. */
            failures: components["schemas"]["AuditEvent"][];
        };
        /** @description The last mail by which an address can be verified. */
        VerificationMail: {
            /** @description `queued`, `sent` (accepted by the mail server) or `dead` (given up for good). */
            state: string;
            /**
             * Format: date-time
             * @description When it was sent or given up, or when it was written while it waits, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
        };
        /** @description The response while verification is required. It is the same for a free and a taken address. */
        VerificationRequired: {
            /** @description There is no session yet. */
            accessToken: null;
            /**
             * @description The address has to be verified first.
             * @enum {boolean}
             */
            requireEmailVerification: true;
            /** @description There is no session yet. */
            csrfToken: null;
        };
        /** @description Request body of the operation `verifyEmail`. */
        VerifyEmailRequest: {
            /**
             * Format: email
             * @description An email address. Left out only together with the token of a link.
             * @example ada@example.org
             */
            email?: string | null;
            /**
             * @description The code of the mail: six digits, or sixteen letters and digits in groups; or, in the older variant, the 64 hex digits of a link's token.
             * @example 123456
             */
            otp: string;
        };
    };
};
