// The example: which view is shown when. Signed in: the account. Else: what the address says.
import type { Session } from "@latchkey/client";
import { note, showAccount, showUser } from "./account";
import { auth } from "./latchkey";
import { showNotice } from "./notice";
import { showForgot, showNewPassword } from "./reset";
import { showSignIn, showSignUp } from "./sign-in";
import { show } from "./view";

const ROUTES: Record<string, () => void> = { "#sign-up": showSignUp, "#forgot": showForgot };

let session: Session | null = null;

/** The view for somebody who is not signed in. */
const showGuest = (): void => (ROUTES[location.hash] ?? showSignIn)();

/** What a link of a mail, or a provider, led here for; false where nothing did. */
function showOutcome(): boolean {
  const result = auth.getRedirectResult();
  if (!result) return false;
  if (result.status === "ready" && result.token) showNewPassword(result.token);
  else if (result.status === "error") showNotice("bad", "That did not work", result.error ?? "");
  else showNotice("good", "Your address is verified", "You can sign in now.");
  return true;
}

show("loading");
auth.onAuthStateChange((event, now, error) => {
  // Nothing is known yet: the view goes on loading, and a later event says who is there.
  if (error) return;
  const before = session;
  session = now;
  note(event);
  document.getElementById("who")?.replaceChildren(now?.user.email ?? "");
  // A link of a mail comes first: it may be about another account than the one that is signed in.
  if (event === "INITIAL_SESSION" && showOutcome()) return;
  if (!now) showGuest();
  else if (before?.user.id === now.user.id) showUser(now.user);
  else {
    // The way in is behind us: a later sign-out begins at the sign-in form.
    history.replaceState(null, "", location.pathname + location.search);
    showAccount(now.user);
  }
});

addEventListener("hashchange", () => {
  if (!session) showGuest();
});

const showNetwork = (): void => {
  const banner = document.getElementById("offline");
  if (banner) banner.hidden = navigator.onLine;
};
addEventListener("online", showNetwork);
addEventListener("offline", showNetwork);
showNetwork();
