// A card that only says something.
import { fill, part, show } from "./view";

/** Shows it. */
export function showNotice(mood: "good" | "bad", title: string, text: string): void {
  const view = show("notice");
  const mark = part(view, ".mark");
  mark.classList.add(mood);
  mark.textContent = mood === "good" ? "✓" : "!";
  fill(view, "h1", title);
  fill(view, ".lead", text);
}
