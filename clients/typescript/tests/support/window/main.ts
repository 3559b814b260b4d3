// Page that signs in by a provider in a popup, and is also the return page of that popup.
import { createClient } from "@latchkey/client";

const url = (import.meta as unknown as { env: { VITE_LATCHKEY_URL: string } }).env.VITE_LATCHKEY_URL;
const { auth } = createClient({ baseUrl: url });
const isBack = location.search.includes("service_code") || window.name === "provider";

auth.onAuthStateChange((event, session) => {
  const who = document.getElementById("who");
  if (who) who.textContent = session?.user.email ?? "nobody";
  if (isBack && event !== "SIGNED_OUT" && session) window.close();
});

document.querySelector("button")?.addEventListener("click", () => {
  const popup = window.open("", "provider");
  void auth.signInWithOAuth({ provider: "acme", redirectTo: location.origin + location.pathname, window: popup });
});
