// View with a message.
import { fill, part, show } from "./view";

/** Shows a message. */
export function showNotice(mood: "good" | "bad", title: string, text: string): void {
  const view = show("notice");
  const mark = part(view, ".mark");
  mark.classList.add(mood);
  mark.textContent = mood === "good" ? "✓" : "!";
  fill(view, "h1", title);
  fill(view, ".lead", text);
}
