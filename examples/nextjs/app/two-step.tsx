"use client";
import type { LatchkeyError } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Card, useChange } from "./form";
import type { CardProps } from "./settings";
import { useWords } from "./words";

/** Result of a change that may make recovery codes. */
type Changed = Promise<{ data: { recoveryCodes?: string[] }; error: null } | { data: null; error: LatchkeyError }>;

/** Two-step sign-in: authenticator apps and recovery codes. */
export function TwoStep({ account, reload, enrol, showCodes }: CardProps & { enrol: () => void; showCodes: (codes: string[]) => void }) {
  const { auth } = useLatchkey();
  const { t, when } = useWords();
  const { change, error } = useChange(reload);
  const { twoStep, totp, passkeyCount, recoveryCodesLeft } = account;
  const run = async (work: Changed) => {
    const data = await change(work);
    if (data?.recoveryCodes) showCodes(data.recoveryCodes);
  };
  const state = <span className={twoStep ? "badge" : "badge open"}>{twoStep ? t("on") : t("off")}</span>;
  return (
    <Card title={<>{t("Two-step sign-in")} {state}</>} name="two-step" error={error}>
      <p className="hint">{t("After your password, a code of an app on your phone, or a passkey.")}</p>
      <ul className="list">
        {totp.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            <span>{name}<br /><small>{lastUsedAt ? t("last used {when}", { when: when(lastUsedAt) }) : t("not used yet")}</small></span>
            <button onClick={() => void change(auth.totp.remove(id))}>{t("Remove")}</button>
          </li>
        ))}
      </ul>
      {twoStep && <p className="hint">{t("{count} recovery codes are left.", { count: recoveryCodesLeft })}</p>}
      <p className="actions">
        <button onClick={enrol}>{t("Add an authenticator app")}</button>
        {!twoStep && passkeyCount > 0 && <button onClick={() => void run(auth.setTwoStep(true))}>{t("Turn on with your passkey")}</button>}
        {twoStep && <button onClick={() => void run(auth.replaceRecoveryCodes())}>{t("New recovery codes")}</button>}
        {twoStep && <button onClick={() => void run(auth.setTwoStep(false))}>{t("Turn off")}</button>}
      </p>
    </Card>
  );
}
