// Card of the settings: what happened to the account in the last 90 days.
import { auth } from "./latchkey";
import { complain, line, part } from "./view";
import { eventName, t, when } from "./words";

/** Events of one page. */
const LIMIT = 8;

/** Shows the newest events, and more by the button. */
export async function showActivity(view: HTMLElement, before?: string): Promise<void> {
  const card = view.querySelector<HTMLElement>("[data-activity]");
  if (!card) return; // another view is shown now
  const { data, error } = await auth.listEvents({ limit: LIMIT, ...(before && { before }) });
  if (!card.isConnected) return;
  complain(card, error);
  if (!data) return;
  const rows = data.events.map(({ kind, device, ip, at, details }) => {
    const by = details.by === "admin" ? t("by an administrator") : [device, ip].filter(Boolean).join(" · ");
    return line(eventName(kind), [when(at), by].filter(Boolean).join(" · "));
  });
  const list = part(card, "ul");
  if (before) list.append(...rows);
  else list.replaceChildren(...rows);
  const more = part<HTMLButtonElement>(card, "[data-more]");
  more.hidden = !data.nextBefore;
  more.onclick = () => void showActivity(view, data.nextBefore ?? undefined);
}
