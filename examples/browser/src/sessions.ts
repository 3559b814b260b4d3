// Card of the settings: the user's own sessions, with device and name.
import type { OwnSession } from "@latchkey/client";
import { auth } from "./latchkey";
import { actions, badge, button, complain, copyOf, line, onSubmit, part } from "./view";
import { t, when } from "./words";

/** Shows the sessions. */
export async function showSessions(view: HTMLElement): Promise<void> {
  const card = view.querySelector<HTMLElement>("[data-sessions]");
  if (!card) return; // another view is shown now
  const again = (): Promise<void> => showSessions(view);
  const { data, error } = await auth.listSessions();
  if (!card.isConnected) return;
  complain(card, error);
  const sessions = data?.sessions ?? [];
  part(card, "ul").replaceChildren(...sessions.map((session) => row(card, session, again)));
  const endOthers = part<HTMLButtonElement>(card, "[data-end-others]");
  endOthers.hidden = sessions.length < 2;
  endOthers.onclick = () => void auth.endOtherSessions().then(again);
}

function row(card: HTMLElement, session: OwnSession, again: () => Promise<void>): HTMLElement {
  const { id, device, name, ip, lastSeenAt, current } = session;
  const below = [name && device, ip, when(lastSeenAt)].filter(Boolean).join(" · ");
  const rename = button(t("Change name"), async () => {
    made.replaceChildren(copyOf("session-name"));
    const input = part<HTMLInputElement>(made, "input");
    input.value = name ?? "";
    input.select();
    onSubmit(made, async (fields) => {
      const result = await auth.renameSession(id, fields.name?.trim() || null);
      if (!result.error) await again();
      return result;
    }, card);
  });
  const end = button(t("End"), () => auth.endSession(id).then(again));
  const made = line(name ?? device, below, ...(current ? [badge(t("this one"))] : []), actions(rename, ...(current ? [] : [end])));
  return made;
}
