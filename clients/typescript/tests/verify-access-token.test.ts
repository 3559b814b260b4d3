// verifyAccessToken: accepted and refused tokens, and frequency of key fetches.
import { beforeEach, describe, expect, inject, test, vi } from "vitest";
import { createClient, verifyAccessToken } from "../src/index.js";
import { fakeService, newSigner, USER } from "./support/fake-service.js";
import { newUser, serverClient } from "./support/people.js";

const OTHER = newSigner("first");
const EDDSA = newSigner("ed", "EdDSA");
const FIRST = newSigner("first");

/** New service per test, because keys are cached for the life of the process. */
let baseUrl = "";
let number = 0;
beforeEach(() => {
  baseUrl = `http://fake-${number++}.example`;
});

const claims = (more: object = {}): object => {
  const now = Math.floor(Date.now() / 1000);
  return { iss: baseUrl, aud: baseUrl, sub: USER.id, sid: "1", iat: now, exp: now + 900, ...more };
};
const keys = (...jwks: object[]) => fakeService(() => ({ body: { keys: jwks } }));

describe("a token of the running service", () => {
  test("passes, with its claims, by function and by client", async () => {
    const client = serverClient(inject("open"));
    const { accessToken, user, email } = await newUser(client);

    const { data, error } = await verifyAccessToken(accessToken, { baseUrl: inject("open") });

    expect(error).toBeNull();
    expect(data?.claims).toMatchObject({ sub: user.id, email, role: "authenticated", email_verified: false });
    expect((await client.auth.verifyAccessToken(accessToken)).data?.claims.sub).toBe(user.id);
  });

  test("does not pass at another issuer", async () => {
    const { accessToken } = await newUser(serverClient(inject("open")));

    const options = { baseUrl: inject("open"), issuer: "https://accounts.example" };
    expect((await verifyAccessToken(accessToken, options)).error?.error).toBe("AUTH_UNAUTHORIZED");
  });
});

