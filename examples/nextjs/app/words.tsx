"use client";
import { createContext, type ReactNode, useContext, useState } from "react";
import { type Language, wordsOf, type Words } from "../../shared/words.mjs";

const Context = createContext<Words & { choose: (language: Language) => void }>({ ...wordsOf("en"), choose: () => undefined });

/** Texts in the language that the server chose, or the visitor since. A cookie keeps the choice. */
export function WordsProvider({ initial, children }: { initial: Language; children: ReactNode }) {
  const [language, setLanguage] = useState(initial);
  const choose = (next: Language) => {
    document.cookie = `language=${next}; path=/; max-age=31536000; samesite=lax`;
    document.documentElement.lang = next;
    setLanguage(next);
  };
  return <Context.Provider value={{ ...wordsOf(language), choose }}>{children}</Context.Provider>;
}

/** Texts, and the choice of the language. */
export const useWords = () => useContext(Context);
