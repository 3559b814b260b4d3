// A service that answers as a test says, for what the real one cannot be made to do.
import { createHash, generateKeyPairSync, sign } from "node:crypto";

/** A request that came. */
export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: Record<string, unknown>;
}

// Kept, because a test may take the global one away.
const ParsedUrl = URL;

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | "lost";

type Answering = (call: Call) => Answer | Promise<Answer>;

/** A fake service: what it was asked, and the `fetch` that reaches it. */
export interface FakeService {
  calls: Call[];
  fetch: typeof fetch;
}

/** The path of the question for the CSRF token of the cookie. */
export const CSRF = "/api/auth/csrf";

/**
 * Answers every request by `answer`; `lost` is a network that is gone. The question for the CSRF token of the cookie has
 * an answer of its own: there is no cookie, unless `csrf` says otherwise.
 */
export function fakeService(answer: Answering, csrf: Answering = () => refusal(401, "AUTH_UNAUTHORIZED")): FakeService {
  const calls: Call[] = [];
  return {
    calls,
    fetch: async (input, init) => {
      const url = new ParsedUrl(String(input), "http://page.example");
      const { method = "GET", headers, body } = init ?? {};
      const parsed = typeof body === "string" ? (JSON.parse(body) as Record<string, unknown>) : {};
      const call = { method, path: url.pathname, query: url.searchParams, headers: new Headers(headers), body: parsed };
      calls.push(call);
      const given = await (url.pathname === CSRF ? csrf(call) : answer(call));
      if (given === "lost") throw new TypeError("fetch failed");
      const text = typeof given.body === "string" ? given.body : JSON.stringify(given.body ?? {});
      return new Response(text, { status: given.status ?? 200, headers: given.headers ?? {} });
    },
  };
}

/** The body of a refusal. */
export const refusal = (statusCode: number, error: string): Answer => ({
  status: statusCode,
  body: { error, message: `It is ${error}.`, statusCode, nextAction: "Do this.", nextActions: "Do this." },
});

/** A user of the fake service. */
export const USER = {
  id: "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
  email: "ada@example.org",
  emailVerified: true,
  providers: ["email"],
  createdAt: "2026-03-01T12:00:00.000Z",
  updatedAt: "2026-03-01T12:00:00.000Z",
  profile: { name: "Ada Lovelace", avatar_url: null },
  metadata: {},
};

let issued = 0;

/** An unsigned access token of a user, for clients, which do not check it; it lives so many seconds. */
export function accessTokenOf(sub: string, life = 900): string {
  const iat = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub, iat, exp: iat + life, jti: `${issued++}` })}.`;
}

/** The same, of the one user. */
export const accessToken = (life?: number): string => accessTokenOf(USER.id, life);

/** The answer to a sign-in or refresh. */
export const session = (more: object = {}, life = 900): Answer => ({
  body: { user: USER, accessToken: accessToken(life), csrfToken: "csrf", ...more },
});

/** A key pair that signs tokens as a service does. */
export function newSigner(kid: string, alg: "ES256" | "EdDSA" = "ES256") {
  const { privateKey, publicKey } =
    alg === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    jwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" },
    sign(claims: object, header: object = {}): string {
      const text = `${part({ alg, kid, typ: "at+jwt", ...header })}.${part(claims)}`;
      const digest = alg === "ES256" ? "sha256" : null;
      return `${text}.${sign(digest, Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
    },
  };
}

/** The S256 challenge of a verifier, made another way than the client makes it. */
export const challenge = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");
