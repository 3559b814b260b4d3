// Loads the session of the request before a page renders, and refreshes it if its access token expires. Cookies can still be
// written here; in a streaming `load` they cannot, and a client there gets only `cookies: { get: event.cookies.get }`.
import type { Handle } from "@sveltejs/kit";
import { createServerClient } from "@latchkey/client/ssr";
import { baseUrl, cookieOptions } from "$lib/server/latchkey";
import { languageOf } from "../../shared/words.mjs";

export const handle: Handle = async ({ event, resolve }) => {
  // The auth route handles its own session.
  if (event.url.pathname.startsWith("/auth/")) return resolve(event);
  // The service counts rate limits by client address: the visitor's, if it trusts this app (server.trusted_proxies).
  // Its list of sessions shows the visitor's device.
  const headers = { "x-forwarded-for": event.getClientAddress(), "user-agent": event.request.headers.get("user-agent") ?? "" };
  event.locals.latchkey = createServerClient({ baseUrl, cookies: event.cookies, cookieOptions, headers });
  const { data } = await event.locals.latchkey.auth.getCurrentSession();
  event.locals.session = data?.session;
  const accepted = event.request.headers.get("accept-language") ?? "";
  const language = languageOf([event.cookies.get("language"), ...accepted.split(",")]);
  event.locals.language = language;
  return resolve(event, { transformPageChunk: ({ html }) => html.replace("%language%", language) });
};
