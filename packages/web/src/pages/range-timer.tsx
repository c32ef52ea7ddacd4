import type { AutoShutdownAnswer } from "@rangewright/application/wire"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { capabilities } from "../me.ts"
import { dateOf, shortTime } from "../parts/format.ts"
import { Lacking } from "../parts/list.tsx"
import { Outcome, Text, Time, useDoing } from "../parts/parts.tsx"
import { t } from "../texts.ts"

const texts = t.range

/** When the range is shut down for being unused, what keeps it on, and a way to extend the time. */
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
  const isNever = effective === "0" || effective === ""
  const stayOn = (): void =>
    void doing.run(async () => {
      const answer = await change<AutoShutdownAnswer>("POST", "/range/auto-shutdown/extend", { rangeID: id }, { duration: "2h" })
      const until = dateOf(answer.stopsAt)
      return until === undefined ? undefined : texts.staysOn(shortTime(until))
    })
  return (
    <section class="card" aria-labelledby="timer">
      <h2 id="timer">{texts.timer}</h2>
      <p>{isNever ? texts.timerOff : texts.timerOn(effective)}</p>
      {stopsAt === undefined ? null : (
        <p>
          {texts.stopsAt} <Time at={stopsAt} />
        </p>
      )}
      {(isNever ? [] : keptAliveBy).map(({ text }) => (
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
    </section>
  )
}
