import type { Session } from "@latchkey/client";
import type { LatchkeyClient } from "@latchkey/client/ssr";
import type { Language } from "../../shared/words.mjs";

declare global {
  namespace App {
    interface Locals {
      /** Client of this request. */
      latchkey: LatchkeyClient;
      /** Session of the visitor; undefined if the service did not respond. */
      session: Session | null | undefined;
      /** Language of the visitor: chosen, else the browser's. */
      language: Language;
    }
  }
}
