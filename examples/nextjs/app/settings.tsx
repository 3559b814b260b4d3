"use client";
import { useEffect, useState } from "react";
import type { Account } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Activity } from "./activity";
import { Address } from "./address";
import { Mails, OwnData } from "./data";
import { Enrolment } from "./enrolment";
import { Passkeys } from "./passkeys";
import { Password } from "./password";
import { Sessions } from "./sessions";
import { TwoStep } from "./two-step";
import { useWords } from "./words";

/** Properties of the cards. */
export interface CardProps {
  account: Account;
  /** Reads the account again after a change; shows a message. */
  reload: (message?: string) => Promise<void>;
}

interface Props {
  leave: () => void;
  showCodes: (codes: string[]) => void;
  showNotice: (notice: string) => void;
}

/** Settings of the user, a card each. */
export function Settings({ leave, showCodes, showNotice }: Props) {
  const { auth } = useLatchkey();
  const { t } = useWords();
  const [account, setAccount] = useState<Account | null>(null);
  const [message, setMessage] = useState("");
  const [isEnrolling, setIsEnrolling] = useState(false);
  /** Counts the changes, so that sessions and activity are read again. */
  const [turn, setTurn] = useState(0);
  const reload = async (message = "") => {
    const { data } = await auth.getAccount();
    setAccount((before) => data ?? before);
    setMessage(message);
    setTurn((before) => before + 1);
  };
  useEffect(() => void reload(), [auth]);
  if (!account) return <p className="quiet">{t("Loading")}</p>;
  if (isEnrolling) {
    const done = () => {
      setIsEnrolling(false);
      void reload();
    };
    return <Enrolment showCodes={showCodes} done={done} />;
  }
  const props = { account, reload };
  return (
    <>
      <div className="title">
        <h1>{t("Settings")}</h1>
        <span className="actions">
          <button className="link" onClick={leave}>{t("Back to your account")}</button>
          <button className="link" onClick={() => void auth.signOut()}>{t("Sign out")}</button>
        </span>
      </div>
      {message && <p role="status" className="good">{message}</p>}
      <div className="columns">
        <div>
          <Address {...props} />
          <Password {...props} />
          <TwoStep {...props} enrol={() => setIsEnrolling(true)} showCodes={showCodes} />
          <Passkeys {...props} />
        </div>
        <div>
          <Sessions turn={turn} />
          <Activity turn={turn} />
          <Mails {...props} />
          <OwnData showNotice={showNotice} />
        </div>
      </div>
    </>
  );
}
