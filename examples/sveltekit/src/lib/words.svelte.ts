// Texts in the language that the server chose, or the visitor since. A cookie keeps the choice.
import { browser } from "$app/environment";
import { getContext, setContext } from "svelte";
import { type Language, wordsOf } from "../../../shared/words.mjs";

const KEY = "words";

class Spoken {
  words = $state.raw(wordsOf("en"));

  constructor(language: Language) {
    this.words = wordsOf(language);
  }

  choose(language: Language): void {
    if (!browser) return;
    document.cookie = `language=${language}; path=/; max-age=31536000; samesite=lax`;
    document.documentElement.lang = language;
    this.words = wordsOf(language);
  }
}

/** Sets the language of the page, for all components below. */
export const speak = (language: Language): Spoken => setContext(KEY, new Spoken(language));

/** Texts of the page, and the choice of the language. */
export const spoken = (): Spoken => getContext<Spoken>(KEY);
