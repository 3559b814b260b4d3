// Session messages between the tabs of a site. Access tokens pass through, from memory to memory; they are never stored.
import type { AuthEvent, HeldSession } from "./session-store.js";

/** Message: an event with its session (null after a sign-out), or without an event a request for a valid token. */
export interface TabMessage {
  event?: AuthEvent;
  session?: HeldSession | null;
  /** Set if a refresh was refused, which does not apply to a tab with a valid token. */
  isRefusal?: boolean;
}

/** Opens the channel to the other tabs; undefined in old browsers and with blocked storage. */
export function openTabs(name: string, hear: (message: TabMessage) => void): BroadcastChannel | undefined {
  try {
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => hear(data);
    return channel;
  } catch {
    return undefined;
  }
}
