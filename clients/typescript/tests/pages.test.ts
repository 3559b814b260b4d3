// signInWithPages and accountUrl: the pages of the service.
import { describe, expect, test } from "vitest";
import { createClient } from "../src/index.js";
import { challenge, fakeService, session } from "./support/fake-service.js";

const baseUrl = "http://fake.example";
const redirectTo = "http://localhost:5173/welcome";

describe("signInWithPages", () => {
  test("signInWithPages returns the address of the page", async () => {
    const { fetch, calls } = fakeService(() => session());
    const { auth } = createClient({ baseUrl, fetch, isServerMode: true });

    const { data, error } = await auth.signInWithPages({ redirectTo, loginHint: "ada@example.org", locale: "de" });

    expect(error).toBeNull();
    expect(data).toEqual({ url: expect.any(String), codeVerifier: expect.stringMatching(/^[\w-]{43}$/) });
    const url = new URL(data?.url ?? "");
    expect(url.origin + url.pathname).toBe(`${baseUrl}/auth/sign-in`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      redirect_uri: redirectTo,
      code_challenge: challenge(data?.codeVerifier ?? ""),
      login_hint: "ada@example.org",
      locale: "de",
    });
    expect(calls).toHaveLength(0);
  });

  test("signInWithPages begins at the sign-up, and sends nothing that was left out", async () => {
    const { fetch } = fakeService(() => session());

    const { data } = await createClient({ baseUrl, fetch, isServerMode: true }).auth.signInWithPages({ intent: "sign-up" });

    const url = new URL(data?.url ?? "");
    expect(url.pathname).toBe("/auth/sign-up");
    expect([...url.searchParams.keys()]).toEqual(["code_challenge"]);
  });

  test("signInWithPages ends in the exchange of the code, as a sign-in with a provider does", async () => {
    const { fetch, calls } = fakeService(() => session());
    const { auth } = createClient({ baseUrl, fetch, clientType: "server" });
    const { data } = await auth.signInWithPages({ redirectTo });

    const { error } = await auth.exchangeOAuthCode("code");

    expect(error).toBeNull();
    expect(calls[0]?.path).toBe("/api/auth/oauth/exchange");
    expect(calls[0]?.body).toEqual({ code: "code", code_verifier: data?.codeVerifier });
  });
});

test("accountUrl is the page of the account", () => {
  expect(createClient({ baseUrl: `${baseUrl}/` }).auth.accountUrl()).toBe(`${baseUrl}/auth/account`);
});

test("publicUrl is where the pages are, when the calls go to a route of the app", async () => {
  const { fetch, calls } = fakeService(() => session());
  const { auth } = createClient({ baseUrl: "/auth", publicUrl: `${baseUrl}/`, fetch, isServerMode: true });

  const { data } = await auth.signInWithPages({ redirectTo });

  expect(data?.url).toMatch(/^http:\/\/fake\.example\/auth\/sign-in\?/);
  expect(auth.accountUrl()).toBe(`${baseUrl}/auth/account`);
  await auth.exchangeOAuthCode("code");
  expect(calls[0]?.path).toBe("/auth/api/auth/oauth/exchange");
  expect(() => createClient({ baseUrl, publicUrl: "accounts.example.com" })).toThrow(/publicUrl "accounts\.example\.com" has no scheme/);
});
