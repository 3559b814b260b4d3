// App in a browser that leaves sign-in to the pages.
import { createClient } from "../../../../../clients/typescript/src/index.js";

const url = (import.meta as unknown as { env: { VITE_LATCHKEY_URL: string } }).env.VITE_LATCHKEY_URL;
const { auth } = createClient({ baseUrl: url });

auth.onAuthStateChange((_, session) => {
  const who = document.getElementById("who");
  if (who) who.textContent = session?.user.email ?? "nobody";
});
document.querySelector("button")?.addEventListener("click", () => {
  void auth.signInWithPages({ redirectTo: location.origin + location.pathname });
});
