// @vitest-environment happy-dom
// @latchkey/client/react.
import { createElement, type ReactElement, StrictMode } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient, type LatchkeyClient } from "../src/index.js";
import { LatchkeyProvider, useChallenge, useSession, useSignInWithPassword, useSignOut, useUser } from "../src/react.js";
import { createFakeClient } from "../src/testing.js";
import { accessToken, fakeService, refusal, session, USER } from "./support/fake-service.js";

const CREDENTIALS = { email: USER.email, password: "correct horse battery" };
let client: LatchkeyClient;
let root: Root;
let isRight = true;

function Account(): ReactElement {
  const { user, isLoading, error } = useUser();
  const { session: held } = useSession();
  const signIn = useSignInWithPassword();
  const signOut = useSignOut();
  const text = isLoading ? ["loading", error?.error].join(" ").trim() : `${user?.email ?? "nobody"} ${held ? "with" : "without"} a session`;
  return createElement(
    "main",
    null,
    createElement("p", null, text, signIn.isPending ? " (pending)" : "", signIn.error ? ` ${signIn.error.error}` : ""),
    createElement("button", { id: "in", onClick: () => void signIn.run(CREDENTIALS) }),
    createElement("button", { id: "out", onClick: () => void signOut.run() }),
  );
}

const page = (): ReactElement =>
  createElement(StrictMode, null, createElement(LatchkeyProvider, { client }, createElement(Account)));
const shown = (): string | null | undefined => document.querySelector("p")?.textContent;
const click = (id: string): void => document.getElementById(id)?.click();

beforeEach(() => {
  localStorage.clear();
  isRight = true;
  const { fetch } = fakeService(({ path }) => {
    if (path === "/api/auth/logout") return { body: { success: true, message: "" } };
    return isRight ? session() : refusal(401, "INVALID_CREDENTIALS");
  });
  client = createClient({ baseUrl: "http://fake.example", fetch });
  document.body.innerHTML = "<div></div>";
  root = createRoot(document.querySelector("div") as HTMLElement);
  root.render(page());
});
afterEach(() => {
  root.unmount();
  client.close();
});

test("hooks follow sign-in and sign-out", async () => {
  await expect.poll(shown).toBe("nobody without a session");

  click("in");
  await expect.poll(shown).toBe(`${USER.email} with a session`);

  click("out");
  await expect.poll(shown).toBe("nobody without a session");
});

test("an operation returns its error", async () => {
  isRight = false;
  await expect.poll(shown).toBe("nobody without a session");

  click("in");

  await expect.poll(shown).toBe("nobody without a session INVALID_CREDENTIALS");
});

test("another client shows nothing of the one before", async () => {
  await expect.poll(shown).toBe("nobody without a session");
  click("in");
  await expect.poll(shown).toBe(`${USER.email} with a session`);
  client.close();

  localStorage.clear();
  client = createClient({ baseUrl: "http://other.example", fetch: fakeService(() => session()).fetch });
  root.render(page());

  await expect.poll(shown).toBe("nobody without a session");
});

test("the newest of two runs is shown", async () => {
  let answer: () => void = () => undefined;
  let number = 0;
  const { fetch } = fakeService(async () => {
    number += 1;
    if (number > 1) return refusal(429, "TOO_MANY_REQUESTS");
    await new Promise<void>((resolve) => (answer = resolve));
    return refusal(401, "INVALID_CREDENTIALS");
  });
  client = createClient({ baseUrl: "http://slow.example", clientType: "server", fetch });
  root.render(page());
  await expect.poll(shown).toBe("nobody without a session");

  click("in");
  click("in");
  await expect.poll(shown).toBe("nobody without a session TOO_MANY_REQUESTS");
  answer();
  await client.auth.getCurrentUser();

  expect(shown()).toBe("nobody without a session TOO_MANY_REQUESTS");
});

