// signInWithOAuth and the exchange, by the wire contract.
import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { challenge, fakeService, refusal, session, USER } from "./support/fake-service.js";

const baseUrl = "http://fake.example";
const redirectTo = "http://localhost:5173/welcome";
const started = { body: { authUrl: "https://provider.example/authorize?state=1" } };

describe("signInWithOAuth", () => {
  test("signInWithOAuth returns the address, the provider and the verifier of the challenge it sent", async () => {
    const { fetch, calls } = fakeService(() => started);
    const client = createClient({ baseUrl, fetch, isServerMode: true });

    const { data, error } = await client.auth.signInWithOAuth({
      provider: "google",
      redirectTo,
      additionalParams: { login_hint: USER.email },
      skipBrowserRedirect: true,
    });

    expect(error).toBeNull();
    expect(data).toEqual({
      url: started.body.authUrl,
      provider: "google",
      codeVerifier: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.path).toBe("/api/auth/oauth/google");
    expect(Object.fromEntries(calls[0]?.query ?? [])).toEqual({
      redirect_uri: redirectTo,
      code_challenge: challenge(data?.codeVerifier ?? ""),
      login_hint: USER.email,
    });
  });

  test("signInWithOAuth works without redirectTo (older variant)", async () => {
    const { fetch, calls } = fakeService(() => started);

    await createClient({ baseUrl, fetch }).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });

    expect(calls[0]?.query.has("redirect_uri")).toBe(false);
  });

  test("signInWithOAuth takes the provider before the rest", async () => {
    const { fetch, calls } = fakeService(() => started);

    const { data } = await createClient({ baseUrl, fetch }).auth.signInWithOAuth("google", { redirectTo });

    expect(data?.provider).toBe("google");
    expect(calls[0]?.query.get("redirect_uri")).toBe(redirectTo);
  });

  test("signInWithOAuth finds custom providers", async () => {
    const { fetch, calls } = fakeService(({ path }) =>
      path.includes("/custom/") ? started : refusal(400, "UNSUPPORTED_PROVIDER"),
    );

    const { data } = await createClient({ baseUrl, fetch }).auth.signInWithOAuth({ provider: "my-company", redirectTo });

    expect(data?.url).toBe(started.body.authUrl);
    expect(calls.map((call) => call.path)).toEqual([
      "/api/auth/oauth/my-company",
      "/api/auth/oauth/custom/my-company",
    ]);
  });

  test.each(["UNSUPPORTED_PROVIDER", "PROVIDER_NOT_CONFIGURED", "REDIRECT_NOT_ALLOWED"])(
    "signInWithOAuth returns the refusal %s",
    async (code) => {
      const { fetch } = fakeService(() => refusal(400, code));

      const { data, error } = await createClient({ baseUrl, fetch }).auth.signInWithOAuth({ provider: "x", redirectTo });

      expect(data).toBeNull();
      expect(error).toMatchObject({ statusCode: 400, error: code });
    },
  );

  test("hints cannot replace what the client sets", async () => {
    const { fetch, calls } = fakeService(() => started);
    const additionalParams = { redirect_uri: "https://elsewhere.example", code_challenge: "mine" };

    await createClient({ baseUrl, fetch }).auth.signInWithOAuth({ provider: "google", redirectTo, additionalParams });

    expect(calls[0]?.query.getAll("redirect_uri")).toEqual([redirectTo]);
    expect(calls[0]?.query.get("code_challenge")).not.toBe("mine");
  });
});

describe("without WebCrypto", () => {
  afterEach(() => void vi.unstubAllGlobals());

  test.each(["signInWithOAuth", "linkIdentity"] as const)("%s makes the same challenge", async (how) => {
    vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
    const { fetch, calls } = fakeService(() => started);

    const { data } = await createClient({ baseUrl, fetch }).auth[how]({ provider: "google", redirectTo });

    const sent = calls.at(-1)?.query.get("code_challenge") ?? calls.at(-1)?.body.code_challenge;
    expect(sent).toBe(challenge(data?.codeVerifier ?? ""));
  });

  test.each([undefined, {}])("and without random numbers the error names a polyfill: %j", async (crypto) => {
    vi.stubGlobal("crypto", crypto);
    const { fetch, calls } = fakeService(() => started);

    const { error } = await createClient({ baseUrl, fetch }).auth.signInWithOAuth({ provider: "google", redirectTo });

    expect(error).toMatchObject({
      statusCode: 0,
      error: "CRYPTO_UNAVAILABLE",
      message: expect.stringContaining("getRandomValues"),
      nextActions: expect.stringContaining("react-native-get-random-values"),
    });
    expect(calls).toHaveLength(0);
  });
});

