"use client";
import type { ReactNode } from "react";
import { createClient, type Session } from "@latchkey/client";
import { LatchkeyProvider } from "@latchkey/client/react";

/** Client that calls this app's own route, app/auth/[...path]/route.ts. */
const client = createClient({ baseUrl: "/auth" });

export function Providers({ initialSession, children }: { initialSession: Session | null | undefined; children: ReactNode }) {
  return (
    <LatchkeyProvider client={client} initialSession={initialSession}>
      {children}
    </LatchkeyProvider>
  );
}
