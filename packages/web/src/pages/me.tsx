import type { Quota } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, change, newVpnFile, Refusal, save, vpnFile } from "../api/client.ts"
import { hold, release, signedOut } from "../api/session.ts"
import { useRead } from "../api/resource.ts"
import { capabilities, me, setTheme, theme, type Theme } from "../me.ts"
import { Icon } from "../parts/icon.tsx"
import { setSingleKeys, singleKeys } from "../parts/keys.ts"
import { Lacking } from "../parts/list.tsx"
import { ConfirmButton, Field, Head, Outcome, Text, Time, useDoing } from "../parts/parts.tsx"
import { DiskThings, diskText } from "./disk.tsx"
import { Connection } from "./single-sign-on.tsx"
import { submitted } from "../parts/form.ts"
import { Keys } from "./me-keys.tsx"
import { t } from "../texts.ts"

interface Session {
  readonly sessionID: string
  readonly createdAt: string
  readonly lastSeenAt: string
  readonly remote?: string
  readonly agent?: string
  readonly current: boolean
}

/** The part of a user agent that people recognise. */
const browserOf = (agent: string | undefined): string =>
  /(?:Firefox|Edg|OPR|Chrome|Safari)\/[\d.]+/u
    .exec(agent ?? "")?.[0]
    .replace("/", " ")
    .replace(/\.\d.*$/u, "") ??
  agent?.slice(0, 60) ??
  t.unknown

const Password = () => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    const { form, text } = submitted(event)
    void doing.run(async () => {
      const proxmoxPassword = text("password")
      if (proxmoxPassword !== text("again")) throw new Refusal(0, t.me.differ)
      const body = { proxmoxPassword, currentPassword: text("current") }
      // the sign-in page says why: other requests may learn before this one that the session is over
      hold()
      const { result } = await change<{ readonly result: string }>("POST", "/user/credentials", {}, body).finally(release)
      form.reset()
      signedOut("password")
      return result
    })
  }
  return (
    <section class="card" aria-labelledby="password">
      <h2 id="password">{t.me.password}</h2>
      <p class="muted">{t.me.passwordText}</p>
      <form onSubmit={submit}>
        <input type="text" name="username" autocomplete="username" value={me.value?.email ?? ""} hidden readOnly />
        <Field label={t.me.currentPassword} hint={t.me.noPassword}>
          {(ids) => <input {...ids} name="current" type="password" autocomplete="current-password" required />}
        </Field>
        <Field label={t.me.newPassword} hint={t.invite.passwordHint}>
          {(ids) => <input {...ids} name="password" type="password" autocomplete="new-password" required />}
        </Field>
        <Field label={t.me.again}>
          {(ids) => <input {...ids} name="again" type="password" autocomplete="new-password" required />}
        </Field>
        <Outcome doing={doing} />
        <button type="submit" disabled={doing.busy}>
          {t.me.setPassword}
        </button>
      </form>
    </section>
  )
}

const Vpn = () => {
  const doing = useDoing()
  const get = (): void =>
    void doing.run(async () => {
      await save("rangewright.conf", await vpnFile())
      return undefined
    })
  const rotate = (): void =>
    void doing.run(async () => {
      await save("rangewright.conf", await newVpnFile())
      return t.me.vpnRotated
    })
  return (
    <section class="card" aria-labelledby="vpn">
      <h2 id="vpn">{t.me.vpn}</h2>
      <p class="muted">{t.me.vpnText}</p>
      <Outcome doing={doing} />
      <button type="button" disabled={doing.busy} onClick={get}>
        <Icon name="down" />
        {t.me.vpnGet}
      </button>{" "}
      <ConfirmButton
        disabled={doing.busy}
        question={{
          title: t.me.vpnRotate,
          text: t.me.vpnRotateText,
          action: t.me.vpnRotate,
          danger: true,
          act: rotate,
        }}
      >
        {t.me.vpnRotate}…
      </ConfirmButton>
    </section>
  )
}

