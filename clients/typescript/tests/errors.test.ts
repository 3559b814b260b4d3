// Failed calls never throw; they return an error with a next action.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClient, type ErrorCode, LatchkeyError } from "../src/index.js";
import { fakeService, refusal, session } from "./support/fake-service.js";
import { freePort, type Service, startService } from "./support/service.js";
import { newEmail, PASSWORD, serverClient } from "./support/people.js";

const CREDENTIALS = { email: "ada@example.org", password: PASSWORD };
const baseUrl = "http://fake.example";

describe("a network that is gone", () => {
  test("is NETWORK_ERROR with status 0, for every kind of call", async () => {
    const client = serverClient(`http://127.0.0.1:${await freePort()}`, { accessToken: "x" });

    const results = await Promise.all([
      client.auth.signInWithPassword(CREDENTIALS),
      client.auth.getCurrentUser(),
      client.auth.signInWithOAuth({ provider: "google" }),
      client.profiles.me(),
      client.profiles.search("ada"),
    ]);

    for (const { data, error } of results) {
      expect(data).toBeNull();
      expect(error).toMatchObject({ statusCode: 0, error: "NETWORK_ERROR", nextActions: expect.any(String) });
    }
    expect((await client.auth.signOut()).error?.error).toBe("NETWORK_ERROR");
  });

  test("is the result of a request that times out", async () => {
    const { fetch } = fakeService(() => new Promise(() => undefined));
    const hanging: typeof fetch = (input, init) =>
      Promise.race([
        fetch(input, init),
        new Promise<never>((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))),
      ]);

    const { error } = await createClient({ baseUrl, fetch: hanging, timeout: 20 }).auth.signInWithPassword(CREDENTIALS);

    expect(error?.error).toBe("NETWORK_ERROR");
  });
});

describe("a response that is not the service's", () => {
  test.each([
    { status: 502, body: "<html>Bad gateway</html>" },
    { status: 200, body: "<html>Please log in to the hotel's network</html>" },
    { status: 500, body: "null" },
    { status: 200, body: {} },
  ])("is UNEXPECTED_RESPONSE with its status: $status", async (answer) => {
    const { fetch } = fakeService(() => answer);

    const { data, error } = await createClient({ baseUrl, fetch }).auth.signInWithPassword(CREDENTIALS);

    expect(data).toBeNull();
    expect(error).toMatchObject({ statusCode: answer.status, error: "UNEXPECTED_RESPONSE" });
  });
});

test("a stranger's JSON is UNEXPECTED_RESPONSE of every call that something would be made of", async () => {
  const { fetch } = fakeService(() => ({ body: { status: "please log in" } }));
  const client = serverClient(baseUrl, { accessToken: "x", refreshToken: "y", fetch });

  const results = await Promise.all([
    client.auth.signUp(CREDENTIALS),
    client.auth.refreshSession(),
    client.auth.getCurrentUser(),
    client.auth.signInWithOAuth({ provider: "google" }),
    client.profiles.search("ada"),
  ]);

  for (const { error } of results) expect(error).toMatchObject({ statusCode: 200, error: "UNEXPECTED_RESPONSE" });
});

describe("the error object", () => {
  test("has statusCode, error, message, nextActions and retryAfter, also as JSON", async () => {
    const limited = { ...(refusal(429, "TOO_MANY_REQUESTS") as object), headers: { "retry-after": "17" } };
    const { fetch } = fakeService(() => limited);

    const { error } = await createClient({ baseUrl, fetch }).auth.signInWithPassword(CREDENTIALS);

    expect(error).toBeInstanceOf(LatchkeyError);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      statusCode: 429,
      error: "TOO_MANY_REQUESTS",
      message: "It is TOO_MANY_REQUESTS.",
      nextActions: "Do this.",
      retryAfter: 17,
    });
  });

  test("has field, reasons and requestId, also as JSON", async () => {
    const wrong = {
      status: 400,
      body: {
        error: "WEAK_PASSWORD",
        message: "The password is too short.",
        statusCode: 400,
        field: "password",
        reasons: ["too_short"],
        requestId: "0199a1b2",
      },
    };
    const { fetch } = fakeService(() => wrong);

    const { error } = await createClient({ baseUrl, fetch }).auth.signUp(CREDENTIALS);

    expect(error).toMatchObject({ field: "password", reasons: ["too_short"], requestId: "0199a1b2" });
    expect(JSON.parse(JSON.stringify(error))).toEqual(wrong.body);
  });

  test("takes requestId from the header, also of a response that is not the service's", async () => {
    const headers = { "x-request-id": "from-the-header" };
    const refused = { ...(refusal(403, "FORBIDDEN") as object), headers };
    const answers = [refused, { status: 502, body: "<html>", headers }];
    const { fetch } = fakeService(() => answers.shift() ?? {});
    const { auth } = createClient({ baseUrl, fetch });

    expect((await auth.signUp(CREDENTIALS)).error?.requestId).toBe("from-the-header");
    expect((await auth.signUp(CREDENTIALS)).error?.requestId).toBe("from-the-header");
  });

  test("omits missing fields", async () => {
    const { fetch } = fakeService(() => refusal(403, "FORBIDDEN"));

    const { error } = await createClient({ baseUrl, fetch }).auth.signUp(CREDENTIALS);

    expect(Object.keys(error ?? {}).sort()).toEqual(["error", "name", "nextActions", "statusCode"]);
  });

  test("takes nextActions from nextAction, which the spec names", async () => {
    const body = { error: "FORBIDDEN", message: "No.", statusCode: 403, nextAction: "Ask." };
    const { fetch } = fakeService(() => ({ status: 403, body }));

    const { error } = await createClient({ baseUrl, fetch }).auth.signInWithPassword(CREDENTIALS);

    expect(error?.nextActions).toBe("Ask.");
  });
});

