// Layout of all pages: passes the server's session, and the language of the visitor, to the browser.
import type { ReactNode } from "react";
import { cookies, headers } from "next/headers";
import { languageOf } from "../../shared/words.mjs";
import { clientOf } from "../lib/latchkey";
import { Header } from "./header";
import { Providers } from "./providers";
import "../../shared/look.css";

export const metadata = { title: "Latchkey in Next.js" };

export default async function Layout({ children }: { children: ReactNode }) {
  const jar = await cookies();
  const given = await headers();
  const { data } = await clientOf({ get: (name) => jar.get(name)?.value }, given.get("user-agent")).auth.getCurrentSession();
  const language = languageOf([jar.get("language")?.value, ...(given.get("accept-language") ?? "").split(",")]);
  return (
    <html lang={language}>
      <body>
        {/* Without an answer of the service nothing is known, and the browser asks again. */}
        <Providers initialSession={data?.session} initialLanguage={language}>
          <Header />
          <main>{children}</main>
        </Providers>
      </body>
    </html>
  );
}