const Sessions = () => {
  const doing = useDoing()
  const sessions = useSignal<readonly Session[] | undefined>(undefined)
  const load = async (): Promise<void> => {
    sessions.value = (await (await ask("GET", "/ui/sessions")).json()) as readonly Session[]
  }
  useEffect(() => {
    void doing.run(async () => {
      await load()
      return undefined
    })
  }, [])
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">{t.me.sessions}</h2>
      <p class="muted">{t.me.sessionsText}</p>
      <ul class="plain lines">
        {(sessions.value ?? []).map(({ sessionID, lastSeenAt, remote, agent, current }) => (
          <li key={sessionID}>
            <span>
              <Text>{browserOf(agent)}</Text>
              <span class="sub">
                <Text>{remote ?? ""}</Text> <Time at={lastSeenAt} />
              </span>
            </span>
            {current ? (
              <span class="tag">{t.me.thisOne}</span>
            ) : (
              <button
                type="button"
                class="small"
                disabled={doing.busy}
                onClick={() =>
                  void doing.run(async () => {
                    await ask("DELETE", `/ui/sessions/${encodeURIComponent(sessionID)}`)
                    await load()
                    return undefined
                  })
                }
              >
                {t.me.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Outcome doing={doing} />
      <button
        type="button"
        disabled={doing.busy}
        onClick={() =>
          void doing.run(async () => {
            await ask("DELETE", "/ui/sessions")
            signedOut()
            return undefined
          })
        }
      >
        {t.me.endAll}
      </button>
    </section>
  )
}

const Usage = () => {
  const quota = useRead<Quota>("/user/quotas")
  const data = quota.data.value
  if (data === undefined)
    return quota.refusal.value === undefined ? null : (
      <section class="card" aria-labelledby="quota">
        <h2 id="quota">{t.me.quota}</h2>
        <Lacking of={quota} />
      </section>
    )
  const rows: readonly (readonly [used: number, limit: number, unit: string])[] = [
    [data.usedRanges, data.limitRanges, t.me.units.ranges],
    [data.usedVMs, data.limitVMs, t.me.units.vms],
    [data.usedCPU, data.limitCPU, t.me.units.cpus],
    [data.usedRAM, data.limitRAM, t.me.units.ram],
  ]
  return (
    <section class="card" aria-labelledby="quota">
      <h2 id="quota">{t.me.quota}</h2>
      <ul class="plain lines">
        {rows.map(([used, limit, unit]) => (
          <li key={unit}>
            <span>{unit}</span>
            {limit === 0 ? null : <meter min={0} max={limit} value={used} aria-label={unit} />}
            <span>{t.me.quotaText(used, limit)}</span>
          </li>
        ))}
        <li>
          <span>{t.me.disk}</span>
          {data.limitDiskBytes === 0 || data.usedDiskBytes === undefined ? null : (
            <meter min={0} max={data.limitDiskBytes} value={data.usedDiskBytes} aria-label={t.me.disk} />
          )}
          <span>{diskText(data.usedDiskBytes, data.limitDiskBytes)}</span>
        </li>
      </ul>
      {data.usedDiskBytes === 0 ? null : <DiskThings />}
    </section>
  )
}

export const MePage = () => {
  const user = me.value
  const renewals = useSignal(0)
  return (
    <>
      <Head
        title={t.me.title}
        lead={
          user === undefined ? undefined : <Text>{[user.name, user.userID, user.email].filter((text) => text).join(" · ")}</Text>
        }
      >
        {user?.isAdmin === true ? <span class="tag">{t.me.admin}</span> : undefined}
      </Head>
      <div class="grid">
        <Password />
        <Connection />
        <Keys onRenewed={() => (renewals.value += 1)} />
        {capabilities.value?.features.vpn === true ? <Vpn /> : null}
        <Sessions key={renewals.value} />
        <Usage />
        <section class="card" aria-labelledby="theme">
          <h2 id="theme">{t.me.theme}</h2>
          <div role="radiogroup" aria-labelledby="theme">
            {Object.entries(t.me.themes).map(([name, text]) => (
              <label key={name} class="check">
                <input type="radio" name="theme" checked={theme.value === name} onChange={() => setTheme(name as Theme)} />
                {text}
              </label>
            ))}
          </div>
          <label class="check">
            <input
              type="checkbox"
              aria-describedby="single-keys"
              checked={singleKeys.value}
              onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
            />
            {t.me.singleKeys}
          </label>
          <p class="hint" id="single-keys">
            {t.me.singleKeysHint}
          </p>
        </section>
      </div>
    </>
  )
}
