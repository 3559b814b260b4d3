// Sign-in by password, passkey and provider, sign-up, and the verification of an address.
import { auth, here } from "./latchkey";
import { offerPasskeys, upgrade } from "./passkeys";
import { complain, fill, onSubmit, part, show } from "./view";

/** Shows the sign-in form. */
export function showSignIn(): void {
  const view = show("sign-in");
  onSubmit(view, async ({ email = "", password = "" }) => {
    const result = await auth.signInWithPassword({ email, password });
    upgrade(result);
    if (result.error?.error !== "EMAIL_NOT_VERIFIED") return result;
    await auth.resendVerificationEmail({ email, redirectTo: here() });
    return showVerify(email);
  });
  void showOthers(view);
}

/** Shows the other ways in: passkeys and providers. */
async function showOthers(view: HTMLElement): Promise<void> {
  const { data } = await auth.getPublicConfig();
  const place = view.querySelector<HTMLElement>(".providers");
  if (!place || !data) return; // another view is shown now
  if (data.passkeys) offerPasskeys(view);
  const providers = [...data.oAuthProviders, ...data.customOAuthProviders];
  if (providers.length === 0) return;
  place.hidden = false;
  for (const provider of providers) {
    const button = document.createElement("button");
    button.textContent = `Continue with ${provider}`;
    button.addEventListener("click", async () => {
      const { error } = await auth.signInWithOAuth({ provider, redirectTo: here() });
      complain(view, error);
    });
    place.append(button);
  }
}

/** Shows the sign-up form. */
export function showSignUp(): void {
  const view = show("sign-up");
  void showRules(view);
  onSubmit(view, async ({ name = "", email = "", password = "" }) => {
    const result = await auth.signUp({ email, password, name, redirectTo: here() });
    if (result.data?.requireEmailVerification) await showVerify(email);
    return result;
  });
}

/** Shows the password rules of the service. */
export async function showRules(view: HTMLElement): Promise<void> {
  const { data } = await auth.getPublicConfig();
  if (!data) return;
  const wanted = [
    `${data.passwordMinLength} characters or more`,
    data.requireNumber && "a digit",
    data.requireLowercase && "a lower-case letter",
    data.requireUppercase && "an upper-case letter",
    data.requireSpecialChar && "a special character",
  ];
  fill(view, "[data-rule]", `${wanted.filter(Boolean).join(", ")}.`);
}

/** Shows the code form, or a hint to open the emailed link. */
async function showVerify(email: string): Promise<void> {
  const { data } = await auth.getPublicConfig();
  const view = show(data?.verifyEmailMethod === "link" ? "mail-sent" : "verify-code");
  fill(view, "[data-email]", email);
  part(view, "[data-resend]").addEventListener("click", async (event) => {
    const { error } = await auth.resendVerificationEmail({ email, redirectTo: here() });
    complain(view, error);
    if (!error) (event.target as HTMLElement).textContent = "Sent";
  });
  if (data?.verifyEmailMethod !== "link") onSubmit(view, ({ otp = "" }) => auth.verifyEmail({ email, otp }));
}
