// Runtime like React Native: missing APIs are deleted, partial ones throw.
import { request } from "node:http";
import { beforeAll, expect, inject, test, vi } from "vitest";
import { createClient, readRedirectResult, withoutRedirectParameters } from "../src/index.js";
import { challenge, fakeService, session, USER } from "./support/fake-service.js";
import { must, newEmail, PASSWORD } from "./support/people.js";

const MISSING = [
  "atob",
  "btoa",
  "TextDecoder",
  "TextEncoder",
  "structuredClone",
  "localStorage",
  "sessionStorage",
  "BroadcastChannel",
  "navigator",
  "document",
  "location",
  "history",
  "addEventListener",
  "removeEventListener",
];

/** `fetch` without the deleted APIs, on which that of Node.js depends. */
const nativeFetch = ((url: string, { method = "GET", headers, body }: RequestInit) =>
  new Promise<Response>((resolve, reject) => {
    const sent = request(url, { method, headers: headers as Record<string, string> }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const given = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string]));
        resolve(new Response(Buffer.concat(chunks).toString(), { status: answer.statusCode ?? 0, headers: given }));
      });
    });
    sent.on("error", reject);
    sent.end(body as string | undefined);
  })) as typeof fetch;

beforeAll(async () => {
  // Node.js loads these on first use.
  await new Response("loaded").text();
  for (const name of MISSING) delete (globalThis as Record<string, unknown>)[name];
  delete (AbortSignal as Partial<typeof AbortSignal>).timeout;
  delete (AbortSignal as Partial<typeof AbortSignal>).any;
  const { getRandomValues } = crypto;
  const random = { getRandomValues: getRandomValues.bind(crypto) };
  Object.defineProperty(globalThis, "crypto", { value: random, configurable: true });
  const unsupported = (): never => {
    throw new Error("not implemented");
  };
  // As in React Native before 0.80: `URL` parses nothing, and `URLSearchParams` accepts no list of pairs.
  class PoorUrl {
    constructor(readonly href: string) {}
    toString = (): string => this.href;
    get searchParams(): never {
      return unsupported();
    }
    get pathname(): never {
      return unsupported();
    }
  }
  vi.stubGlobal("URL", PoorUrl);
  vi.stubGlobal("URLSearchParams", unsupported);
});

test("sign-up, sign-in, profile, refresh and sign-out work against the service", async () => {
  const kept: (string | undefined)[] = [];
  const client = createClient({ baseUrl: inject("open"), clientType: "mobile", fetch: nativeFetch });
  client.auth.onAuthStateChange((_, held) => kept.push(held?.refreshToken));
  const email = newEmail();
  must(await client.auth.signUp({ email, password: PASSWORD, name: "Ada Lövelace" }));
  must(await client.auth.signInWithPassword({ email, password: PASSWORD }));

  expect(must(await client.profiles.update({ bio: "Notes & äöü" })).bio).toBe("Notes & äöü");
  expect(must(await client.profiles.search({ q: "Notes & äöü", limit: 5 })).profiles[0]?.name).toBe("Ada Lövelace");
  const refreshed = must(await client.auth.refreshSession());
  expect(refreshed.refreshToken).toBe(kept.at(-1));
  expect(must(await client.auth.getCurrentUser()).user?.email).toBe(email);
  expect((await client.auth.signOut()).error).toBeNull();
  client.close();
});

test("a sign-in with a provider makes a right challenge", async () => {
  const { fetch, calls } = fakeService(({ path }) =>
    path.endsWith("exchange") ? session({ refreshToken: "first" }) : { body: { authUrl: "https://provider.example" } },
  );
  const client = createClient({ baseUrl: "http://fake.example", clientType: "mobile", fetch });

  const { codeVerifier = "" } = must(await client.auth.signInWithOAuth({ provider: "google", redirectTo: "app://back" }));
  expect(calls[0]?.query.get("code_challenge")).toBe(challenge(codeVerifier));
  expect(calls[0]?.query.get("redirect_uri")).toBe("app://back");
  expect(must(await client.auth.exchangeOAuthCode("the-code")).user).toEqual(USER);
  client.close();
});

test("a deep link is read", () => {
  const link = "app://reset?service_status=ready&service_type=reset_password&token=abc&x=1#part";

  expect(readRedirectResult(link)).toEqual({ status: "ready", type: "reset_password", token: "abc" });
  expect(withoutRedirectParameters(link)).toBe("app://reset?x=1#part");
});
