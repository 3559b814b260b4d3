// @vitest-environment happy-dom
// Passkeys in a page: what the browser is asked, and what follows its refusals. Responses of the service are scripted.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Challenge, createClient, type LatchkeyClient, type PasskeySignInInput } from "../src/index.js";
import { type Authenticator, plugIn } from "./support/authenticator.js";
import { type FakeService, fakeService, refusal, session, USER } from "./support/fake-service.js";
import { baseUrl, closeTabs, CREDENTIALS, openTab } from "./support/tab.js";

const MINUTE = 60_000;
const PATH = "/api/auth/passkeys";
const OPTIONS = `${PATH}/authentication-options`;
const SIGN_IN = `${PATH}/sign-in`;
const REGISTRATION = `${PATH}/registration-options`;
const bytes = (text: string): string => Buffer.from(text).toString("base64url");
const CREATION = {
  rp: { id: "fake.example", name: "Fake" },
  user: { id: bytes("user handle"), name: USER.email, displayName: "Ada Lovelace" },
  challenge: bytes("challenge"),
  excludeCredentials: [{ id: bytes("other"), type: "public-key", transports: ["usb"] }],
};
const REQUEST = { rpId: "fake.example", challenge: bytes("challenge"), allowCredentials: [], userVerification: "required" };
const PASSKEY = { id: "p1", credentialId: "AQID", name: "Phone" };
const ACCEPTED = { rpId: "fake.example", userHandle: "handle", acceptedCredentialIds: ["AQID"] };

type Answer = Awaited<ReturnType<Parameters<typeof fakeService>[0]>>;

/** Service with passkeys; `answers` replaces its responses by path. */
const service = (answers: Record<string, () => Answer> = {}): FakeService =>
  fakeService(({ method, path }) => {
    const given = answers[`${method} ${path}`] ?? answers[path];
    if (given) return given();
    if (path.endsWith("authentication-options")) return { body: { ceremonyId: "c1", options: REQUEST } };
    if (path === REGISTRATION) return { body: { ceremonyId: "c1", options: CREATION } };
    if (path === "/api/auth/challenges/passkey-options") return { body: { options: REQUEST } };
    if (path === PATH && method === "GET") return { body: { passkeys: [PASSKEY], ...ACCEPTED } };
    if (path === PATH) return { body: { passkey: PASSKEY } };
    if (method === "DELETE") return { body: { message: "Removed.", ...ACCEPTED } };
    return session();
  });

const paths = (fake: FakeService): string[] => fake.calls.map(({ path }) => path);

let device: Authenticator;
beforeEach(() => {
  localStorage.clear();
  device = plugIn("http://page.example");
});
afterEach(() => {
  closeTabs();
  vi.unstubAllGlobals();
});

/** Device with a passkey, without a call of the service. */
async function equip(): Promise<void> {
  const publicKey = { ...CREATION, user: { ...CREATION.user, id: Buffer.from("user handle") }, challenge: Buffer.from("x"), excludeCredentials: [] };
  await navigator.credentials.create({ publicKey } as never);
  device.asked.length = 0;
}

