// Showing views and running forms. A view is a template of index.html.
import type { LatchkeyError } from "@latchkey/client";

/** What a form does; an error is shown in it. */
type Submit = (fields: Record<string, string>) => Promise<{ error: LatchkeyError | null } | void>;

/** Puts a copy of a template on the page. */
export function show(template: string): HTMLElement {
  const view = document.querySelector("main") as HTMLElement;
  const source = document.getElementById(template) as HTMLTemplateElement;
  view.replaceChildren(source.content.cloneNode(true));
  // The form is what somebody came for; where there is more to see, the eyes go first.
  view.querySelector<HTMLInputElement>(":scope > .card form input")?.focus();
  return view;
}

/** The one element that a view has for this. */
export function part<E extends HTMLElement = HTMLElement>(view: HTMLElement, selector: string): E {
  const found = view.querySelector<E>(selector);
  if (!found) throw new Error(`the view has no ${selector}`);
  return found;
}

/** Writes a text into all elements that ask for it. Texts never become markup. */
export function fill(view: HTMLElement, selector: string, text: string): void {
  for (const element of view.querySelectorAll(selector)) element.textContent = text;
}

/** Shows what went wrong and what to do, or nothing. */
export function complain(view: HTMLElement, error: LatchkeyError | null): void {
  const alert = part(view, "[role=alert]");
  const wait = error?.retryAfter ? ` (${error.retryAfter} s)` : "";
  alert.textContent = error ? `${error.message} ${error.nextActions ?? ""}${wait}` : "";
  alert.hidden = error === null;
}

/** Runs a form: its button rests meanwhile, its error is shown. */
export function onSubmit(view: HTMLElement, submit: Submit): void {
  const form = part<HTMLFormElement>(view, "form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = part<HTMLButtonElement>(form, "button");
    button.disabled = true;
    complain(view, null);
    const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const result = await submit(fields);
    button.disabled = false;
    if (result?.error && form.isConnected) complain(view, result.error);
  });
}
