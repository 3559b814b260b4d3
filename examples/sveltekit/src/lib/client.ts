// Client that calls this app's own route, routes/auth/[...path]. One for the whole page.
import { createClient } from "@latchkey/client";

export const client = createClient({ baseUrl: "/auth" });
