"use client";
import { useEffect, useState } from "react";
import { useChallenge, useLatchkey, useUser } from "@latchkey/client/react";
import { Account } from "./account";
import { Challenge } from "./challenge";
import { RecoveryCodes } from "./enrolment";
import { SignIn } from "./sign-in";
import { useWords } from "./words";

export default function Page() {
  const { auth } = useLatchkey();
  const { user, isLoading } = useUser();
  const { challenge } = useChallenge();
  const { t } = useWords();
  // Only here: after a reload they are gone.
  const [codes, setCodes] = useState<string[]>([]);
  const [notice, setNotice] = useState("");
  useEffect(
    () =>
      auth.onAuthStateChange((event) => {
        if (event === "SIGNED_IN") setNotice("");
        // Result of a mailed link, known with this event.
        const result = event === "INITIAL_SESSION" ? auth.getRedirectResult() : null;
        if (result?.needsCode) setNotice(t("This link works only in the browser that asked for it. The mail also has six digits: type them there."));
        else if (result?.error) setNotice(result.error);
      }),
    [auth],
  );
  if (isLoading) return <p className="quiet">{t("Loading")}</p>;
  if (codes.length) return <RecoveryCodes codes={codes} done={() => setCodes([])} />;
  return (
    <>
      {notice && <p role="status" className="good">{notice}</p>}
      <Challenge key={challenge?.id} showCodes={setCodes} />
      {user ? <Account user={user} showCodes={setCodes} showNotice={setNotice} /> : !challenge && <SignIn />}
    </>
  );
}
