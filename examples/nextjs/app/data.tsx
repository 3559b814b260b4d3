"use client";
import { useEffect, useRef, useState } from "react";
import { useLatchkey } from "@latchkey/client/react";
import { Card, useChange } from "./form";
import type { CardProps } from "./settings";
import { useWords } from "./words";

/** Language of mails. */
export function Mails({ account: { locale }, reload }: CardProps) {
  const { auth } = useLatchkey();
  const { t, nameOf } = useWords();
  const { change, error } = useChange(reload);
  const [locales, setLocales] = useState<string[]>([]);
  useEffect(() => void auth.getPublicConfig().then(({ data }) => setLocales(data?.locales ?? [])), [auth]);
  const known = locales.find((one) => one === locale) ?? locales.find((one) => locale?.startsWith(`${one}-`)) ?? "";
  return (
    <Card title={t("Language of mails")} name="mails" error={error}>
      <select aria-label={t("Language of mails")} value={known} onChange={({ target }) => void change(auth.updateAccount({ locale: target.value }))}>
        {!known && <option value="">{t("as the browser")}</option>}
        {locales.map((one) => <option key={one} value={one}>{nameOf(one)}</option>)}
      </select>
    </Card>
  );
}

/** Download of the user's data, and deletion of the account. */
export function OwnData({ showNotice }: { showNotice: (notice: string) => void }) {
  const { auth } = useLatchkey();
  const { t, day } = useWords();
  const { change, error } = useChange();
  const dialog = useRef<HTMLDialogElement>(null);
  const download = async () => {
    const data = await change(auth.exportAccount());
    if (!data) return;
    const href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: "application/json" }));
    Object.assign(document.createElement("a"), { href, download: "account.json" }).click();
    URL.revokeObjectURL(href);
  };
  const remove = async () => {
    dialog.current?.close();
    const data = await change(auth.deleteAccount());
    if (data) showNotice(t("Until {day} you can have it back: sign in and restore it.", { day: day(data.deletesAt) }));
  };
  return (
    <Card title={t("Your data")} name="own" error={error}>
      <p className="hint">{t("Download what the service stores about you, or delete your account.")}</p>
      <p className="actions">
        <button onClick={() => void download()}>{t("Download")}</button>
        <button className="danger" onClick={() => dialog.current?.showModal()}>{t("Delete account")}</button>
      </p>
      <dialog ref={dialog}>
        <div className="card">
          <h1>{t("Delete your account?")}</h1>
          <p className="lead">{t("Nobody sees it any more, and all sessions end. For a while you can sign in and restore it; then it is gone for good.")}</p>
          <p className="actions">
            <button className="danger" onClick={() => void remove()}>{t("Delete my account")}</button>
            <button autoFocus onClick={() => dialog.current?.close()}>{t("Keep it")}</button>
          </p>
        </div>
      </dialog>
    </Card>
  );
}
