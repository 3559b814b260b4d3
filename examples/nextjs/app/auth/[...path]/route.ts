// Proxy route from pages to the service.
import { handleAuth } from "@latchkey/client/ssr";
import { baseUrl, cookieOptions } from "../../../lib/latchkey";

const handler = handleAuth({ baseUrl, cookieOptions });

export { handler as DELETE, handler as GET, handler as PATCH, handler as POST };
