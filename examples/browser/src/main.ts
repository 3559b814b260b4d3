// Entry point: selects the view. The account if signed in, else the view of the URL.
import type { Session } from "@latchkey/client";
import { note, showAccount, showUser } from "./account";
import { showChallenge, showRestoral } from "./challenge";
import { showEnrolment } from "./enrolment";
import { auth } from "./latchkey";
import { showNotice } from "./notice";
import { showForgot, showNewPassword } from "./reset";
import { showSettings } from "./settings";
import { showSignIn, showSignUp } from "./sign-in";
import { show } from "./view";
import { speak, t } from "./words";
import "../../shared/look.css";

const ROUTES: Record<string, () => void> = { "#sign-up": showSignUp, "#forgot": showForgot };

let session: Session | null = null;

/** Shows the view of a signed-out user. */
const showGuest = (): void => (ROUTES[location.hash] ?? showSignIn)();

/** Shows the view of a signed-in user. */
function showMember({ user }: Session): void {
  if (location.hash === "#settings") void showSettings();
  else showAccount(user);
}

/** Shows the result of an emailed link or a provider; false if there is none. */
function showOutcome(): boolean {
  const result = auth.getRedirectResult();
  if (!result) return false;
  if (result.needsCode) {
    const text = t("This link works only in the browser that asked for it. The mail also has six digits: type them there.");
    showNotice("good", t("Type the code where you began"), text);
  }
  else if (result.token) showNewPassword(result.token);
  else if (result.status === "error") showNotice("bad", t("That did not work"), result.error ?? "");
  else showNotice("good", t("Your address is verified"), t("You can sign in now."));
  return true;
}

show("loading");
auth.onAuthStateChange((event, now, error, challenge) => {
  // The session is unknown: keep loading; a later event has it.
  if (error) return;
  const before = session;
  session = now;
  note(event);
  // A sign-in needs a second factor. With a session, the dialog asks.
  if (challenge && !now) {
    if (challenge.kinds.includes("enroll")) return void showEnrolment(challenge);
    return challenge.kinds.includes("restore") ? showRestoral(challenge, auth) : showChallenge(challenge, auth);
  }
  document.getElementById("who")?.replaceChildren(now?.user.email ?? "");
  // An emailed link comes first: it may concern another account than the signed-in one.
  if (event === "INITIAL_SESSION" && showOutcome()) return;
  if (!now) showGuest();
  else if (before?.user.id === now.user.id) showUser(now.user);
  else {
    // Clear the route of a form, so that a later sign-out shows the sign-in form.
    if (location.hash !== "#settings") history.replaceState(null, "", location.pathname + location.search);
    // An enrolment that the sign-in required shows its recovery codes first.
    if (!document.querySelector("main [data-qr]")) showMember(now);
  }
});

const showAgain = (): void => {
  if (session) showMember(session);
  else showGuest();
};
addEventListener("hashchange", showAgain);
speak(showAgain);

const showNetwork = (): void => {
  const banner = document.getElementById("offline");
  if (banner) banner.hidden = navigator.onLine;
};
addEventListener("online", showNetwork);
addEventListener("offline", showNetwork);
showNetwork();
