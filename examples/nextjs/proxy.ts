// Refreshes an expiring session before a page renders, because pages cannot write cookies.
import { type NextRequest, NextResponse } from "next/server";
import type { CookieOptions, Cookies } from "@latchkey/client/ssr";
import { clientOf } from "./lib/latchkey";

export async function proxy(request: NextRequest): Promise<NextResponse> {
  const written: [string, string, CookieOptions][] = [];
  const cookies: Cookies = {
    get: (name) => request.cookies.get(name)?.value,
    set: (name, value, options) => {
      // To the page rendered next, and to the browser.
      if (options.maxAge) request.cookies.set(name, value);
      else request.cookies.delete(name);
      written.push([name, value, options]);
    },
  };
  const client = clientOf(cookies, request.headers.get("user-agent"));
  await client.auth.getCurrentSession();
  const response = NextResponse.next({ request });
  for (const cookie of written) response.cookies.set(...cookie);
  return response;
}

/** Pages only: neither the auth route nor files. */
export const config = { matcher: "/((?!auth/|_next/|favicon.ico).*)" };
