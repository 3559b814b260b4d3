"use client";
import type { ReactNode } from "react";
import { createClient, type Session } from "@latchkey/client";
import { LatchkeyProvider } from "@latchkey/client/react";
import type { Language } from "../../shared/words.mjs";
import { WordsProvider } from "./words";

/** Client that calls this app's own route, app/auth/[...path]/route.ts. */
const client = createClient({ baseUrl: "/auth" });

interface Props {
  initialSession: Session | null | undefined;
  initialLanguage: Language;
  children: ReactNode;
}

export function Providers({ initialSession, initialLanguage, children }: Props) {
  return (
    <LatchkeyProvider client={client} initialSession={initialSession}>
      <WordsProvider initial={initialLanguage}>{children}</WordsProvider>
    </LatchkeyProvider>
  );
}
