// Password reset, by code and by link.
import { showChallenge } from "./challenge";
import { auth, here } from "./latchkey";
import { showNotice } from "./notice";
import { showRules } from "./sign-in";
import { fill, onSubmit, show } from "./view";
import { problem, t } from "./words";

/** Shows the form for the email address. */
export function showForgot(): void {
  const view = show("forgot");
  onSubmit(view, async ({ email = "" }) => {
    const result = await auth.sendResetPasswordEmail({ email, redirectTo: here() });
    if (result.error) return result;
    const { data } = await auth.getPublicConfig();
    if (data?.resetPasswordMethod === "code") return showCode(email);
    return showNotice("good", t("Check your mail"), t("If this address has an account, a link is on its way."));
  });
}

function showCode(email: string): void {
  const view = show("reset-code");
  fill(view, "[data-email]", email);
  onSubmit(view, async ({ code = "" }) => {
    const result = await auth.exchangeResetPasswordToken({ email, code });
    if (result.data) showNewPassword(result.data.token);
    return result;
  });
}

const showChanged = (): void => showNotice("good", t("Your password is changed"), t("Sign in with the new one."));

/** Shows the new-password form, after a valid code or link. */
export function showNewPassword(otp: string): void {
  const view = show("new-password");
  void showRules(view);
  onSubmit(view, async ({ newPassword = "" }) => {
    const result = await auth.resetPassword({ newPassword, otp });
    if (!result.error) showChanged();
    const challenge = result.error?.challenge;
    if (!challenge) return result;
    // With two-step sign-in the answer is the token that resets.
    return showChallenge(challenge, auth, async ({ token }) => {
      const { error } = await auth.resetPassword({ newPassword, otp: token });
      if (error) showNotice("bad", t("That did not work"), problem(error));
      else showChanged();
    });
  });
}
