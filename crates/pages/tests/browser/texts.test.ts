// Texts of others in the console: every page shows them as text, on both engines, with script and without.
import type { ChildProcess } from "node:child_process";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { must, newEmail, PASSWORD, serverClient } from "../../../../clients/typescript/tests/support/people.js";
import { decide, sayWho, startProvider } from "../../../../clients/typescript/tests/support/provider.js";
import { totpOf } from "../../../../clients/typescript/tests/support/totp.js";
import { CROSSED } from "./combinations.js";
import { CORPUS, expectNoMarkup, guard } from "./corpus.js";
import { asAdmin, type Staffed, startStaffed } from "./operator.js";
import { newTab, press, send, shown } from "./person.js";

/** Every place of the navigation. */
const PLACES = ["", "/users", "/sessions", "/mails", "/import", "/audit", "/system", "/export", "/providers", "/settings", "/signing", "/operators"];
/** Fields in which an operator types, and which the address brings back. */
const TYPED = [
  ["/users", ["q"]],
  ["/sessions", ["user", "address", "device"]],
  ["/mails", ["to"]],
  ["/audit", ["user", "address"]],
  ["/settings", ["redirect"]],
  ["/settings/change?key=auth.default_redirect_url", ["value"]],
  ["/settings/theme", ["accent", "accent_dark", "background", "radius"]],
] as const;
/** Parameters that an operator never types. */
const FORGED = [
  ["/users", ["state", "provider", "created_after", "signed_in_before", "sort"]],
  ["/users", ["after"]],
  ["/users/done", ["done"]],
  ["/sessions", ["after"]],
  ["/mails", ["fate", "before"]],
  ["/audit", ["event", "actor", "operator", "since", "until"]],
  ["/settings", ["notice"]],
  ["/settings/change", ["key", "value"]],
] as const;
/** All texts in one, for fields that have room. */
const EVERYTHING = CORPUS.join(" ");
/** Texts of a person that the page of that person shows. */
const SHOWN = ["name at the top", "name in the profile", "biography", "authenticator app", "session"];

