// Views and forms. A view is a template of index.html.
import type { LatchkeyError } from "@latchkey/client";

/** Submit handler of a form; the form shows its error. */
type Submit = (fields: Record<string, string>) => Promise<{ error: LatchkeyError | null } | void>;

/** Copy of a template. */
export const copyOf = (template: string): Node =>
  (document.getElementById(template) as HTMLTemplateElement).content.cloneNode(true);

let shown = new AbortController();

/** Signal that ends with the view. */
export const whileShown = (): AbortSignal => shown.signal;

/** Shows a copy of a template. */
export function show(template: string): HTMLElement {
  shown.abort();
  shown = new AbortController();
  const view = document.querySelector("main") as HTMLElement;
  view.replaceChildren(copyOf(template));
  // Focus the form, unless the view has more to read.
  view.querySelector<HTMLInputElement>(":scope > .card form input")?.focus();
  return view;
}

/** Element of a view by selector. */
export function part<E extends HTMLElement = HTMLElement>(view: HTMLElement, selector: string): E {
  const found = view.querySelector<E>(selector);
  if (!found) throw new Error(`the view has no ${selector}`);
  return found;
}

/** Sets the text of all matching elements. Text is never parsed as markup. */
export function fill(view: HTMLElement, selector: string, text: string): void {
  for (const element of view.querySelectorAll(selector)) element.textContent = text;
}

/** Shows an error with its next action, or clears it. */
export function complain(view: HTMLElement, error: LatchkeyError | null): void {
  const alert = part(view, "[role=alert]");
  const wait = error?.retryAfter ? ` (${error.retryAfter} s)` : "";
  alert.textContent = error ? `${error.message} ${error.nextActions ?? ""}${wait}` : "";
  alert.hidden = error === null;
}

/** Handles submits of a form: disables its button meanwhile and shows its error, in `place` if the form has no room for it. */
export function onSubmit(view: HTMLElement, submit: Submit, place = view): void {
  const form = part<HTMLFormElement>(view, "form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = part<HTMLButtonElement>(form, "button");
    button.disabled = true;
    complain(place, null);
    const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const result = await submit(fields);
    button.disabled = false;
    if (result?.error && form.isConnected) complain(place, result.error);
  });
}

/** Line of a list. */
export function item(text: string): HTMLLIElement {
  return Object.assign(document.createElement("li"), { textContent: text });
}

/** Small text. */
export function small(text: string): HTMLElement {
  return Object.assign(document.createElement("small"), { textContent: text });
}

/** Short label of a state. */
export function badge(text: string): HTMLElement {
  return Object.assign(document.createElement("span"), { className: "badge", textContent: text });
}

/** Button that is disabled while its work runs. */
export function button(text: string, click: () => Promise<unknown>): HTMLButtonElement {
  const made = Object.assign(document.createElement("button"), { textContent: text, type: "button" });
  made.addEventListener("click", () => {
    made.disabled = true;
    void click().finally(() => (made.disabled = false));
  });
  return made;
}

/** Short form of a user agent. */
export function browserOf(userAgent: string | null): string {
  return /(Firefox|Edg|Chrome|Safari)\/\d+/.exec(userAgent ?? "")?.[0]?.replace("/", " ") ?? "Unknown browser";
}
