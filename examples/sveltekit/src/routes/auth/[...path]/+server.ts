// Proxy route from pages to the service.
import type { RequestHandler } from "./$types";
import { handleAuth } from "@latchkey/client/ssr";
import { baseUrl, cookieOptions } from "$lib/server/latchkey";

const handler = handleAuth({ baseUrl, cookieOptions });

export const fallback: RequestHandler = ({ request }) => handler(request);