describe("signInWithPasskey", () => {
  test("hands the options to the browser as bytes, and its response to the service as base64url", async () => {
    await equip();
    const fake = service();
    const { data, error } = await openTab(fake).auth.signInWithPasskey({ email: USER.email });

    expect(error).toBeNull();
    expect(data?.user?.id).toBe(USER.id);
    expect(Buffer.from(device.asked[0]?.publicKey.challenge).toString()).toBe("challenge");
    expect(fake.calls[0]).toMatchObject({ path: OPTIONS, body: { email: USER.email } });
    const id = device.stored[0]?.id.toString("base64url");
    expect(fake.calls[1]).toMatchObject({
      path: SIGN_IN,
      body: { ceremonyId: "c1", credential: { id, rawId: id, type: "public-key", response: { userHandle: bytes("user handle") } } },
    });
    expect(fake.calls[1]?.query.get("client_type")).toBe("web");
    const { response } = fake.calls[1]?.body["credential"] as { response: Record<string, string> };
    expect(JSON.parse(Buffer.from(response["clientDataJSON"] ?? "", "base64url").toString()).challenge).toBe(REQUEST.challenge);
    expect(JSON.stringify([{ ...localStorage }, { ...sessionStorage }])).not.toMatch(/c1|signature/);
  });

  test.each([
    ["NotAllowedError", 0, "PASSKEY_CANCELLED"],
    ["AbortError", 0, "PASSKEY_CANCELLED"],
    ["SecurityError", 0, "PASSKEYS_UNAVAILABLE"],
    ["NotSupportedError", 0, "PASSKEYS_UNAVAILABLE"],
  ])("%s of the browser is an error with its cause", async (name, statusCode, error) => {
    device.refusal = name;
    const fake = service();
    const result = await openTab(fake).auth.signInWithPasskey();

    expect(result.error).toMatchObject({ statusCode, error, nextActions: expect.any(String) });
    expect((result.error?.cause as DOMException).name).toBe(name);
    expect(paths(fake)).toEqual([OPTIONS]);
  });

  test("a signal ends it, whatever reason the app gives", async () => {
    for (const reason of [undefined, new Error("unmounted"), null]) {
      const signal = AbortSignal.abort(reason);
      expect((await openTab(service()).auth.signInWithPasskey({ signal })).error?.error).toBe("PASSKEY_CANCELLED");
    }
  });

  test("an unknown passkey is told to the app that stores it", async () => {
    await equip();
    const fake = service({ [SIGN_IN]: () => refusal(401, "UNKNOWN_PASSKEY") });

    expect((await openTab(fake).auth.signInWithPasskey()).error?.error).toBe("UNKNOWN_PASSKEY");

    const credentialId = device.stored[0]?.id.toString("base64url");
    expect(device.signals).toEqual([["signalUnknownCredential", { rpId: "fake.example", credentialId }]]);
  });

  test("a browser without signals is told nothing, and asked for nothing more", async () => {
    vi.unstubAllGlobals();
    device = plugIn("http://page.example", []);
    await equip();
    const fake = service();

    expect((await openTab(fake).auth.signInWithPasskey()).error).toBeNull();

    expect(paths(fake)).toEqual([OPTIONS, SIGN_IN]);
  });

  test("a signal that fails is no error", async () => {
    await equip();
    const fail = vi.fn(() => Promise.reject(new TypeError("no")));
    Object.assign(PublicKeyCredential, { signalAllAcceptedCredentials: fail });

    expect((await openTab(service()).auth.signInWithPasskey()).error).toBeNull();
    await vi.waitFor(() => expect(fail).toHaveBeenCalled());
  });
});

describe("a browser without WebAuthn", () => {
  beforeEach(() => vi.stubGlobal("PublicKeyCredential", undefined));

  test("is told apart by isSupported, and gets a clear error without a request", async () => {
    const fake = service();
    const { auth } = openTab(fake);
    const challenge = { id: "c", kinds: ["passkey"], expiresAt: "" } as Challenge<any>;
    expect(auth.passkeys.isSupported()).toBe(false);

    for (const call of [
      auth.signInWithPasskey(),
      auth.signInWithPasskey({ autofill: true }),
      auth.passkeys.register(),
      auth.answerChallengeWithPasskey({ challenge }),
    ]) {
      expect((await call).error).toMatchObject({ statusCode: 0, error: "PASSKEYS_UNAVAILABLE", message: "Passkeys cannot be used here." });
    }
    expect(await auth.passkeys.register({ conditional: true })).toEqual({ data: null, error: null });
    expect(fake.calls).toEqual([]);
  });

  test("still lists, renames and removes passkeys", async () => {
    const { auth } = openTab(service({ [`${PATH}/p1`]: () => ({ body: { passkey: PASSKEY, message: "Done.", ...ACCEPTED } }) }));
    await auth.signInWithPassword(CREDENTIALS);

    expect((await auth.passkeys.list()).data?.passkeys).toEqual([PASSKEY]);
    expect((await auth.passkeys.rename("p1", "Tablet")).data?.passkey).toEqual(PASSKEY);
    expect((await auth.passkeys.remove("p1")).data?.message).toBe("Done.");
  });
});

