// Cards of the settings: the language of mails; the user's data, and the deletion of the account.
import type { Account } from "@latchkey/client";
import { auth } from "./latchkey";
import { showNotice } from "./notice";
import { complain, copyOf, part } from "./view";
import { day, nameOf, t } from "./words";

/** Shows the language of mails. */
export async function showLanguage(view: HTMLElement, { locale }: Account): Promise<void> {
  const card = part(view, "[data-mails]");
  const select = part<HTMLSelectElement>(card, "select");
  const { data } = await auth.getPublicConfig();
  const locales = data?.locales ?? [];
  const known = locales.find((one) => one === locale) ?? locales.find((one) => locale?.startsWith(`${one}-`)) ?? "";
  const options = ["", ...locales].map((one) => new Option(one ? nameOf(one) : t("as the browser"), one, false, one === known));
  if (known) options.shift();
  select.replaceChildren(...options);
  select.onchange = async () => complain(card, (await auth.updateAccount({ locale: select.value })).error);
}

/** Shows the buttons for the export and the deletion. */
export function showData(view: HTMLElement): void {
  const card = part(view, "[data-own]");
  part<HTMLButtonElement>(card, "[data-export]").onclick = async () => {
    const { data, error } = await auth.exportAccount();
    complain(card, error);
    if (data) save(JSON.stringify(data, null, 2), "account.json");
  };
  part<HTMLButtonElement>(card, "[data-delete]").onclick = () => confirmDeletion(card);
}

/** Offers a text as a file. */
function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** Asks once more, then deletes. */
function confirmDeletion(card: HTMLElement): void {
  const dialog = document.createElement("dialog");
  dialog.append(copyOf("deletion"));
  part<HTMLButtonElement>(dialog, "[data-keep]").onclick = () => dialog.close();
  part<HTMLButtonElement>(dialog, "[data-confirm]").onclick = async () => {
    dialog.close();
    const { data, error } = await auth.deleteAccount();
    if (error) return complain(card, error);
    history.replaceState(null, "", location.pathname);
    const text = t("Until {day} you can have it back: sign in and restore it.", { day: day(data.deletesAt) });
    showNotice("good", t("Your account is being deleted"), text);
  };
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
