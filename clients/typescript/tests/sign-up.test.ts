// signUp, resendVerificationEmail and verifyEmail, by code and by link, current and older inputs.
import { describe, expect, inject, test } from "vitest";
import { createClient } from "../src/index.js";
import { newBrowser } from "./support/browser.js";
import { codeIn, linkIn, mailTo, must, newEmail, newUser, opened, PASSWORD, serverClient } from "./support/people.js";

const APP = "http://localhost:5173/welcome";

describe("signUp", () => {
  test("signUp without verification opens a session", async () => {
    const client = serverClient(inject("open"));
    const email = newEmail();

    const { data, error } = await client.auth.signUp({ email, password: PASSWORD, name: "Ada Lovelace" });

    expect(error).toBeNull();
    expect(data).toMatchObject({
      user: { email, emailVerified: false, profile: { name: "Ada Lovelace", avatar_url: null }, metadata: {} },
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      requireEmailVerification: false,
    });
    expect(must(await client.auth.getCurrentUser()).user?.email).toBe(email);
  });

  test("signUp of a web client gets a CSRF token and no refresh token", async () => {
    const client = createClient({ baseUrl: inject("open"), fetch: newBrowser().fetch });

    const data = await newUser(client);

    expect(data.csrfToken).toMatch(/^[\w-]+$/);
    expect(data).not.toHaveProperty("refreshToken");
  });

  test("signUp with verification opens none, and sends a code", async () => {
    const client = serverClient(inject("code"));
    const email = newEmail();

    const { data, error } = await client.auth.signUp({ email, password: PASSWORD });

    expect({ data, error }).toEqual({
      data: { accessToken: null, requireEmailVerification: true, csrfToken: null },
      error: null,
    });
    expect(codeIn(await mailTo(inject("code"), email))).toMatch(/^\d{6}$/);
    expect(must(await client.auth.getCurrentUser()).user).toBeNull();
  });

  test("signUp takes redirectTo, and the link leads there", async () => {
    const client = serverClient(inject("link"));
    const email = newEmail();

    must(await client.auth.signUp({ email, password: PASSWORD, redirectTo: `${APP}?from=mail` }));

    const target = await opened(linkIn(await mailTo(inject("link"), email)));
    expect(target.href).toBe(`${APP}?from=mail&service_status=success&service_type=verify_email`);
  });

  test("signUp takes the older options.emailRedirectTo", async () => {
    const client = serverClient(inject("link"));
    const email = newEmail();

    must(await client.auth.signUp({ email, password: PASSWORD, options: { emailRedirectTo: APP } }));

    const target = await opened(linkIn(await mailTo(inject("link"), email)));
    expect(target.href).toBe(`${APP}?service_status=success&service_type=verify_email`);
  });

  test("signUp with a weak password suggests the next action", async () => {
    const { data, error } = await serverClient(inject("open")).auth.signUp({ email: newEmail(), password: "short" });

    expect(data).toBeNull();
    expect(error).toMatchObject({ statusCode: 400, error: "WEAK_PASSWORD", nextActions: expect.any(String) });
  });

  test("signUp of a taken address is EMAIL_EXISTS where a session would follow", async () => {
    const client = serverClient(inject("open"));
    const { email } = await newUser(client);

    const { error } = await client.auth.signUp({ email, password: PASSWORD });

    expect(error).toMatchObject({ statusCode: 409, error: "EMAIL_EXISTS" });
  });
});

describe("resendVerificationEmail", () => {
  test("resendVerificationEmail sends a new code", async () => {
    const client = serverClient(inject("code"), {});
    const email = newEmail();
    must(await client.auth.signUp({ email, password: PASSWORD }));
    await mailTo(inject("code"), email);

    const { data, error } = await client.auth.resendVerificationEmail({ email });

    expect({ data, error }).toEqual({ data: { success: true, message: expect.any(String) }, error: null });
    const code = codeIn(await mailTo(inject("code"), email, 2));
    expect(must(await client.auth.verifyEmail({ email, otp: code })).user.emailVerified).toBe(true);
  });

  test.each([{ redirectTo: APP }, { options: { emailRedirectTo: APP } }])(
    "resendVerificationEmail takes %j",
    async (where) => {
      const client = serverClient(inject("link"));
      const email = newEmail();
      must(await client.auth.signUp({ email, password: PASSWORD, redirectTo: "http://localhost:5173/first" }));
      await mailTo(inject("link"), email);

      must(await client.auth.resendVerificationEmail({ email, ...where }));

      const target = await opened(linkIn(await mailTo(inject("link"), email, 2)));
      expect(target.href).toBe(`${APP}?service_status=success&service_type=verify_email`);
    },
  );

  test("resendVerificationEmail returns the same for an unknown address", async () => {
    const { data } = await serverClient(inject("code")).auth.resendVerificationEmail({ email: newEmail() });

    expect(data).toMatchObject({ success: true });
  });
});

describe("verifyEmail", () => {
  test("verifyEmail with the code opens a session", async () => {
    const client = serverClient(inject("code"));
    const email = newEmail();
    must(await client.auth.signUp({ email, password: PASSWORD }));
    const otp = codeIn(await mailTo(inject("code"), email));

    const { data, error } = await client.auth.verifyEmail({ email, otp });

    expect(error).toBeNull();
    expect(data).toMatchObject({ accessToken: expect.any(String), user: { email, emailVerified: true } });
    expect(must(await client.auth.getCurrentUser()).user?.email).toBe(email);
  });

  test("verifyEmail takes the token of a link alone (older variant)", async () => {
    const client = serverClient(inject("link"));
    const email = newEmail();
    must(await client.auth.signUp({ email, password: PASSWORD, redirectTo: APP }));
    const otp = new URL(linkIn(await mailTo(inject("link"), email))).searchParams.get("token") ?? "";
    expect(otp).toMatch(/^[0-9a-f]{64}$/);

    const { data, error } = await client.auth.verifyEmail({ otp });

    expect(error).toBeNull();
    expect(data).toMatchObject({ accessToken: expect.any(String), user: { email, emailVerified: true } });
  });

  test("verifyEmail with a wrong code is INVALID_CODE", async () => {
    const { error } = await serverClient(inject("code")).auth.verifyEmail({ email: newEmail(), otp: "000000" });

    expect(error).toMatchObject({ statusCode: 400, error: "INVALID_CODE" });
  });
});