describe("autofill", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
  afterEach(() => void vi.useRealTimers());

  /** Begins to wait; resolves when the browser was asked. */
  async function waiting(fake: FakeService, input: PasskeySignInInput = {}) {
    const before = device.asked.length;
    const { auth } = openTab(fake);
    const result = auth.signInWithPasskey({ ...input, autofill: true });
    let isOver = false;
    void result.then(() => (isOver = true));
    await asked(before + 1);
    return { auth, result, isOver: () => isOver };
  }
  const asked = (times: number): Promise<void> => vi.waitFor(() => expect(device.asked).toHaveLength(times));

  test("opens the session when a passkey is chosen", async () => {
    await equip();
    const { result } = await waiting(service());
    expect(device.asked[0]?.mediation).toBe("conditional");
    device.choose();
    expect((await result).data?.user?.id).toBe(USER.id);
  });

  test("gets a new ceremony every 8 minutes, until the app ends it", async () => {
    const fake = service();
    const page = new AbortController();
    const { result } = await waiting(fake, { signal: page.signal });

    await vi.advanceTimersByTimeAsync(8 * MINUTE);
    await asked(2);
    expect(device.asked[0]?.signal?.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(8 * MINUTE);
    await asked(3);
    expect(paths(fake)).toEqual([OPTIONS, OPTIONS, OPTIONS]);

    page.abort();
    expect((await result).error?.error).toBe("PASSKEY_CANCELLED");
    expect(device.asked[2]?.signal?.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(fake.calls).toHaveLength(3);
  });

  test("a second one ends the first", async () => {
    const first = await waiting(service());
    await waiting(service());

    expect((await first.result).error?.error).toBe("PASSKEY_CANCELLED");
    expect(device.asked[1]?.signal?.aborted).toBe(false);
  });

  test("makes room for a dialog, and continues after it was cancelled", async () => {
    const { auth, isOver } = await waiting(service());
    device.refusal = "NotAllowedError";

    expect((await auth.signInWithPasskey()).error?.error).toBe("PASSKEY_CANCELLED");

    expect(device.asked[0]?.signal?.aborted).toBe(true);
    await asked(3);
    expect(device.asked[2]).toMatchObject({ mediation: "conditional" });
    expect(isOver()).toBe(false);
  });

  test("ends when another sign-in opens the session", async () => {
    const { auth, result } = await waiting(service());
    await auth.signInWithPassword(CREDENTIALS);

    expect((await result).error?.error).toBe("PASSKEY_CANCELLED");
    expect(device.asked).toHaveLength(1);
  });

  test("a renewal without a network is tried again, and a first request is not", async () => {
    let answer: Answer | undefined;
    const fake = service({ [OPTIONS]: () => answer ?? { body: { ceremonyId: "c1", options: REQUEST } } });
    const { isOver } = await waiting(fake);

    answer = "lost";
    await vi.advanceTimersByTimeAsync(8 * MINUTE);
    await vi.advanceTimersByTimeAsync(MINUTE / 2);
    answer = { status: 429, headers: { "retry-after": "90" }, body: { error: "TOO_MANY_REQUESTS", message: "Wait." } };
    await vi.advanceTimersByTimeAsync(MINUTE / 2);
    const before = fake.calls.length;
    answer = undefined;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(fake.calls).toHaveLength(before);
    expect(isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(MINUTE);
    await asked(2);

    const other = openTab(service({ [OPTIONS]: () => refusal(403, "FEATURE_DISABLED") }));
    expect((await other.auth.signInWithPasskey({ autofill: true })).error?.error).toBe("FEATURE_DISABLED");
  });

  test("a browser that has none is PASSKEYS_UNAVAILABLE", async () => {
    Object.assign(PublicKeyCredential, { isConditionalMediationAvailable: async () => false });
    const fake = service();
    expect((await openTab(fake).auth.signInWithPasskey({ autofill: true })).error?.error).toBe("PASSKEYS_UNAVAILABLE");
    expect(fake.calls).toEqual([]);
  });
});

describe("passkeys.register", () => {
  test("creates a passkey with the options of the service, and registers it under its name", async () => {
    const fake = service();
    const { auth } = openTab(fake);
    await auth.signInWithPassword(CREDENTIALS);

    expect((await auth.passkeys.register({ name: "Phone" })).data?.passkey).toEqual(PASSKEY);

    const { user, excludeCredentials, challenge } = device.asked[0]?.publicKey;
    expect([user.id, excludeCredentials[0].id, challenge].map((one) => Buffer.from(one).toString())).toEqual([
      "user handle",
      "other",
      "challenge",
    ]);
    const { body } = fake.calls.at(-1) ?? {};
    expect(body).toMatchObject({ ceremonyId: "c1", name: "Phone", credential: { type: "public-key", response: { transports: ["internal"] } } });
  });

  test("on a device that has one is PASSKEY_EXISTS", async () => {
    const { auth } = openTab(service());
    await auth.signInWithPassword(CREDENTIALS);
    device.refusal = "InvalidStateError";

    expect((await auth.passkeys.register()).error).toMatchObject({ statusCode: 409, error: "PASSKEY_EXISTS" });
  });

  test("with conditional: a refusal by the browser is no error", async () => {
    const { auth } = openTab(service());
    await auth.signInWithPassword(CREDENTIALS);
    for (const refused of ["NotAllowedError", "InvalidStateError"]) {
      device.refusal = refused;
      expect(await auth.passkeys.register({ conditional: true })).toEqual({ data: null, error: null });
    }
    expect((await auth.passkeys.register({ conditional: true })).data?.passkey).toEqual(PASSKEY);
    expect(device.asked.map(({ mediation }) => mediation)).toEqual(["conditional", "conditional", "conditional"]);

    Object.assign(PublicKeyCredential, { getClientCapabilities: async () => ({ conditionalCreate: false }) });
    expect(await auth.passkeys.register({ conditional: true })).toEqual({ data: null, error: null });
    expect(device.asked).toHaveLength(3);
  });

  test("with conditional never asks the app for a fresh authentication", async () => {
    const onReauthenticationRequired = vi.fn(() => Promise.resolve());
    const { fetch } = service({ [REGISTRATION]: () => refusal(403, "REAUTHENTICATION_REQUIRED") });
    const { auth, close } = createClient({ baseUrl, fetch, onReauthenticationRequired });
    await auth.signInWithPassword(CREDENTIALS);

    expect((await auth.passkeys.register({ conditional: true })).error?.error).toBe("REAUTHENTICATION_REQUIRED");
    expect(onReauthenticationRequired).not.toHaveBeenCalled();
    close();
  });

  test("waits for a fresh authentication, which a passkey may give", async () => {
    await equip();
    let isFresh = false;
    const challenge = { id: "c".repeat(43), kinds: ["passkey"], expiresAt: "" };
    const { fetch } = service({
      [REGISTRATION]: () => (isFresh ? { body: { ceremonyId: "c1", options: CREATION } } : refusal(403, "REAUTHENTICATION_REQUIRED")),
      "/api/auth/reauthenticate": () => ({ body: { challenge } }),
      "/api/auth/challenges/answer": () => ((isFresh = true), session({ csrfToken: undefined })),
    });
    const client: LatchkeyClient = createClient({
      baseUrl,
      fetch,
      onReauthenticationRequired: (asked) => client.auth.answerChallengeWithPasskey({ challenge: asked }),
    });
    await client.auth.signInWithPassword(CREDENTIALS);

    expect((await client.auth.passkeys.register()).data?.passkey).toEqual(PASSKEY);
    client.close();
  });
});
