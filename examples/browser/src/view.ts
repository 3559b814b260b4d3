// Views and forms. A view is a template of index.html.
import type { LatchkeyError } from "@latchkey/client";
import { problem, t, translate } from "./words";

/** Submit handler of a form; the form shows its error. */
type Submit = (fields: Record<string, string>) => Promise<{ error: LatchkeyError | null } | void>;

/** Copy of a template, in the language of the page. */
export const copyOf = (template: string): Node =>
  translate((document.getElementById(template) as HTMLTemplateElement).content.cloneNode(true));

let shown = new AbortController();

/** Signal that ends with the view. */
export const whileShown = (): AbortSignal => shown.signal;

/** Shows a copy of a template. */
export function show(template: string): HTMLElement {
  shown.abort();
  shown = new AbortController();
  const view = document.querySelector("main") as HTMLElement;
  view.replaceChildren(copyOf(template));
  // Focus the form, or the heading if the view has more to read.
  view.querySelector<HTMLElement>(":scope > .card form input, [tabindex='-1']")?.focus();
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

/** Shows an error with its next action, or clears it. What the user decided is no error. */
export function complain(view: HTMLElement, error: LatchkeyError | null): void {
  const alert = part(view, "[role=alert]");
  const isTold = error !== null && error.error !== "PASSKEY_CANCELLED";
  alert.textContent = isTold ? problem(error) : "";
  alert.hidden = !isTold;
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

/** Field of a form that opens in a card. */
interface Field {
  name: string;
  label: string;
  type?: string;
  autocomplete?: string;
  maxlength?: number;
}

/** Opens a form in a card, in place of its buttons; `close` is what the button to leave it does. */
export function openForm(card: HTMLElement, fields: Field[], action: string, submit: Submit, close: () => unknown): void {
  const form = document.createElement("form");
  const inputs = fields.map(({ label, ...attributes }) => {
    const input = Object.assign(document.createElement("input"), { required: true });
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, `${value}`);
    const row = document.createElement("label");
    row.append(`${label} `, input);
    return row;
  });
  const send = Object.assign(document.createElement("button"), { className: "primary", textContent: action });
  const buttons = Object.assign(document.createElement("p"), { className: "actions" });
  buttons.append(send, button(t("Cancel"), async () => close()));
  form.append(...inputs, buttons);
  part(card, "[data-actions]").replaceChildren(form);
  onSubmit(card, submit);
  form.querySelector("input")?.focus();
}

/** Line of a list. */
export function item(text: string): HTMLLIElement {
  return Object.assign(document.createElement("li"), { textContent: text });
}

/** Line of a list: a title with a smaller text below it, and what stands at its end. */
export function line(title: string, below: string, ...end: HTMLElement[]): HTMLLIElement {
  const made = item("");
  const what = document.createElement("span");
  what.append(title, document.createElement("br"), small(below));
  made.append(what, ...end);
  return made;
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

/** Buttons of a line. */
export function actions(...buttons: HTMLButtonElement[]): HTMLElement {
  const made = Object.assign(document.createElement("span"), { className: "actions" });
  made.append(...buttons);
  return made;
}
