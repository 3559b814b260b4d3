// Card of the settings: the email address and its change, by the codes of both mailboxes.
import type { Account, BegunEmailChange } from "@latchkey/client";
import { auth } from "./latchkey";
import { showSettings } from "./settings";
import { badge, button, complain, item, openForm, part } from "./view";
import { t } from "./words";

/** Change of the address that was begun in this page. The account does not show its id. */
let begun: (BegunEmailChange & { newEmail: string }) | null = null;

/** Shows the address, and the change in progress. */
export function showAddress(view: HTMLElement, account: Account): void {
  const card = part(view, "[data-address]");
  const { email, emailVerified } = account.user;
  const state = badge(emailVerified ? t("confirmed") : t("not confirmed"));
  state.classList.toggle("open", !emailVerified);
  const address = item(email);
  address.append(state);
  part(card, "ul").replaceChildren(address);
  const { emailChange } = account;
  if (emailChange && begun?.newEmail === emailChange.newEmail) return askForCodes(card, email);
  begun = null;
  const change = button(t("Change address"), async () => askForAddress(card, account));
  const buttons = [change];
  if (emailChange) {
    part(card, "ul").append(item(t("A change to {email} was begun elsewhere.", { email: emailChange.newEmail })));
    buttons.push(button(t("Cancel the change"), cancel));
  }
  part(card, "[data-actions]").replaceChildren(...buttons);
}

async function cancel(): Promise<void> {
  await auth.cancelEmailChange();
  await showSettings();
}

function askForAddress(card: HTMLElement, account: Account): void {
  const field = { name: "newEmail", label: t("New address"), type: "email", autocomplete: "email" };
  const send = async ({ newEmail = "" }) => {
    const result = await auth.changeEmail({ newEmail });
    if (!result.data) return result;
    begun = { ...result.data, newEmail };
    askForCodes(card, account.user.email);
    return result;
  };
  openForm(card, [field], t("Send codes"), send, () => showSettings());
}

/** Asks for the codes of all addresses that are not proven yet. */
function askForCodes(card: HTMLElement, email: string): void {
  if (!begun) return;
  const { changeId, newEmail, needs } = begun;
  const fields = needs.map((side) => ({
    name: side,
    label: t("Code from the mail to {email}", { email: side === "new" ? newEmail : email }),
    autocomplete: "one-time-code",
    maxlength: 32,
  }));
  const confirm = async (codes: Record<string, string>) => {
    const result = await auth.confirmEmailChange({ changeId, ...codesOf(codes) });
    if (result.data?.user) {
      begun = null;
      return showSettings(t("Your address is changed."));
    }
    // A right code counts beside a wrong one.
    const { data } = await auth.getAccount();
    const { proven = [] } = data?.emailChange ?? {};
    if (begun) begun.needs = needs.filter((side) => !proven.includes(side));
    askForCodes(card, email);
    complain(card, result.error);
  };
  openForm(card, fields, t("Confirm"), confirm, cancel);
}

const codesOf = (codes: Record<string, string>): { newCode?: string; currentCode?: string } => ({
  ...(codes.new && { newCode: codes.new.trim() }),
  ...(codes.current && { currentCode: codes.current.trim() }),
});