describe.each(CROSSED)("%s", (_, engine, javaScriptEnabled) => {
  let browser: Browser;
  let service: Staffed;
  let provider: ChildProcess;
  let page: Page;
  let owner: string;
  /** Address of the person with each of the texts. */
  const people = new Map<string, string>();
  const complaints: string[] = [];
  beforeAll(async () => {
    [browser, service] = await Promise.all([openBrowser(), startStaffed(engine)]);
    provider = await startProvider(service.url);
    const context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    page = await newTab(context, complaints);
    await comeFromProvider();
    await guard(page, complaints);
    owner = await service.becomeOwner(page);
    for (const text of CORPUS) people.set(text, await newPerson(text));
  });
  afterAll(async () => {
    provider.kill();
    await Promise.all([browser.close(), service.stop()]);
  });
  afterEach(() => {
    expect(complaints.splice(0)).toEqual([]);
  });

  /** Makes the account of somebody whom the provider knows. */
  async function comeFromProvider(): Promise<void> {
    await page.goto(`${service.url}/auth/sign-in`);
    await press(page, "Continue with Acme");
    await sayWho(page, "grace");
    await decide(page, "Allow");
    await shown(page, "Your account");
  }

  /** Makes an account whose texts are all the same, with a browser and a device of that name. Returns its address. */
  async function newPerson(text: string, email = newEmail()): Promise<string> {
    await asAdmin(service, "POST", "/api/auth/users", { email, password: PASSWORD, name: text, autoConfirm: true });
    const { auth, profiles } = serverClient(service.url, { headers: { "user-agent": text } });
    must(await auth.signInWithPassword({ email, password: PASSWORD }));
    must(await auth.setProfile({ motto: text }));
    must(await profiles.update({ bio: text, metadata: { [text]: text } }));
    const { factorId, secret } = must(await auth.totp.begin({ name: text }));
    must(await auth.totp.confirm({ factorId, code: await totpOf(secret) }));
    const { sessions } = must(await auth.listSessions());
    must(await auth.renameSession(sessions.find(({ current }) => current)?.id ?? "", text));
    return email;
  }

  /** Opens a page of the console. */
  async function open(path: string, parameters: Record<string, string> = {}): Promise<void> {
    const url = new URL(`${service.url}/console${path}`);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    await page.goto(url.href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectNoMarkup(page);
  }

  /** Texts of everything that a selector finds. */
  const texts = (selector: string): Promise<string[]> => page.locator(selector).allTextContents();

  test.each(CORPUS)("the page of a person called %s", async (text) => {
    const email = people.get(text) ?? "";
    await open("/users", { q: email });
    expect(await texts("tbody th[scope=row] small")).toEqual([text]);

    await page.getByRole("link", { name: email, exact: true }).click();
    await shown(page, email);

    await expectNoMarkup(page);
    expect((await texts("dd, bdi")).filter((one) => one === text)).toHaveLength(SHOWN.length);
    const written = JSON.stringify(text);
    expect(await texts("pre")).toEqual([expect.stringContaining(`"motto": ${written}`), expect.stringContaining(`${written}: ${written}`)]);
  });

  test("lists of people, their sessions, mails and events", async () => {
    for (const path of ["/users", "/sessions", "/mails", "/audit"]) {
      await open(path);
      for (const email of people.values()) await page.getByText(email, { exact: true }).first().waitFor();
    }
    await open("/users", { q: "ada-" });
    expect(await texts("tbody th[scope=row] small")).toEqual(expect.arrayContaining([...CORPUS]));
  });

  test("people who are to be banned", async () => {
    await open("/users");
    for (const email of people.values()) await page.getByRole("checkbox", { name: email, exact: true }).check();
    await page.getByLabel("With the chosen accounts").selectOption("ban");
    await press(page, "Go on");

    await shown(page, `Ban ${CORPUS.length} accounts`);
    await expectNoMarkup(page);
    expect((await texts("tbody th[scope=row] small")).sort()).toEqual([...CORPUS].sort());
    await press(page, "Ban these accounts");
    await shown(page, "Accounts banned");
    await expectNoMarkup(page);
  });

  test.each(CORPUS)("a provider called %s", async (text) => {
    await asAdmin(service, "PUT", "/api/auth/oauth/custom/acme/config", { name: text });

    await open("/providers");
    expect(await texts("h2 bdi")).toEqual([text]);
    await open("/users", { provider: "acme" });
    expect(await texts("option[selected]")).toContain(text);
    expect(await texts("tbody td bdi")).toEqual([text]);
    await page.locator("tbody th[scope=row] a").click();
    await page.getByRole("heading", { level: 2, name: "Ways in" }).waitFor();
    await expectNoMarkup(page);
    expect(await texts(".lines-of bdi")).toContain(text);
  });

  test.each(CORPUS)("an operator called %s", async (text) => {
    const { auth, profiles } = serverClient(service.url);
    must(await auth.signInWithPassword({ email: owner, password: PASSWORD }));
    must(await profiles.update({ name: text }));

    await open("");

    expect(await texts(".reader bdi")).toEqual([text]);
  });

  test("every place, while provider and operator have such names", async () => {
    for (const path of PLACES) {
      await open(path);
      expect(CORPUS).toContain(await page.locator(".reader bdi").textContent());
    }
  });

  test("what is typed into fields and addresses", async () => {
    const all = (names: readonly string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, EVERYTHING]));
    for (const [path, names] of TYPED) {
      await open(path, all(names));
      for (const name of names) expect(await page.locator(`main [name="${name}"]`).inputValue()).toBe(EVERYTHING);
    }
    for (const [path, names] of FORGED) await open(path, all(names));
    for (const path of ["/", "/users/", "/import/", "/audit/"]) await open(path + encodeURIComponent(EVERYTHING));
    await open("/users/new");
    await send(page, { "Email address": EVERYTHING }, "Create user");
    await page.locator("[aria-invalid]").first().waitFor();
    expect(await page.getByLabel("Email address", { exact: true }).inputValue()).toBe(EVERYTHING);
    await expectNoMarkup(page);
  });

  test("an address made of signs of markup and templates", async () => {
    const email = await newPerson("Grace", "'{{7*7}}`&lt-=$%{#x#}@example.org");
    for (const path of ["/users", "/sessions", "/mails", "/audit"]) {
      await open(path);
      await page.getByText(email, { exact: true }).first().waitFor();
    }

    await open("/users", { q: email });
    await page.getByRole("link", { name: email, exact: true }).click();

    await shown(page, email);
    await expectNoMarkup(page);
  });
});