describe("exchangeOAuthCode", () => {
  test("exchangeOAuthCode opens a session with the verifier of this client", async () => {
    const { fetch, calls } = fakeService(({ path }) => (path.endsWith("exchange") ? session() : started));
    const client = createClient({ baseUrl, fetch });
    const begun = await client.auth.signInWithOAuth({ provider: "google", redirectTo });

    const { data } = await client.auth.exchangeOAuthCode("the-code");

    expect(data?.user).toEqual(USER);
    expect(calls[1]).toMatchObject({ method: "POST", path: "/api/auth/oauth/exchange" });
    expect(calls[1]?.body).toEqual({ code: "the-code", code_verifier: begun.data?.codeVerifier });
    expect((await client.auth.getCurrentSession()).data?.session?.user).toEqual(USER);
  });

  test("exchangeOAuthCode takes a verifier in hand", async () => {
    const { fetch, calls } = fakeService(() => session({ refreshToken: "next" }));

    await createClient({ baseUrl, fetch, isServerMode: true }).auth.exchangeOAuthCode("the-code", "the-verifier");

    expect(calls[0]?.query.get("client_type")).toBe("server");
    expect(calls[0]?.body).toEqual({ code: "the-code", code_verifier: "the-verifier" });
  });

  test("exchangeOAuthCode sends the bearer of the session, which links an identity, and keeps its tokens", async () => {
    const linked = { ...USER, providers: ["email", "acme"] };
    const { fetch, calls } = fakeService(({ path }) => {
      if (path.endsWith("link")) return started;
      if (path.endsWith("exchange")) return { body: { user: linked, accessToken: "another" } };
      return session({ refreshToken: "first" });
    });
    const client = createClient({ baseUrl, fetch, isServerMode: true });
    const signedIn = await client.auth.signInWithPassword({ email: USER.email, password: "correct horse battery" });

    await client.auth.linkIdentity({ provider: "acme", redirectTo });
    await client.auth.exchangeOAuthCode("the-code");

    expect(calls[1]).toMatchObject({ method: "POST", path: "/api/auth/identities/acme/link" });
    expect(calls[1]?.body).toEqual({ redirect_uri: redirectTo, code_challenge: expect.stringMatching(/^[\w-]{43}$/) });
    expect(calls[2]?.headers.get("authorization")).toBe(`Bearer ${signedIn.data?.accessToken}`);
    expect((await client.auth.getCurrentSession()).data?.session).toMatchObject({
      user: linked,
      accessToken: signedIn.data?.accessToken,
    });
  });

  test("a verifier is used once", async () => {
    const { fetch } = fakeService(({ path }) => (path.endsWith("exchange") ? session() : started));
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithOAuth({ provider: "google", redirectTo });
    await client.auth.exchangeOAuthCode("the-code");

    expect((await client.auth.exchangeOAuthCode("another")).error?.error).toBe("INVALID_OAUTH_CODE");
  });

  test("a code that was begun elsewhere is refused without asking the service", async () => {
    const { fetch, calls } = fakeService(() => session());

    const { error } = await createClient({ baseUrl, fetch }).auth.exchangeOAuthCode("somebody-else's");

    expect(error).toMatchObject({ statusCode: 400, error: "INVALID_OAUTH_CODE" });
    expect(calls).toHaveLength(0);
  });
});

describe("signInWithIdToken", () => {
  test("signInWithIdToken opens a session by the token of a provider", async () => {
    const { fetch, calls } = fakeService(() => session({ refreshToken: "next" }));
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    const input = { provider: "google", token: "the-id-token", nonce: "the-nonce" };

    const { data } = await client.auth.signInWithIdToken(input);
    client.close();

    expect(data?.user).toEqual(USER);
    expect(calls[0]).toMatchObject({ method: "POST", path: "/api/auth/id-token", body: input });
  });
});
