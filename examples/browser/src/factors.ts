// Card of the settings: two-step sign-in, by authenticator apps and recovery codes. Passkeys are in passkeys.ts.
import type { Account, LatchkeyError, TotpFactor } from "@latchkey/client";
import { showEnrolment, showRecoveryCodes } from "./enrolment";
import { auth } from "./latchkey";
import { showSettings } from "./settings";
import { button, complain, fill, line, part } from "./view";
import { t, when } from "./words";

/** Result of a change that may make recovery codes. */
type Changed = { data: { recoveryCodes?: string[] | undefined } | null; error: LatchkeyError | null };

/** Shows the factors, and what can be done with them. */
export function showFactors(view: HTMLElement, { twoStep, totp, passkeyCount, recoveryCodesLeft }: Account): void {
  const card = part(view, "[data-factors]");
  const state = part(card, "[data-state]");
  state.textContent = twoStep ? t("on") : t("off");
  state.classList.toggle("open", !twoStep);
  /** Shows the result of a change: its error, its recovery codes, or the page again. */
  const after = async (change: Promise<Changed>): Promise<void> => {
    const { data, error } = await change;
    if (error) complain(card, error);
    else if (data?.recoveryCodes) showRecoveryCodes(data.recoveryCodes);
    else await showSettings();
  };
  const row = ({ id, name, lastUsedAt }: TotpFactor): HTMLElement => {
    const used = lastUsedAt ? t("last used {when}", { when: when(lastUsedAt) }) : t("not used yet");
    return line(name, used, button(t("Remove"), () => after(auth.totp.remove(id).then(({ error }) => ({ data: null, error })))));
  };
  part(card, "ul").replaceChildren(...totp.map(row));
  fill(card, "[data-left]", twoStep ? t("{count} recovery codes are left.", { count: recoveryCodesLeft }) : "");
  const buttons = [button(t("Add an authenticator app"), () => showEnrolment())];
  if (!twoStep && passkeyCount > 0) buttons.push(button(t("Turn on with your passkey"), () => after(auth.setTwoStep(true))));
  if (twoStep) {
    buttons.push(
      button(t("New recovery codes"), () => after(auth.replaceRecoveryCodes())),
      button(t("Turn off"), () => after(auth.setTwoStep(false))),
    );
  }
  part(card, "[data-actions]").replaceChildren(...buttons);
}
