// Layout of all pages: passes the server's session to the browser.
import type { ReactNode } from "react";
import { cookies } from "next/headers";
import { clientOf } from "../lib/latchkey";
import { Providers } from "./providers";
import "./style.css";

export const metadata = { title: "Latchkey in Next.js" };

export default async function Layout({ children }: { children: ReactNode }) {
  const jar = await cookies();
  const { data } = await clientOf({ get: (name) => jar.get(name)?.value }).auth.getCurrentSession();
  return (
    <html lang="en">
      <body>
        {/* Without an answer of the service nothing is known, and the browser asks again. */}
        <Providers initialSession={data?.session}>{children}</Providers>
      </body>
    </html>
  );
}
