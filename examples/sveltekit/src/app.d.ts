import type { Session } from "@latchkey/client";
import type { LatchkeyClient } from "@latchkey/client/ssr";

declare global {
  namespace App {
    interface Locals {
      /** Client of this request. */
      latchkey: LatchkeyClient;
      /** Session of the visitor; undefined if the service did not respond. */
      session: Session | null | undefined;
    }
  }
}
