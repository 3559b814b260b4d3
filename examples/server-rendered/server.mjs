// Server-rendered app without a framework: the browser gets HTML and no script. `@latchkey/client/ssr` stores the session in
// cookies of this app; only this server calls the service.
import { createServer } from "node:http";
import { createServerClient, headerCookies } from "@latchkey/client/ssr";
import { actions, pages } from "./routes.mjs";
import { page } from "./views.mjs";

const port = Number(process.env.PORT ?? 5174);
const origin = process.env.ORIGIN ?? `http://localhost:${port}`;
const baseUrl = process.env.LATCHKEY_URL ?? "http://localhost:8700";
/** Maximum size of a form in bytes. */
const MAX_FORM = 16_384;

/** Parses the fields of a form. */
async function readForm(request) {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > MAX_FORM) throw new Error("the form is too large");
  }
  return Object.fromEntries(new URLSearchParams(text));
}

/** Client of one request: reads the request's cookies and writes those of the response. */
function clientOf(request, response) {
  const cookies = headerCookies(request.headers.cookie, (cookie) => response.appendHeader("set-cookie", cookie));
  // This app is served over http on localhost, and over https everywhere else.
  const cookieOptions = { secure: origin.startsWith("https:") };
  // The service counts rate limits by client address: the visitor's, if it trusts this app (server.trusted_proxies).
  const headers = { "x-forwarded-for": request.socket.remoteAddress };
  return createServerClient({ baseUrl, cookies, cookieOptions, headers });
}

async function answer(request, response) {
  const url = new URL(request.url, origin);
  const isPost = request.method === "POST";
  // Cookies are SameSite=Lax; forms of other sites are refused as well.
  if (isPost && request.headers.origin !== origin) return { status: 403, title: "Refused", body: "" };
  const routes = isPost ? actions : pages;
  const route = Object.hasOwn(routes, url.pathname) ? routes[url.pathname] : undefined;
  if (!route) return { status: 404, title: "Not found", body: "" };
  const fields = isPost ? await readForm(request) : Object.fromEntries(url.searchParams);
  return route({ client: clientOf(request, response), fields, origin });
}

createServer(async (request, response) => {
  try {
    const { status = 200, redirect, title, body } = await answer(request, response);
    if (redirect) return response.writeHead(303, { location: redirect }).end();
    const headers = {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "same-origin",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action *; frame-ancestors 'none'",
    };
    response.writeHead(status, headers).end(page(title, body));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}).listen(port, "localhost", () => console.log(`The app is at ${origin}`));
