"use client";
import { useEffect, useState } from "react";
import type { LatchkeyError, OwnEvents } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Card } from "./form";
import { useWords } from "./words";

const NONE: OwnEvents = { events: [], nextBefore: null };

/** What happened to the account in the last 90 days. */
export function Activity({ turn }: { turn: number }) {
  const { auth } = useLatchkey();
  const { t, when, event } = useWords();
  const [{ events, nextBefore }, setShown] = useState(NONE);
  const [error, setError] = useState<LatchkeyError | null>(null);
  const load = async (before?: string | null) => {
    const { data, error } = await auth.listEvents({ limit: 8, ...(before && { before }) });
    setError(error);
    if (data) setShown((shown) => (before ? { ...data, events: [...shown.events, ...data.events] } : data));
  };
  useEffect(() => void load(), [auth, turn]);
  return (
    <Card title={t("Activity")} name="activity" error={error}>
      <ul className="list">
        {events.map(({ id, kind, at, device, ip, details }) => {
          const by = details.by === "admin" ? t("by an administrator") : [device, ip].filter(Boolean).join(" · ");
          return <li key={id}><span>{event(kind)}<br /><small>{[when(at), by].filter(Boolean).join(" · ")}</small></span></li>;
        })}
      </ul>
      {nextBefore && <p className="actions"><button onClick={() => void load(nextBefore)}>{t("Show more")}</button></p>}
    </Card>
  );
}
