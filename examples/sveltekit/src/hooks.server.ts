// Before a page renders: the session of the request, refreshed if its access token ends. Here cookies can still be
// written; in a `load` that streams they cannot, and a client there gets `cookies: { get: event.cookies.get }` alone.
import type { Handle } from "@sveltejs/kit";
import { createServerClient } from "@latchkey/client/ssr";
import { baseUrl, cookieOptions } from "$lib/server/latchkey";

export const handle: Handle = async ({ event, resolve }) => {
  // The route of the session itself does its own.
  if (event.url.pathname.startsWith("/auth/")) return resolve(event);
  // The service counts its limits by address: by the visitor's, if it trusts this app (server.trusted_proxies).
  const headers = { "x-forwarded-for": event.getClientAddress() };
  event.locals.latchkey = createServerClient({ baseUrl, cookies: event.cookies, cookieOptions, headers });
  const { data } = await event.locals.latchkey.auth.getCurrentSession();
  event.locals.session = data?.session;
  return resolve(event);
};
