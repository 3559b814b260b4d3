// sendResetPasswordEmail, exchangeResetPasswordToken, resetPassword and changePassword.
import { describe, expect, inject, test } from "vitest";
import { type LatchkeyClient, readRedirectResult } from "../src/index.js";
import { codeIn, linkIn, mailTo, must, newEmail, newUser, opened, PASSWORD, serverClient } from "./support/people.js";

const APP = "http://localhost:5173/new-password";
const NEW_PASSWORD = "staple of the battery";

/** User with a verified address, and the number of mails received so far. */
async function newVerified(baseUrl: string, client: LatchkeyClient): Promise<{ email: string; mails: number }> {
  const email = newEmail();
  must(await client.auth.signUp({ email, password: PASSWORD, redirectTo: APP }));
  const mail = await mailTo(baseUrl, email);
  const otp = codeIn(mail) || (new URL(linkIn(mail)).searchParams.get("token") ?? "");
  must(await client.auth.verifyEmail({ email, otp }));
  return { email, mails: 1 };
}

describe("sendResetPasswordEmail", () => {
  test("sendResetPasswordEmail sends a code", async () => {
    const client = serverClient(inject("code"));
    const { email } = await newVerified(inject("code"), client);

    const { data, error } = await client.auth.sendResetPasswordEmail({ email });

    expect({ data, error }).toEqual({ data: { success: true, message: expect.any(String) }, error: null });
    expect(codeIn(await mailTo(inject("code"), email, 2))).toMatch(/^\d{6}$/);
  });

  test("sendResetPasswordEmail sends a link that leads to redirectTo with a token", async () => {
    const client = serverClient(inject("link"));
    const { email } = await newVerified(inject("link"), client);

    must(await client.auth.sendResetPasswordEmail({ email, redirectTo: APP }));

    const target = await opened(linkIn(await mailTo(inject("link"), email, 2)));
    expect(readRedirectResult(target)).toEqual({
      status: "ready",
      type: "reset_password",
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("sendResetPasswordEmail returns the same for an unknown address", async () => {
    const { data } = await serverClient(inject("code")).auth.sendResetPasswordEmail({ email: newEmail() });

    expect(data).toMatchObject({ success: true });
  });

  test("sendResetPasswordEmail refuses a target that is not on the list", async () => {
    const { error } = await serverClient(inject("link")).auth.sendResetPasswordEmail({
      email: newEmail(),
      redirectTo: "https://elsewhere.example/",
    });

    expect(error).toMatchObject({ statusCode: 400, error: "REDIRECT_NOT_ALLOWED" });
  });
});

describe("exchangeResetPasswordToken and resetPassword", () => {
  test("exchangeResetPasswordToken gives a token for the code, resetPassword takes it", async () => {
    const client = serverClient(inject("code"));
    const { email } = await newVerified(inject("code"), client);
    must(await client.auth.sendResetPasswordEmail({ email }));
    const code = codeIn(await mailTo(inject("code"), email, 2));

    const exchanged = await client.auth.exchangeResetPasswordToken({ email, code });
    const { token, expiresAt } = must(exchanged);
    const reset = await client.auth.resetPassword({ newPassword: NEW_PASSWORD, otp: token });

    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(new Date(expiresAt).getTime()).toBeGreaterThan(Date.now());
    expect(reset).toEqual({ data: { message: expect.any(String) }, error: null });
    expect((await client.auth.signInWithPassword({ email, password: PASSWORD })).error?.error).toBe(
      "INVALID_CREDENTIALS",
    );
    expect((await client.auth.signInWithPassword({ email, password: NEW_PASSWORD })).error).toBeNull();
  });

  test("resetPassword takes the token of the link", async () => {
    const client = serverClient(inject("link"));
    const { email } = await newVerified(inject("link"), client);
    must(await client.auth.sendResetPasswordEmail({ email, redirectTo: APP }));
    const target = await opened(linkIn(await mailTo(inject("link"), email, 2)));

    const otp = readRedirectResult(target)?.token ?? "";
    must(await client.auth.resetPassword({ newPassword: NEW_PASSWORD, otp }));

    expect((await client.auth.signInWithPassword({ email, password: NEW_PASSWORD })).error).toBeNull();
  });

  test("exchangeResetPasswordToken with a wrong code is INVALID_CODE", async () => {
    const client = serverClient(inject("code"));

    const { error } = await client.auth.exchangeResetPasswordToken({ email: newEmail(), code: "000000" });

    expect(error).toMatchObject({ statusCode: 400, error: "INVALID_CODE" });
  });
});

describe("changePassword", () => {
  test("changePassword sets another password and keeps this session", async () => {
    const client = serverClient(inject("open"));
    const { email } = await newUser(client);

    const changed = await client.auth.changePassword({ currentPassword: PASSWORD, newPassword: NEW_PASSWORD });

    expect(changed).toEqual({ data: { message: expect.any(String) }, error: null });
    expect(must(await client.auth.getCurrentUser()).user?.email).toBe(email);
    expect((await client.auth.signInWithPassword({ email, password: NEW_PASSWORD })).error).toBeNull();
  });
});
