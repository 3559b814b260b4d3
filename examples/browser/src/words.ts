// Language of the page: the visitor's choice, else the browser's.
import { LANGUAGES, languageOf, type Language, wordsOf } from "../../shared/words.mjs";

const CHOICE = "language";

/** Stored choice. Browsers may block storage: the choice lasts as long as the page then. */
function chosen(choice?: Language): string | null {
  try {
    if (choice) localStorage.setItem(CHOICE, choice);
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

let words = wordsOf(languageOf([chosen(), ...navigator.languages]));

export const t: typeof words.t = (...input) => words.t(...input);
export const problem: typeof words.problem = (error) => words.problem(error);
export const eventName: typeof words.event = (kind) => words.event(kind);
export const when: typeof words.when = (time) => words.when(time);
export const day: typeof words.day = (time) => words.day(time);
export const nameOf: typeof words.nameOf = (locale) => words.nameOf(locale);

/** English text of each translated node. */
const originals = new WeakMap<Node, string>();
const ATTRIBUTES = ["aria-label", "placeholder"];

/** Translates the texts of a node and of those below it. */
export function translate<N extends Node>(root: N): N {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node: Node | null = walker.currentNode; node; node = walker.nextNode()) {
    if (node instanceof Element) {
      for (const name of ATTRIBUTES) if (node.hasAttribute(name)) translateText(node.getAttributeNode(name) as Attr);
    } else if (node instanceof Text) translateText(node);
  }
  return root;
}

function translateText(node: Text | Attr): void {
  const original = originals.get(node) ?? node.nodeValue ?? "";
  const text = original.trim().replace(/\s+/g, " ");
  if (!text) return;
  originals.set(node, original);
  node.nodeValue = original.replace(original.trim(), t(text));
}

/** Applies the language to the parts around the view, and offers the other one. */
export function speak(again: () => void): void {
  const other: Language = words.language === "de" ? "en" : "de";
  document.documentElement.lang = words.language;
  for (const part of document.querySelectorAll("[data-fixed]")) translate(part);
  const choice = document.querySelector<HTMLButtonElement>("[data-language]");
  if (!choice) return;
  choice.textContent = LANGUAGES[other];
  choice.lang = other;
  choice.onclick = () => {
    words = wordsOf(other);
    chosen(other);
    speak(again);
    again();
  };
}
