// Fake service with scripted responses, for cases that the real one cannot produce.
import { createHash, generateKeyPairSync, sign } from "node:crypto";

/** Received request. */
export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: Record<string, unknown>;
}

// Saved, because a test may remove the global one.
const ParsedUrl = URL;

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | "lost";

type Answering = (call: Call) => Answer | Promise<Answer>;

/** Fake service: received requests, and its `fetch`. */
export interface FakeService {
  calls: Call[];
  fetch: typeof fetch;
}

/** Path of the request for the cookie's CSRF token. */
export const CSRF = "/api/auth/csrf";

/**
 * Responds to every request by `answer`; `lost` is a lost network. The request for the cookie's CSRF token is answered by
 * `csrf`; by default there is no cookie.
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

/** Error response. */
export const refusal = (statusCode: number, error: string): Answer => ({
  status: statusCode,
  body: { error, message: `It is ${error}.`, statusCode, nextAction: "Do this.", nextActions: "Do this." },
});

/** User of the fake service. */
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

/** Unsigned access token with this life in seconds; clients do not verify it. */
export function accessTokenOf(sub: string, life = 900): string {
  const iat = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub, iat, exp: iat + life, jti: `${issued++}` })}.`;
}

/** Unsigned access token of `USER`. */
export const accessToken = (life?: number): string => accessTokenOf(USER.id, life);

/** Response of a sign-in or refresh. */
export const session = (more: object = {}, life = 900): Answer => ({
  body: { user: USER, accessToken: accessToken(life), csrfToken: "csrf", ...more },
});

/** Key pair that signs tokens like the service. */
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

/** S256 challenge of a verifier, computed independently of the client. */
export const challenge = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");
