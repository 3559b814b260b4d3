// Passkeys against the running service, with an authenticator in software.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { type Challenge, createClient, type ErrorCode, type LatchkeyClient } from "../src/index.js";
import { type Authenticator, plugIn } from "./support/authenticator.js";
import { newBrowser } from "./support/browser.js";
import { codeIn, mailTo, must, newEmail, newUser, PASSWORD, serverClient } from "./support/people.js";
import { type Service, startService } from "./support/service.js";

let device: Authenticator;
beforeEach(() => {
  device = plugIn();
});
afterEach(() => vi.unstubAllGlobals());

const refused = (error: ErrorCode) => expect.objectContaining({ error: expect.objectContaining({ error }) });

/** Client of a new user with a verified address. */
async function verified(baseUrl = inject("code")): Promise<{ client: LatchkeyClient; email: string }> {
  const [client, email] = [serverClient(baseUrl), newEmail()];
  must(await client.auth.signUp({ email, password: PASSWORD }));
  must(await client.auth.verifyEmail({ email, otp: codeIn(await mailTo(baseUrl, email)) }));
  return { client, email };
}

describe.each([
  ["in server mode", () => serverClient(inject("open"))],
  ["with the cookie", () => createClient({ baseUrl: inject("open"), fetch: newBrowser().fetch })],
] as const)("a user %s", (_, create) => {
  test("registers a passkey, names it, signs in with it, and removes it", async () => {
    const client = create();
    const { auth } = client;
    const { user, email } = await newUser(client);
    const { passkey } = must(await auth.passkeys.register({ name: "My phone" }));
    expect(passkey).toMatchObject({ name: "My phone", usable: true, synced: true });
    expect(must(await auth.passkeys.rename(passkey.id, "My tablet")).passkey.name).toBe("My tablet");
    const listed = must(await auth.passkeys.list());
    expect(listed).toMatchObject({ rpId: "localhost", acceptedCredentialIds: [passkey.credentialId] });
    expect(listed.passkeys).toEqual([expect.objectContaining({ id: passkey.id, name: "My tablet" })]);

    await auth.signOut();
    const session = must(await auth.signInWithPasskey());
    expect(session.user).toMatchObject({ id: user.id, providers: ["email", "passkey"] });
    expect(must(await auth.getAccount())).toMatchObject({ level: 2, passkeyCount: 1, twoStep: false });
    expect((await auth.refreshSession()).error).toBeNull();
    const { rpId, userHandle } = listed;
    await expect.poll(() => device.signals).toEqual([
      ["signalAllAcceptedCredentials", { rpId, userId: userHandle, allAcceptedCredentialIds: [passkey.credentialId] }],
      ["signalCurrentUserDetails", { rpId, userId: userHandle, name: email, displayName: "Ada Lovelace" }],
    ]);

    must(await auth.passkeys.remove(passkey.id));
    expect(device.signals.at(-1)?.[1]).toMatchObject({ allAcceptedCredentialIds: [] });
    expect(must(await auth.passkeys.list()).passkeys).toEqual([]);
    await auth.signOut();
    expect(await auth.signInWithPasskey()).toEqual(refused("UNKNOWN_PASSKEY"));
    expect(device.signals.at(-1)).toEqual(["signalUnknownCredential", { rpId: "localhost", credentialId: passkey.credentialId }]);
  });
});

test("signInWithPasskey takes only a passkey of the given address, and one from the autofill", async () => {
  const client = serverClient(inject("open"));
  const { auth } = client;
  const { email } = await newUser(client);
  must(await auth.passkeys.register());
  await auth.signOut();

  expect(await auth.signInWithPasskey({ email: newEmail() })).toEqual(refused("INVALID_PASSKEY"));
  expect(must(await auth.signInWithPasskey({ email: email.toUpperCase() })).user.email).toBe(email);
  await auth.signOut();
  const waiting = auth.signInWithPasskey({ email: "", autofill: true });
  await expect.poll(() => device.asked.at(-1)?.mediation).toBe("conditional");
  device.choose();
  expect(must(await waiting).user.email).toBe(email);
});

test("a second passkey on the same device is PASSKEY_EXISTS", async () => {
  const client = serverClient(inject("open"));
  await newUser(client);
  must(await client.auth.passkeys.register());

  expect(await client.auth.passkeys.register()).toEqual(refused("PASSKEY_EXISTS"));
});

test("passkeys.register with conditional needs no prompt; the passkey signs in", async () => {
  const client = serverClient(inject("open"));
  const { email } = await newUser(client);

  const { data, error } = await client.auth.passkeys.register({ conditional: true });
  expect(error).toBeNull();
  expect(data?.passkey.usable).toBe(true);
  expect(device.asked[0]).toMatchObject({ mediation: "conditional" });
  expect(device.asked[0]?.publicKey.authenticatorSelection.userVerification).toBe("preferred");
  await client.auth.signOut();
  expect(must(await client.auth.signInWithPasskey()).user.email).toBe(email);
});

test("answerChallengeWithPasskey opens the session of two-step sign-in, and freshens one", async () => {
  const { client, email } = await verified();
  const { auth } = client;
  must(await auth.passkeys.register());
  expect(must(await auth.setTwoStep(true)).recoveryCodes).toHaveLength(10);
  await auth.signOut();

  const { data } = await auth.signInWithPassword({ email, password: PASSWORD });
  expect(data?.challenge?.kinds).toEqual(["passkey", "recovery_code"]);
  const session = must(await auth.answerChallengeWithPasskey({ challenge: data?.challenge as Challenge<any> }));
  expect(session.user.email).toBe(email);
  expect(device.asked.at(-1)?.publicKey.allowCredentials).toHaveLength(1);

  const { challenge } = must(await auth.reauthenticate());
  const before = must(await auth.getAccount()).authTime;
  const fresh = must(await auth.answerChallengeWithPasskey({ challenge }));
  expect(fresh.accessToken).not.toBe(session.accessToken);
  expect(Date.parse(must(await auth.getAccount()).authTime)).toBeGreaterThanOrEqual(Date.parse(before));
  expect(await auth.answerChallengeWithPasskey({ challenge })).toEqual(refused("INVALID_CHALLENGE"));
});

describe("a service that requires two-step sign-in", () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ "auth.require_email_verification": "true", "auth.second_factor": "required" });
  });
  afterAll(() => service.stop());

  test("lets a passkey be the factor: passkeys.register with the challenge opens the session", async () => {
    const [client, email] = [serverClient(service.url), newEmail()];
    const { auth } = client;
    must(await auth.signUp({ email, password: PASSWORD }));
    const { data } = await auth.verifyEmail({ email, otp: codeIn(await mailTo(service.url, email)) });
    expect(data?.challenge?.kinds).toEqual(["enroll"]);

    const made = must(await auth.passkeys.register({ name: "My phone", challenge: data?.challenge as Challenge }));

    expect(made.recoveryCodes).toHaveLength(10);
    expect(made.passkey.name).toBe("My phone");
    expect(must(await auth.getAccount())).toMatchObject({ twoStep: true, level: 2, passkeyCount: 1 });
  });
});
