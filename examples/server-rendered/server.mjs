// Server-rendered app without a framework: the browser gets HTML and no script. `@latchkey/client/ssr` stores the session in
// cookies of this app; only this server calls the service.
import { createServer } from "node:http";
import { createServerClient, headerCookies } from "@latchkey/client/ssr";
import { LANGUAGES, languageOf, wordsOf } from "../shared/words.mjs";
import { actions, pages } from "./routes.mjs";
import { viewsOf } from "./views.mjs";

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

/** Client of one request, with its cookies. */
function clientOf(request, cookies) {
  // This app is served over http on localhost, and over https everywhere else.
  const cookieOptions = { secure: origin.startsWith("https:") };
  // The service counts rate limits by client address: the visitor's, if it trusts this app (server.trusted_proxies).
  // Device and language of the visitor are for the list of sessions, and for mails.
  const { "user-agent": agent = "", "accept-language": accepted = "" } = request.headers;
  const headers = { "x-forwarded-for": request.socket.remoteAddress, "user-agent": agent, "accept-language": accepted };
  return createServerClient({ baseUrl, cookies, cookieOptions, headers });
}

/** Keeps the chosen language in a cookie for a year, and shows the start page. */
function choose(language, cookies) {
  const attributes = { path: "/", httpOnly: true, secure: origin.startsWith("https:"), sameSite: "lax", maxAge: 31_536_000 };
  if (Object.hasOwn(LANGUAGES, language ?? "")) cookies.set("language", language, attributes);
  return { redirect: "/" };
}

async function answer(request, cookies, words, views) {
  const url = new URL(request.url, origin);
  const isPost = request.method === "POST";
  // Cookies are SameSite=Lax; forms of other sites are refused as well.
  if (isPost && request.headers.origin !== origin) return { status: 403, ...views.message("Refused") };
  if (url.pathname === "/language") return choose(url.searchParams.get("to"), cookies);
  const routes = isPost ? actions : pages;
  const route = Object.hasOwn(routes, url.pathname) ? routes[url.pathname] : undefined;
  if (!route) return { status: 404, ...views.message("Not found") };
  const fields = isPost ? await readForm(request) : Object.fromEntries(url.searchParams);
  return route({ client: clientOf(request, cookies), fields, origin, words, views });
}

createServer(async (request, response) => {
  try {
    const cookies = headerCookies(request.headers.cookie, (cookie) => response.appendHeader("set-cookie", cookie));
    const words = wordsOf(languageOf([cookies.get("language"), ...(request.headers["accept-language"] ?? "").split(",")]));
    const views = viewsOf(words);
    const { status = 200, redirect, download, name, ...view } = await answer(request, cookies, words, views);
    if (redirect) return response.writeHead(303, { location: redirect }).end();
    if (download) {
      const headers = { "content-type": "application/json", "cache-control": "no-store", "content-disposition": `attachment; filename="${name}"` };
      return response.writeHead(200, headers).end(download);
    }
    const headers = {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "same-origin",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action *; frame-ancestors 'none'",
    };
    response.writeHead(status, headers).end(views.page(view));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}).listen(port, "localhost", () => console.log(`The app is at ${origin}`));