describe("a token", () => {
  test.each([
    ["an issuer by another name", { issuer: "https://accounts.example" }, { iss: "https://accounts.example", aud: "https://accounts.example" }],
    ["an audience of its own", { audience: "api" }, { aud: "api" }],
    ["one audience of several", {}, { aud: ["api", "%"] }],
    ["an address that is spelt another way", { baseUrl: "%" }, {}],
    ["a past not-before", {}, { nbf: 1 }],
    // Seconds from the time of signing.
    ["a clock that is a little late", {}, { endsIn: -2 }],
  ])("with %s passes", async (_, options, more) => {
    const aud = "aud" in more && Array.isArray(more.aud) ? { aud: ["api", baseUrl] } : {};
    const exp = "endsIn" in more ? { exp: Math.floor(Date.now() / 1000) + Number(more.endsIn) } : {};
    const token = FIRST.sign(claims({ ...more, ...aud, ...exp }));
    const address = "baseUrl" in options ? `${baseUrl.replace("http://f", "HTTP://F")}:80/` : baseUrl;

    expect((await verifyAccessToken(token, { ...options, baseUrl: address, fetch: keys(FIRST.jwk).fetch })).error).toBeNull();
  });

  test("signed with EdDSA passes", async () => {
    const { data } = await verifyAccessToken(EDDSA.sign(claims()), { baseUrl, fetch: keys(EDDSA.jwk).fetch });

    expect(data?.claims.sub).toBe(USER.id);
  });

  const now = Math.floor(Date.now() / 1000);
  test.each<[string, object, object, string | undefined]>([
    ["level 2 meets level 2", { aal: 2 }, { minLevel: 2 }, undefined],
    ["no level is level 1", {}, { minLevel: 1 }, undefined],
    ["no level does not meet level 2", {}, { minLevel: 2 }, "LEVEL_TOO_LOW"],
    ["a level that is no number meets none", { aal: "two" }, { minLevel: 1 }, "LEVEL_TOO_LOW"],
    ["a young authentication", { auth_time: now - 60 }, { maxAge: 120 }, undefined],
    ["an old authentication", { auth_time: now - 180 }, { maxAge: 120 }, "TOO_OLD"],
    ["an authentication within the clock skew", { auth_time: now - 123 }, { maxAge: 120 }, undefined],
    ["no time of authentication", {}, { maxAge: 120 }, "TOO_OLD"],
    ["an old one where no age is asked", { auth_time: 0 }, {}, undefined],
  ])("of %s", async (_, more, options, refused) => {
    const { fetch } = keys(FIRST.jwk);
    const { data, error } = await verifyAccessToken(FIRST.sign(claims(more)), { ...options, baseUrl, fetch });

    expect(error?.error).toBe(refused);
    if (refused) expect(error?.statusCode).toBe(403);
    else expect(data?.claims.aal).toBe("aal" in more ? more.aal : 1);
  });

  const expired = { exp: Math.floor(Date.now() / 1000) - 60 };
  test.each<[string, () => string]>([
    ["no token at all", () => "nothing"],
    ["an empty text", () => ""],
    ["another key's signature", () => OTHER.sign(claims())],
    ["a changed claim", () => FIRST.sign(claims()).replace(/\.[^.]+\./, `.${btoa(JSON.stringify(claims({ sub: "x" })))}.`)],
    ["no signature", () => FIRST.sign(claims()).replace(/[^.]+$/, "")],
    ["a fourth part", () => `${FIRST.sign(claims())}.x`],
    ["alg none", () => FIRST.sign(claims(), { alg: "none" })],
    ["alg HS256", () => FIRST.sign(claims(), { alg: "HS256" })],
    ["alg of another type of key", () => FIRST.sign(claims(), { alg: "EdDSA" })],
    ["another type", () => FIRST.sign(claims(), { typ: "JWT" })],
    ["no type", () => FIRST.sign(claims(), { typ: undefined })],
    ["no key id", () => FIRST.sign(claims(), { kid: undefined })],
    ["an unknown critical header", () => FIRST.sign(claims(), { crit: ["x"] })],
    ["another issuer", () => FIRST.sign(claims({ iss: "https://elsewhere.example" }))],
    ["another audience", () => FIRST.sign(claims({ aud: "elsewhere" }))],
    ["its end behind it", () => FIRST.sign(claims(expired))],
    ["no end", () => FIRST.sign(claims({ exp: undefined }))],
    ["an end that is no number", () => FIRST.sign(claims({ exp: "9999999999" }))],
    ["its beginning before it", () => FIRST.sign(claims({ nbf: Math.floor(Date.now() / 1000) + 60 }))],
    ["no subject", () => FIRST.sign(claims({ sub: undefined }))],
  ])("with %s does not pass", async (_, token) => {
    const { data, error } = await verifyAccessToken(token(), { baseUrl, fetch: keys(FIRST.jwk).fetch });

    expect(data).toBeNull();
    expect(error).toMatchObject({ statusCode: 401, error: "AUTH_UNAUTHORIZED" });
  });
});

describe("a forged header", () => {
  test.each([
    [newSigner("key"), "EdDSA"],
    [newSigner("key", "EdDSA"), "ES256"],
  ])("with the algorithm of another type of key spoils no key", async (signer, alg) => {
    const options = { baseUrl, fetch: keys(signer.jwk).fetch };

    const forged = await verifyAccessToken(signer.sign(claims(), { alg }), options);
    const good = await verifyAccessToken(signer.sign(claims()), options);

    expect(forged.error?.error).toBe("AUTH_UNAUTHORIZED");
    expect(good.error).toBeNull();
  });
});

describe("a runtime without the cryptography", () => {
  test.each([
    ["subtle", { subtle: undefined }],
    ["Ed25519", { subtle: { importKey: () => Promise.reject(new DOMException("no", "NotSupportedError")) } }],
  ])("says so, and not that the token is bad: %s", async (_, crypto) => {
    vi.stubGlobal("crypto", crypto);

    const { error } = await verifyAccessToken(EDDSA.sign(claims()), { baseUrl, fetch: keys(EDDSA.jwk).fetch });
    vi.unstubAllGlobals();

    expect(error).toMatchObject({ statusCode: 0, error: "CRYPTO_UNAVAILABLE", nextActions: expect.any(String) });
  });
});