test("error.error is one of the documented codes, to the compiler", () => {
  const known: ErrorCode[] = ["EMAIL_EXISTS", "INVALID_CSRF_TOKEN", "NETWORK_ERROR"];
  // @ts-expect-error: a misspelt code does not compile.
  const misspelt: ErrorCode = "EMAIL_EXIST";

  expect(known).not.toContain(misspelt);
});

test.each([
  [403, "FORBIDDEN", false],
  [503, "SERVICE_BUSY", true],
] as const)("a refusal with %i %s: the last known user stands for it: %s", async (status, code, isKnown) => {
  const { fetch } = fakeService(({ path }) => (path.endsWith("current") ? refusal(status, code) : session()));
  const client = createClient({ baseUrl, fetch });
  await client.auth.signInWithPassword(CREDENTIALS);

  const { data, error } = await client.auth.getCurrentUser();

  expect(data?.user !== undefined).toBe(isKnown);
  expect(error?.error).toBe(isKnown ? undefined : code);
});

describe("what goes with a call", () => {
  test("is the anonymous key, until there is a user", async () => {
    const { fetch, calls } = fakeService(({ path }) => (path === "/api/auth/sessions" ? session() : {}));
    const client = createClient({ baseUrl, fetch, anonKey: "anon_key" });

    await client.profiles.search("ada");
    const signedIn = await client.auth.signInWithPassword(CREDENTIALS);
    await client.profiles.me();

    expect(calls.map((call) => call.headers.get("authorization"))).toEqual([
      "Bearer anon_key",
      "Bearer anon_key",
      `Bearer ${signedIn.data?.accessToken}`,
    ]);
  });

  test("is client_type, the headers of the options, and a path under baseUrl", async () => {
    const { fetch, calls } = fakeService(() => session());
    const headers = { "x-forwarded-for": "192.0.2.7" };

    await createClient({ baseUrl: `${baseUrl}/`, fetch, headers, clientType: "mobile" }).auth.signInWithPassword(CREDENTIALS);

    expect(calls[0]?.path).toBe("/api/auth/sessions");
    expect(calls[0]?.query.get("client_type")).toBe("mobile");
    expect(calls[0]?.headers.get("x-forwarded-for")).toBe("192.0.2.7");
  });

  test("is a session even if the response has no CSRF token", async () => {
    const { fetch } = fakeService(() => session({ csrfToken: null }));
    const client = createClient({ baseUrl, fetch });

    await client.auth.signInWithPassword(CREDENTIALS);

    expect((await client.auth.getCurrentSession()).data?.session?.accessToken).toMatch(/^ey/);
  });

  test("is no session if the response is a second-factor challenge", async () => {
    const body = { challenge: { id: "1", kinds: ["totp"], expiresAt: "2026-03-01T12:00:00.000Z" } };
    const { fetch } = fakeService(() => ({ body }));
    const client = createClient({ baseUrl, fetch });

    const { data } = await client.auth.signInWithPassword(CREDENTIALS);

    expect(data).toEqual(body);
    expect((await client.auth.getCurrentSession()).data?.session).toBeNull();
  });
});

describe("createClient", () => {
  test.each([
    ["nowhere", "has no scheme"],
    ["localhost:8700", "has no scheme"],
    ["accounts.example.com/auth", "has no scheme"],
    ["ftp://accounts.example.com", "has no scheme"],
    ["", "has no scheme"],
    ["//accounts.example.com", "has no scheme"],
    ["https://accounts.example.com/auth", "has more than scheme, host and port"],
    ["https://accounts.example.com?x=1", "has more than scheme, host and port"],
    ["https://user:password@accounts.example.com", "has more than scheme, host and port"],
    ["https://", "has more than scheme, host and port"],
    [undefined as unknown as string, "has no scheme"],
  ])("refuses %j, because it %s, and shows a right one", (address, fault) => {
    const create = () => createClient({ baseUrl: address });

    expect(create).toThrow(TypeError);
    expect(create).toThrow(`baseUrl "${address}" ${fault}. Write it like "https://accounts.example.com".`);
  });

  test.each([
    ["http://fake.example/", "http://fake.example/api/profiles/search?q=ada"],
    ["HTTP://Fake.example:80//", "http://fake.example/api/profiles/search?q=ada"],
    ["http://[::1]:8700", "http://[::1]:8700/api/profiles/search?q=ada"],
    ["/auth/", "/auth/api/profiles/search?q=ada"],
  ])("takes %j", async (address, called) => {
    const fetch = vi.fn(async () => Response.json([]));

    await createClient({ baseUrl: address, fetch }).profiles.search("ada");

    expect(fetch).toHaveBeenCalledWith(called, expect.anything());
  });
});

describe("limits of the real service", () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ "limits.enabled": "true", "limits.sign_up_per_address": "1/1h" });
  });
  afterAll(() => service.stop());

  test("a used-up limit sets retryAfter", async () => {
    const client = serverClient(service.url);
    await client.auth.signUp({ email: newEmail(), password: PASSWORD });

    const { error } = await client.auth.signUp({ email: newEmail(), password: PASSWORD });

    expect(error).toMatchObject({ statusCode: 429, error: "TOO_MANY_REQUESTS" });
    expect(error?.retryAfter).toBeGreaterThan(3000);
    expect(error?.retryAfter).toBeLessThanOrEqual(3600);
  });
});