test("the reason of an unknown session is reported", async () => {
  localStorage.setItem("latchkey:http://lost.example:csrf", "csrf");
  client = createClient({ baseUrl: "http://lost.example", fetch: fakeService(() => "lost").fetch });
  root.render(page());

  await expect.poll(shown).toBe("loading NETWORK_ERROR");
});

test("a page rendered on a server reports an unknown session", () => {
  expect(renderToString(page())).toContain("loading");
});

test("initialSession is rendered at once by server and browser, without a request", async () => {
  const service = fakeService(() => session());
  const shared = createClient({ baseUrl: "http://shown.example", fetch: service.fetch });
  const initialSession = { accessToken: accessToken(), user: USER, expiresAt: new Date(Date.now() + 900_000) };
  const rendered = (): ReactElement =>
    createElement(StrictMode, null, createElement(LatchkeyProvider, { client: shared, initialSession }, createElement(Account)));
  const html = renderToString(rendered());
  expect(html).toContain(`${USER.email} with a session`);

  document.body.innerHTML = `<div>${html}</div>`;
  const complaints: unknown[] = [];
  const texts: (string | null | undefined)[] = [shown()];
  const watcher = new MutationObserver(() => texts.push(shown()));
  watcher.observe(document.body, { subtree: true, childList: true, characterData: true });
  const hydrated = hydrateRoot(document.querySelector("div") as HTMLElement, rendered(), {
    onRecoverableError: (error) => complaints.push(error),
  });
  await expect.poll(async () => (await shared.auth.getCurrentSession()).data?.session?.accessToken).toBe(initialSession.accessToken);
  await new Promise((resolve) => setTimeout(resolve));

  expect(complaints).toEqual([]);
  expect(new Set(texts)).toEqual(new Set([`${USER.email} with a session`]));
  expect(service.calls).toHaveLength(0);
  click("out");
  await expect.poll(shown).toBe("nobody without a session");
  watcher.disconnect();
  hydrated.unmount();
  shared.close();
});

test("initialSession null is rendered as signed out at once", () => {
  const props = { client, initialSession: null };

  const html = renderToString(createElement(LatchkeyProvider, props, createElement(Account)));

  expect(html).toContain("nobody without a session");
});

test("a hook without a provider names the missing provider", () => {
  expect(() => renderToString(createElement(Account))).toThrow("needs a <LatchkeyProvider>");
});

test("useChallenge shows the challenge of a sign-in until it is answered or dropped", async () => {
  const fake = createFakeClient();
  fake.fake.addUser({ ...CREDENTIALS, twoStep: true, passkey: true });
  function Challenge(): ReactElement {
    const { challenge, answer, answerWithPasskey, dismiss } = useChallenge();
    const give = (code: string) => challenge && answer.run({ challenge, kind: "totp", code });
    const text = `${challenge ? challenge.kinds[1] : "none"}${answer.error ? ` ${answer.error.error}` : ""}`;
    return createElement(
      "main",
      null,
      createElement("p", null, text),
      createElement("button", { id: "wrong", onClick: () => void give("no") }),
      createElement("button", { id: "right", onClick: () => void give(fake.fake.totp()) }),
      createElement("button", { id: "passkey", onClick: () => void (challenge && answerWithPasskey.run(challenge)) }),
      createElement("button", { id: "drop", onClick: dismiss }),
    );
  }
  root.render(createElement(LatchkeyProvider, { client: fake }, createElement(Challenge)));
  await expect.poll(shown).toBe("none");

  await fake.auth.signInWithPassword(CREDENTIALS);
  await expect.poll(shown).toBe("totp");
  click("drop");
  await expect.poll(shown).toBe("none");

  await fake.auth.signInWithPassword(CREDENTIALS);
  await expect.poll(shown).toBe("totp");
  click("wrong");
  await expect.poll(shown).toBe("totp INVALID_SECOND_FACTOR");
  click("right");
  await expect.poll(shown).toBe("none");

  await fake.auth.signInWithPassword(CREDENTIALS);
  await expect.poll(shown).toBe("totp");
  click("passkey");
  await expect.poll(shown).toBe("none");
});
