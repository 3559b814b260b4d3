// Speaks with this app's own route, routes/auth/[...path]. One client for the whole page.
import { createClient } from "@latchkey/client";

export const client = createClient({ baseUrl: "/auth" });
