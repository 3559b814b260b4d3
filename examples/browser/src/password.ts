// Card of the settings: change of the password, or the first one of an account without.
import type { Account } from "@latchkey/client";
import { auth } from "./latchkey";
import { showSettings } from "./settings";
import { button, fill, openForm, part } from "./view";
import { t } from "./words";

/** Shows whether there is a password, and the button to change or set it. */
export function showPassword(view: HTMLElement, { hasPassword }: Account): void {
  const card = part(view, "[data-password]");
  const text = hasPassword ? t("A change ends your other sessions.") : t("You sign in without a password. You can set one.");
  fill(card, ".hint", text);
  const open = button(hasPassword ? t("Change password") : t("Set a password"), async () => openIt(card, hasPassword));
  part(card, "[data-actions]").replaceChildren(open);
}

function openIt(card: HTMLElement, hasPassword: boolean): void {
  const current = { name: "currentPassword", label: t("Current password"), type: "password", autocomplete: "current-password" };
  const next = { name: "newPassword", label: t("New password"), type: "password", autocomplete: "new-password" };
  const save = async ({ currentPassword = "", newPassword = "" }) => {
    const result = await (hasPassword ? auth.changePassword({ currentPassword, newPassword }) : auth.setPassword({ newPassword }));
    if (result.data) await showSettings(hasPassword ? t("Your password is changed.") : t("Your password is set."));
    return result;
  };
  openForm(card, hasPassword ? [current, next] : [next], t("Save"), save, () => showSettings());
}
