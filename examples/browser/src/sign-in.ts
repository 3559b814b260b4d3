// Sign-in by password, passkey and provider, sign-up, and the verification of an address.
import { auth, here } from "./latchkey";
import { offerPasskeys, upgrade } from "./passkeys";
import { button, complain, fill, onSubmit, part, show } from "./view";
import { t } from "./words";

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
  if (data.emailSignIn !== "off") offerMail(view, place);
  if (data.passkeys) offerPasskeys(view);
  const providers = [...data.oAuthProviders, ...data.customOAuthProviders];
  if (providers.length === 0) return;
  place.hidden = false;
  for (const provider of providers) {
    const button = document.createElement("button");
    button.textContent = t("Continue with {provider}", { provider });
    button.addEventListener("click", async () => {
      const { error } = await auth.signInWithOAuth({ provider, redirectTo: here() });
      complain(view, error);
    });
    place.append(button);
  }
}

/** Offers a sign-in by mail, which needs no password, to the address of the form. */
function offerMail(view: HTMLElement, place: HTMLElement): void {
  place.hidden = false;
  place.append(
    button(t("Mail me a code"), async () => {
      const input = part<HTMLInputElement>(view, "[name=email]");
      if (!input.reportValidity()) return;
      const email = input.value;
      const { error } = await auth.signInWithOtp({ email, redirectTo: here() });
      if (error) complain(view, error);
      else showMailedCode(email);
    }),
  );
}

/** Shows the form for the code of a sign-in mail. Its link opens in a tab of its own, and signs in this one too. */
function showMailedCode(email: string): void {
  const view = show("sign-in-code");
  fill(view, "[data-email]", email);
  part(view, "[data-back]").addEventListener("click", showSignIn);
  onSubmit(view, ({ otp = "" }) => auth.verifyOtp({ email, otp: otp.trim() }));
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
    t("{count} characters or more", { count: data.passwordMinLength }),
    data.requireNumber && t("a digit"),
    data.requireLowercase && t("a lower-case letter"),
    data.requireUppercase && t("an upper-case letter"),
    data.requireSpecialChar && t("a special character"),
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
    if (!error) (event.target as HTMLElement).textContent = t("Sent");
  });
  if (data?.verifyEmailMethod !== "link") onSubmit(view, ({ otp = "" }) => auth.verifyEmail({ email, otp }));
}
