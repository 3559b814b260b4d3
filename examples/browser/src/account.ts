// View of a signed-in user: profile and search.
import type { User } from "@latchkey/client";
import { auth, profiles } from "./latchkey";
import { complain, fill, item, onSubmit, part, show, small } from "./view";
import { problem, t } from "./words";

/** Session events of this tab, newest last. */
const events: string[] = [];

/** Records an event and updates the list. */
export function note(event: string): void {
  events.push(`${new Date().toLocaleTimeString()}  ${event}`);
  showEvents();
}

function showEvents(): void {
  document.querySelector("[data-events]")?.replaceChildren(...events.slice(-6).map((text) => item(text)));
}

/** Shows the account. */
export function showAccount(user: User): void {
  const view = show("account");
  showUser(user);
  showEvents();
  void showProfile(view);
  searchPeople(view);
  part(view, "[data-sign-out]").addEventListener("click", () => void auth.signOut());
}

/** Shows the signed-in user. */
export function showUser(user: User): void {
  fill(document.body, "[data-avatar]", initials(user.profile.name || user.email));
  fill(document.body, "[data-name]", user.profile.name || t("No name yet"));
  fill(document.body, "[data-email]", user.email);
  const badge = document.querySelector("[data-verified]");
  badge?.classList.toggle("open", !user.emailVerified);
  fill(document.body, "[data-verified]", user.emailVerified ? t("verified") : t("not verified"));
}

async function showProfile(view: HTMLElement): Promise<void> {
  const form = part<HTMLFormElement>(view, "form");
  const mine = await profiles.me();
  if (!form.isConnected) return; // another view is shown now
  const { data } = mine;
  let { etag } = mine;
  const field = (name: string): HTMLInputElement => form.elements.namedItem(name) as HTMLInputElement;
  if (data) {
    field("name").value = data.name;
    field("username").value = data.username ?? "";
    field("bio").value = data.bio ?? "";
    // Before this, what is typed would be overwritten by what is stored.
    part<HTMLFieldSetElement>(form, "fieldset").disabled = false;
  } else {
    complain(view, mine.error);
  }
  onSubmit(view, async ({ name = "", username = "", bio = "" }) => {
    const changes = { name, username: username || null, bio: bio || null };
    // Conditional on the shown version, so that a change from another device is not overwritten.
    const result = await profiles.update(changes, etag ? { ifMatch: etag } : {});
    etag = result.etag ?? etag;
    fill(view, "[data-saved]", result.error ? "" : t("Saved."));
    return result;
  });
}

function searchPeople(view: HTMLElement): void {
  const input = part<HTMLInputElement>(view, "[data-search]");
  const list = part(view, "[data-people]");
  let asked = "";
  input.addEventListener("input", async () => {
    const q = (asked = input.value.trim());
    if (!q) return list.replaceChildren();
    const { data, error } = await profiles.search({ q, limit: 5 });
    // A later search may have responded first.
    if (q !== asked) return;
    if (!data) return list.replaceChildren(item(error ? problem(error) : ""));
    const rows = data.profiles.map((profile) => {
      const row = item("");
      const avatar = Object.assign(document.createElement("span"), { className: "avatar small" });
      avatar.textContent = initials(profile.name || profile.username || "?");
      const text = document.createElement("span");
      text.append(profile.name || t("No name"), document.createElement("br"), small(profile.bio ?? profile.username ?? ""));
      row.append(avatar, text);
      return row;
    });
    list.replaceChildren(...rows, item(t("{count} in all", { count: data.total })));
  });
}

function initials(name: string): string {
  const words = name.split(/[\s@.]+/).filter(Boolean);
  return words.slice(0, 2).map((word) => word.charAt(0).toUpperCase()).join("");
}
