"use client";
import { useUser } from "@latchkey/client/react";
import { LANGUAGES } from "../../shared/words.mjs";
import { useWords } from "./words";

/** Name of the app, address of the user, and the other language. */
export function Header() {
  const { user } = useUser();
  const { language, choose } = useWords();
  const other = language === "de" ? "en" : "de";
  return (
    <header>
      <span className="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M16 7a5 5 0 0 0-2 9.6V25h4v-3h3v-3h-3v-2.4A5 5 0 0 0 16 7Z" /></svg>
        Latchkey <small>Next.js</small>
      </span>
      <span id="who">{user?.email}</span>
      <button className="link" lang={other} onClick={() => choose(other)}>{LANGUAGES[other]}</button>
    </header>
  );
}
