import type { AutoShutdownAnswer } from "@rangewright/application/wire"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { capabilities } from "../me.ts"
import { submitted } from "../parts/form.ts"
import { dateOf, shortTime } from "../parts/format.ts"
import { Lacking } from "../parts/list.tsx"
import { type Doing, Field, Outcome, Text, Time, useDoing } from "../parts/parts.tsx"
import { t } from "../texts.ts"

type Limits = AutoShutdownAnswer["autoShutdownTimeout"]

const texts = t.range

/** `0`, `0h` and the like, or nothing. */
const isNever = (duration: string): boolean => !/[1-9]/u.test(duration)

/** Sets how long the range may be unused. */
const Limit = ({ id, limits, doing }: { readonly id: string; readonly limits: Limits; readonly doing: Doing }) => {
  const { rangeOverride, serverDefault } = limits
  const submit = (event: SubmitEvent): void => {
    const autoShutdownTimeout = submitted(event).text("limit").trim()
    void doing.run(async () => {
      await change("PUT", "/range/auto-shutdown", { rangeID: id }, { autoShutdownTimeout })
      return texts.timerChanged
    })
  }
  return (
    <form onSubmit={submit}>
      <Field label={texts.timerLimit} hint={texts.timerHint(isNever(serverDefault) ? texts.timerNever : serverDefault)}>
        {(ids) => (
          <input {...ids} name="limit" defaultValue={rangeOverride} autocapitalize="none" autocomplete="off" spellcheck={false} />
        )}
      </Field>
      <button type="submit" class="small" disabled={doing.busy}>
        {texts.timerSet}
      </button>
    </form>
  )
}

/** When the range is shut down for being unused, what keeps it on, and ways to extend and to set the time. */
export const Timer = ({ id }: { readonly id: string }) => {
  const isOn = capabilities.value?.features.autoShutdown === true
  const timer = useRead<AutoShutdownAnswer>(
    isOn ? "/range/auto-shutdown" : undefined,
    { rangeID: id },
    (event) => event.rangeID === id,
  )
  const doing = useDoing()
  if (timer.data.value === undefined)
    return timer.refusal.value === undefined ? null : (
      <section class="card" aria-labelledby="timer">
        <h2 id="timer">{texts.timer}</h2>
        <Lacking of={timer} />
      </section>
    )
  const { autoShutdownTimeout, stopsAt, keptAliveBy } = timer.data.value
  const { effective } = autoShutdownTimeout
  const stayOn = (): void =>
    void doing.run(async () => {
      const answer = await change<AutoShutdownAnswer>("POST", "/range/auto-shutdown/extend", { rangeID: id }, { duration: "2h" })
      const until = dateOf(answer.stopsAt)
      return until === undefined ? undefined : texts.staysOn(shortTime(until))
    })
  return (
    <section class="card" aria-labelledby="timer">
      <h2 id="timer">{texts.timer}</h2>
      <p>{isNever(effective) ? texts.timerOff : texts.timerOn(effective)}</p>
      {stopsAt === undefined ? null : (
        <p>
          {texts.stopsAt} <Time at={stopsAt} />
        </p>
      )}
      {(isNever(effective) ? [] : keptAliveBy).map(({ text }) => (
        <p key={text} class="muted">
          <Text>{texts.keptOn(text)}</Text>
        </p>
      ))}
      <Outcome doing={doing} />
      {stopsAt === undefined ? null : (
        <button type="button" class="small" disabled={doing.busy} onClick={stayOn}>
          {texts.stayOn}
        </button>
      )}
      <Limit id={id} limits={autoShutdownTimeout} doing={doing} />
    </section>
  )
}
