// Passkeys: sign-in from the autofill and by a button, and the list of the settings.
import type { Auth, LatchkeyError, Passkey } from "@latchkey/client";
import { auth } from "./latchkey";
import { actions, button, complain, copyOf, line, onSubmit, part, whileShown } from "./view";
import { t, when } from "./words";

/** Whether an error only says that no passkey was used, as the user decided. */
const isChoice = (error: LatchkeyError | null): boolean =>
  error?.error === "PASSKEY_CANCELLED" || error?.error === "PASSKEYS_UNAVAILABLE";

/** Offers passkeys on the sign-in form: where the address is typed, and by a button. */
export function offerPasskeys(view: HTMLElement): void {
  if (!auth.passkeys.isSupported()) return;
  const place = part(view, ".providers");
  place.hidden = false;
  place.prepend(
    button(t("Sign in with a passkey"), async () => {
      complain(view, null);
      complain(view, (await auth.signInWithPasskey()).error);
    }),
  );
  void waitInAutofill(view);
}

async function waitInAutofill(view: HTMLElement): Promise<void> {
  const signal = whileShown();
  const { error } = await auth.signInWithPasskey({ autofill: true, signal });
  if (!error || isChoice(error) || signal.aborted) return;
  complain(view, error);
  // The browser was told to forget that one; others may work.
  if (error.error === "UNKNOWN_PASSKEY") await waitInAutofill(view);
}

/** Lets the browser create a passkey without a dialog, after a sign-in by password. Nothing waits for it. */
export function upgrade({ data }: Awaited<ReturnType<Auth["signInWithPassword"]>>): void {
  if (data?.user && !data.user.providers.includes("passkey")) void auth.passkeys.register({ conditional: true });
}

/** Shows the passkeys of the user; `again` shows the page after a change. */
export async function showPasskeys(view: HTMLElement, again: () => Promise<void>): Promise<void> {
  const card = part(view, "[data-passkeys]");
  const { data, error } = await auth.passkeys.list();
  if (!card.isConnected) return; // another view is shown now
  complain(card, error);
  part(card, "ul").replaceChildren(...(data?.passkeys ?? []).map((passkey) => row(card, passkey, again)));
  const add = part<HTMLButtonElement>(card, "[data-add]");
  add.hidden = !auth.passkeys.isSupported();
  add.onclick = () => change(card, auth.passkeys.register(), again);
}

/** Shows the result of a change: its error, or the page again. */
async function change(
  card: HTMLElement,
  work: Promise<{ error: LatchkeyError | null }>,
  again: () => Promise<void>,
): Promise<void> {
  const { error } = await work;
  if (error) complain(card, error);
  else await again();
}

function row(card: HTMLElement, { id, name, synced, usable, lastUsedAt }: Passkey, again: () => Promise<void>): HTMLElement {
  const used = lastUsedAt ? t("last used {when}", { when: when(lastUsedAt) }) : t("not used yet");
  const kind = synced ? t("on all your devices") : t("on one device");
  const rename = button(t("Rename"), async () => {
    made.replaceChildren(copyOf("passkey-name"));
    const input = part<HTMLInputElement>(made, "input");
    input.value = name;
    input.select();
    onSubmit(made, async (fields) => change(card, auth.passkeys.rename(id, (fields.name ?? "").trim()), again), card);
  });
  const remove = button(t("Remove"), () => change(card, auth.passkeys.remove(id), again));
  const made = line(name, usable ? `${kind} · ${used}` : t("of another address of this service"), actions(rename, remove));
  return made;
}
