// Messages between the tabs of a site about the session. Access tokens pass here, from memory to memory; they are never
// written down.
import type { AuthEvent, HeldSession } from "./session-store.js";

/** A message: an event with its session (null after a sign-out), or without an event the question for a live token. */
export interface News {
  event?: AuthEvent;
  session?: HeldSession | null;
  /** A refresh was refused, which need not be true of a tab whose token is good. */
  isRefusal?: boolean;
}

/** Opens the channel to the other tabs; undefined in old browsers and where storage is blocked. */
export function openTabs(name: string, hear: (news: News) => void): BroadcastChannel | undefined {
  try {
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }: MessageEvent<News>) => hear(data);
    return channel;
  } catch {
    return undefined;
  }
}
