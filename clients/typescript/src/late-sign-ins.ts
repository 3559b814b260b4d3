// Sign-in by mail: a code, and a link that works only with the verifier of the client that asked for it (PKCE); the verification
// of an address, which signs in too; and sign-in by `id_token`. Loaded on first use, in the chunk of oauth-flow.ts.
import type { base64url } from "./claims.js";
import type { Auth } from "./contract.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuth } from "./oauth.js";
import type { Settings } from "./options.js";
import type { Sessions } from "./sessions.js";
import type { Storage } from "./storage.js";
import type { Transport } from "./transport.js";
import type { Entrance, MailSent } from "./types.js";
import { challengeOf, newVerifier } from "./verifier.js";

/** Operations of `auth` in this file. */
export type LateSignIns = "signInWithOtp" | "verifyOtp" | "verifyEmail" | "signInWithIdToken";

/** Parts of a client, and functions of the core, that the operations use. */
export interface LateSignInParts {
  settings: Settings;
  transport: Transport;
  sessions: Sessions;
  oauth: OAuth;
  /** Storage of the verifier; default is the one that all tabs share, because the link may open in any of them. */
  storage: Storage | undefined;
  base64url: typeof base64url;
  LatchkeyError: typeof LatchkeyError;
}

/** Creates the operations of one client. */
export function createLateSignIns(parts: LateSignInParts): Pick<Auth, LateSignIns> {
  const { settings, transport, sessions, oauth, base64url, LatchkeyError } = parts;
  const storage = parts.storage ?? sessions.store.storage;
  const key = `${settings.scope}:link`;
  // Where it would be lost before the link is opened, the mail has a code alone.
  const keepsVerifier = storage.isDurable || ["mobile", "desktop"].includes(settings.clientType);

  /** Opens a session and clears the redirect result. */
  const open = async (path: string, body: object): Promise<Result<Entrance>> => {
    const result = await sessions.open<Entrance>({ method: "POST", path: `/api/auth/${path}`, body });
    if (!result.error) oauth.forgetResult();
    return result;
  };

  return {
    async signInWithOtp({ email, redirectTo }) {
      const verifier = !keepsVerifier || !globalThis.crypto?.getRandomValues ? undefined : newVerifier(base64url);
      const code_challenge = verifier && (await challengeOf(verifier, base64url));
      const body = { email, redirectTo, code_challenge };
      const { data, error } = await transport.send<MailSent>({ method: "POST", path: "/api/auth/email/send-otp", body });
      // Without a response the mail may have been sent.
      if (verifier && !error?.statusCode) storage.set(key, verifier);
      return error ? { data: null, error } : { data, error };
    },
    // Keys are listed, so that extra properties of the input are not sent.
    async verifyOtp({ email, otp, token, name }) {
      const code_verifier = storage.get(key);
      if (token && !code_verifier) return { data: null, error: new LatchkeyError(...NOT_ASKED_HERE) };
      const body = token ? { method: "link", token, code_verifier, name } : { method: "otp", email, otp, name };
      const result = await open("sessions", body);
      // A success by code or link ends both.
      if (!result.error) storage.remove(key);
      return result;
    },
    verifyEmail: ({ email, otp }) => open("email/verify", { email, otp }),
    signInWithIdToken: ({ provider, token, nonce, name }) => open("id-token", { provider, token, nonce, name }),
  };
}

/** The code of the service for a wrong verifier. */
const NOT_ASKED_HERE = [
  400,
  "INVALID_CODE",
  "This sign-in was not asked for in this browser.",
  { nextActions: "Type the code of the same mail where you asked for it, or ask for a new mail here." },
] as const;