describe("the keys", () => {
  test("are fetched once for many tokens", async () => {
    const { fetch, calls } = keys(FIRST.jwk);

    const checks = Array.from({ length: 20 }, () => verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch }));
    await Promise.all(checks);
    await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });

    expect(calls).toHaveLength(1);
    expect(calls[0]?.path).toBe("/.well-known/jwks.json");
  });

  test("are fetched again after a rotation, and for invented ids not more often than once in a while", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let served: object[] = [FIRST.jwk];
    const { fetch, calls } = fakeService(() => ({ body: { keys: served } }));
    const second = newSigner("second");
    await createClient({ baseUrl, fetch }).auth.verifyAccessToken(FIRST.sign(claims()));

    served = [FIRST.jwk, second.jwk];
    vi.setSystemTime(Date.now() + 11_000);
    const rotated = await verifyAccessToken(second.sign(claims()), { baseUrl, fetch });
    const invented = ["a", "b", "c"].map((kid) => verifyAccessToken(newSigner(kid).sign(claims()), { baseUrl, fetch }));
    const refused = await Promise.all(invented);
    vi.useRealTimers();

    expect(rotated.error).toBeNull();
    expect(refused.map(({ error }) => error?.error)).toEqual(Array(3).fill("AUTH_UNAUTHORIZED"));
    expect(calls).toHaveLength(3);
  });

  test("that are new at once are waited for, although the set was fetched a moment ago", async () => {
    let served: object[] = [FIRST.jwk];
    const { fetch } = fakeService(() => ({ body: { keys: served } }));
    const second = newSigner("second");
    await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });

    served = [FIRST.jwk, second.jwk];

    expect((await verifyAccessToken(second.sign(claims()), { baseUrl, fetch })).error).toBeNull();
  });

  test("that grow old while the service is gone are used without waiting for it, and it is asked now and then", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let isLost = false;
    const { fetch, calls } = fakeService(() => (isLost ? "lost" : { body: { keys: [FIRST.jwk] } }));
    await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });

    isLost = true;
    vi.setSystemTime(Date.now() + 3_600_000);
    const results = [];
    for (let i = 0; i < 5; i++) results.push(await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch }));
    const unknown = [];
    for (let i = 0; i < 5; i++) unknown.push(await verifyAccessToken(EDDSA.sign(claims()), { baseUrl, fetch }));
    vi.useRealTimers();

    expect(results.every(({ error }) => error === null)).toBe(true);
    expect(unknown.every(({ error }) => error?.error === "NETWORK_ERROR")).toBe(true);
    expect(calls).toHaveLength(2);
  });

  test("are fetched again where the clock was set back", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { fetch, calls } = keys(FIRST.jwk);
    vi.setSystemTime(Date.now() + 86_400_000);
    await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });

    vi.setSystemTime(Date.now() - 86_400_000);
    await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });
    vi.useRealTimers();

    expect(calls).toHaveLength(2);
  });

  test("that cannot be fetched are NETWORK_ERROR, and those that were go on", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let isLost = false;
    const { fetch } = fakeService(() => (isLost ? "lost" : { body: { keys: [FIRST.jwk] } }));
    await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });

    isLost = true;
    vi.setSystemTime(Date.now() + 3_600_000);
    const known = await verifyAccessToken(FIRST.sign(claims()), { baseUrl, fetch });
    const unknown = await verifyAccessToken(EDDSA.sign(claims()), { baseUrl, fetch });
    vi.useRealTimers();

    expect(known.error).toBeNull();
    expect(unknown.error).toMatchObject({ statusCode: 0, error: "NETWORK_ERROR" });
  });
});
