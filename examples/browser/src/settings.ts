// Settings of the user: one page of cards, each in a file of its own.
import { showActivity } from "./activity";
import { showAddress } from "./address";
import { showData, showLanguage } from "./data";
import { showFactors } from "./factors";
import { auth } from "./latchkey";
import { showPasskeys } from "./passkeys";
import { showPassword } from "./password";
import { showSessions } from "./sessions";
import { complain, part, show } from "./view";

/** Shows the settings; with a message after a change. */
export async function showSettings(message = ""): Promise<void> {
  const view = show("settings");
  const { data, error } = await auth.getAccount();
  if (!view.querySelector("[data-state]")) return; // another view is shown now
  const status = part(view, "[data-message]");
  status.textContent = message;
  status.hidden = !message;
  complain(view, error);
  if (data) {
    showAddress(view, data);
    showPassword(view, data);
    showFactors(view, data);
    void showLanguage(view, data);
    showData(view);
  }
  await Promise.all([showPasskeys(view, showSettings), showSessions(view), showActivity(view)]);
}
