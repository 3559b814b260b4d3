// Operations on the own account: language, first password, address, events, names of sessions, export and deletion.
import { describe, expect, inject, test } from "vitest";
import { createClient, type ErrorCode, type LatchkeyClient } from "../src/index.js";
import { createFakeClient, type FakeClient } from "../src/testing.js";
import { newBrowser } from "./support/browser.js";
import { codeIn, mailTo, must, newEmail, PASSWORD, serverClient } from "./support/people.js";

const NEW_PASSWORD = "staple of the battery";

/** Client, and how a test reads the code of its `nth` mail to an address. */
interface World {
  client: LatchkeyClient;
  codeFor: (email: string, nth: number) => Promise<string>;
}

const real = (client: LatchkeyClient): World => ({
  client,
  codeFor: async (email, nth) => codeIn(await mailTo(inject("code"), email, nth)),
});
const fake = (client: FakeClient): World => ({ client, codeFor: async (email) => client.fake.codeFor(email) ?? "" });

const refused = (error: ErrorCode) => expect.objectContaining({ error: expect.objectContaining({ error }) });

describe.each([
  ["in server mode", () => real(serverClient(inject("code")))],
  ["with the cookie", () => real(createClient({ baseUrl: inject("code"), fetch: newBrowser().fetch }))],
  ["of the fake", () => fake(createFakeClient({ requireEmailVerification: true }))],
] as const)("a user %s", (_, create: () => World) => {
  /** New user with a verified address and a password. */
  async function member() {
    const world = create();
    const email = newEmail();
    must(await world.client.auth.signUp({ email, password: PASSWORD, name: "Ada Lovelace" }));
    must(await world.client.auth.verifyEmail({ email, otp: await world.codeFor(email, 1) }));
    return { ...world, auth: world.client.auth, email };
  }

  test("chooses the language of mails", async () => {
    const { auth } = await member();

    expect(must(await auth.updateAccount({ locale: "de-AT" })).locale).toBe("de-AT");

    expect(must(await auth.getAccount()).locale).toBe("de-AT");
  });

  test("sets a first password, once", async () => {
    const { client, codeFor } = create();
    const { auth } = client;
    const email = newEmail();
    must(await auth.signInWithOtp({ email }));
    must(await auth.verifyOtp({ email, otp: await codeFor(email, 1) }));
    expect(must(await auth.getAccount()).hasPassword).toBe(false);
    expect(await auth.setPassword({ newPassword: "short" })).toEqual(refused("WEAK_PASSWORD"));

    must(await auth.setPassword({ newPassword: NEW_PASSWORD }));

    expect(must(await auth.getAccount()).hasPassword).toBe(true);
    expect(await auth.setPassword({ newPassword: NEW_PASSWORD })).toEqual(refused("VALIDATION_ERROR"));
    must(await auth.signInWithPassword({ email, password: NEW_PASSWORD }));
  });

  test("changes the address by the codes of both mailboxes, in the same session", async () => {
    const { auth, email, codeFor } = await member();
    const newEmailAddress = newEmail();
    const events: string[] = [];
    auth.onAuthStateChange((event, session) => events.push(`${event} ${session?.user.email}`));
    await auth.getCurrentUser();

    const { changeId, needs } = must(await auth.changeEmail({ newEmail: newEmailAddress }));
    expect([...needs].sort()).toEqual(["current", "new"]);
    expect(must(await auth.getAccount()).emailChange).toMatchObject({ newEmail: newEmailAddress, proven: [] });
    const newCode = await codeFor(newEmailAddress, 1);
    const currentCode = await codeFor(email, 2);
    expect(await auth.confirmEmailChange({ changeId, newCode: "xxxxxx" })).toEqual(refused("INVALID_CODE"));
    expect(must(await auth.confirmEmailChange({ changeId, newCode }))).toEqual({ needs: ["current"] });
    expect(must(await auth.getAccount()).emailChange?.proven).toEqual(["new"]);
    const changed = must(await auth.confirmEmailChange({ changeId, currentCode }));

    expect(changed.user).toMatchObject({ email: newEmailAddress, emailVerified: true });
    const { session } = must(await auth.getCurrentSession());
    expect(session?.user.email).toBe(newEmailAddress);
    expect(session?.accessToken).toBe(changed.accessToken);
    expect(events).toContain(`USER_UPDATED ${newEmailAddress}`);
    expect(must(await auth.getAccount()).emailChange).toBeNull();
    expect((await auth.refreshSession()).error).toBeNull();
    expect(await auth.signInWithPassword({ email, password: PASSWORD })).toEqual(refused("INVALID_CREDENTIALS"));
    must(await auth.signInWithPassword({ email: newEmailAddress, password: PASSWORD }));
  });

  test("cancels a change of the address", async () => {
    const { auth, email } = await member();
    expect(await auth.changeEmail({ newEmail: email })).toEqual(refused("VALIDATION_ERROR"));
    const { changeId } = must(await auth.changeEmail({ newEmail: newEmail() }));

    must(await auth.cancelEmailChange());

    expect(must(await auth.getAccount()).emailChange).toBeNull();
    expect(await auth.confirmEmailChange({ changeId, newCode: "123456" })).toEqual(refused("NOT_FOUND"));
  });

  test("sees the own sign-ins, names the session, and exports it all", async () => {
    const { auth, email } = await member();
    must(await auth.signInWithPassword({ email, password: PASSWORD }));
    const { events } = must(await auth.listEvents({ limit: 1 }));
    expect(events[0]).toMatchObject({ kind: "sign_in", current: true, device: expect.any(String) });
    const session = must(await auth.listSessions()).sessions.find(({ current }) => current);
    expect(session).toMatchObject({ current: true, name: null, level: 1, device: expect.any(String) });

    expect(must(await auth.renameSession(session?.id ?? "", "Laptop at home")).session.name).toBe("Laptop at home");

    expect(must(await auth.listSessions()).sessions.find(({ current }) => current)?.name).toBe("Laptop at home");
    expect(must(await auth.exportAccount())).toMatchObject({
      account: { user: { email } },
      sessions: expect.arrayContaining([expect.objectContaining({ name: "Laptop at home" })]),
      emails: [{ email, current: true }],
      events: expect.arrayContaining([expect.objectContaining({ kind: "sign_in" })]),
    });
    expect(must(await auth.renameSession(session?.id ?? "", null)).session.name).toBeNull();
  });

  test("deletes the account, and restores it by the next sign-in", async () => {
    const { auth, email } = await member();
    const events: string[] = [];
    auth.onAuthStateChange((event) => events.push(event));
    await auth.getCurrentUser();

    const { deletesAt } = must(await auth.deleteAccount());

    expect(deletesAt).toMatch(/^\d{4}-/);
    expect(events).toContain("SIGNED_OUT");
    expect(must(await auth.getCurrentUser()).user).toBeNull();
    const { challenge } = (await auth.signInWithPassword({ email, password: PASSWORD })).data ?? {};
    if (!challenge) throw new Error("there is no challenge");
    expect(challenge.kinds).toEqual(["restore"]);
    expect(must(await auth.getCurrentUser()).user).toBeNull();
    expect(must(await auth.answerChallenge({ challenge, kind: "restore" })).user.email).toBe(email);
    expect(must(await auth.getAccount()).user.email).toBe(email);
    must(await auth.signInWithPassword({ email, password: PASSWORD }));
  });
});

test("events come in pages", async () => {
  const { auth } = serverClient(inject("open"));
  const email = newEmail();
  must(await auth.signUp({ email, password: PASSWORD }));
  must(await auth.signInWithPassword({ email, password: PASSWORD }));

  const { events, nextBefore } = must(await auth.listEvents({ limit: 1 }));
  const next = must(await auth.listEvents({ before: nextBefore ?? "" }));

  expect(events.map(({ kind }) => kind)).toEqual(["sign_in"]);
  expect(next.events.map(({ id }) => id)).not.toContain(events[0]?.id);
  expect(next.nextBefore).toBeNull();
});

test("a deletion that needs a fresh session asks the app first", async () => {
  const client: FakeClient = createFakeClient({
    onReauthenticationRequired: (challenge) => client.auth.answerChallenge({ challenge, kind: "password", password: PASSWORD }),
  });
  client.fake.addUser({ email: "ada@example.org", password: PASSWORD });
  must(await client.auth.signInWithPassword({ email: "ada@example.org", password: PASSWORD }));
  client.fake.advance(11 * 60_000);

  must(await client.auth.deleteAccount());

  expect(client.fake.calls.map(({ operation }) => operation)).toContain("answerChallenge");
});
