// What the tabs of a site tell each other about the session. Access tokens pass here, from memory to memory; they
// are never written down.
import type { AuthEvent, HeldSession } from "./session-store.js";

/** The news: what happened, and the session; null after a sign-out. */
export interface News {
  event: AuthEvent;
  session: HeldSession | null;
  /** A refresh was refused, which need not be true of a tab whose token is good. */
  isRefusal?: boolean;
}

/** A channel to the other tabs. */
export interface Tabs {
  tell(news: News): void;
  close(): void;
}

/** Opens the channel; without one (no name, old browsers, blocked storage) nothing is told and nothing heard. */
export function openTabs(name: string | null, hear: (news: News) => void): Tabs {
  try {
    if (name) {
      const channel = new BroadcastChannel(name);
      let isOpen = true;
      channel.onmessage = (event: MessageEvent<News>) => hear(event.data);
      return {
        tell: (news) => {
          if (isOpen) channel.postMessage(news);
        },
        close: () => {
          isOpen = false;
          channel.close();
        },
      };
    }
  } catch {
    // Falls through to the silent one.
  }
  return { tell: () => undefined, close: () => undefined };
}
