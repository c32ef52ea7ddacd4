import type { RunEvent } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { Refusal } from "../api/client.ts"
import { follow } from "../api/events.ts"
import { count, longTime } from "../parts/format.ts"
import { memo } from "../parts/memo.ts"
import { mayCommand } from "../parts/keys.ts"
import { Icon } from "../parts/icon.tsx"
import { Refused } from "../parts/parts.tsx"
import { place, setQuery } from "../router.ts"
import { t } from "../texts.ts"
import { spansOf } from "./ansi.ts"
import { Log } from "./log.ts"

const rowHeight = 20
const beyond = 20
const longest = 4_000

/** Reads a run's events into a log while the component is mounted. */
const useLog = (runId: string) => {
  const log = useMemo(() => new Log(), [runId])
  const isBroken = useSignal(false)
  /** Why the service does not send the log: asking again by itself would not help. */
  const refusal = useSignal<Refusal | undefined>(undefined)
  const asked = useSignal(0)
  useEffect(() => {
    let isGone = false
    let stop = new AbortController()
    let isReading = false
    refusal.value = undefined
    const read = async (): Promise<void> => {
      if (isReading || refusal.peek() !== undefined) return
      isReading = true
      while (!isGone && !document.hidden) {
        stop = new AbortController()
        let hasEnded = false
        try {
          await follow(
            `/api/v2/runs/${encodeURIComponent(runId)}/events`,
            String(log.seq),
            stop.signal,
            (events) => {
              const told = events.map(({ data }) => data as RunEvent)
              log.take(told)
              hasEnded ||= told.some(({ type }) => type === "Ended")
            },
            () => (isBroken.value = false),
          )
          // a finished run has no more events
          if (hasEnded) return
        } catch (error) {
          if (error instanceof Refusal && error.status >= 400 && error.status < 500) {
            refusal.value = error
            isBroken.value = false
            break
          }
          isBroken.value = !isGone && !document.hidden
        }
        await new Promise((resolve) => setTimeout(resolve, 1_500))
      }
      isReading = false
    }
    const onVisible = (): void => {
      if (document.hidden) stop.abort()
      else void read()
    }
    document.addEventListener("visibilitychange", onVisible)
    void read()
    return () => {
      isGone = true
      stop.abort()
      document.removeEventListener("visibilitychange", onVisible)
    }
  }, [runId, asked.value])
  return { log, isBroken: isBroken.value, refusal: refusal.value, retry: () => void (asked.value += 1) }
}

/** The lines that contain this text. When lines are added, only those are searched. */
const useFound = (log: Log, wanted: string): readonly number[] => {
  const held = useRef({ log, wanted, upTo: 0, found: [] as readonly number[] })
  if (held.current.log !== log || held.current.wanted !== wanted) held.current = { log, wanted, upTo: 0, found: [] }
  const { upTo, found } = held.current
  if (upTo < log.length) {
    const more = log.find(wanted, upTo)
    held.current = { log, wanted, upTo: log.length, found: more.length === 0 ? found : [...found, ...more] }
  }
  return held.current.found
}

const Line = memo(({ log, at, isMatch }: { readonly log: Log; readonly at: number; readonly isMatch: boolean }) => {
  const isOpen = useSignal(false)
  const raw = log.text[at] ?? ""
  const left = raw.length - longest
  const shown = left > 0 && !isOpen.value ? raw.slice(0, longest) : raw
  return (
    <div class={`line ${log.kinds[at] ?? "output"}${isMatch ? " match" : ""}`} style={{ top: `${at * rowHeight}px` }}>
      <a class="number" href={`#L${at + 1}`} title={longTime(new Date(log.times[at] ?? 0))}>
        {at + 1}
      </a>
      <span class="text">
        {spansOf(shown).map(({ text, look }, index) => (
          <span key={index} class={look === "" ? undefined : look}>
            {text}
          </span>
        ))}
        {left > 0 && !isOpen.value ? (
          <button type="button" class="as-link" onClick={() => (isOpen.value = true)}>
            {t.log.cut(left)} {t.log.showAll}
          </button>
        ) : null}
      </span>
    </div>
  )
})

/** The line named in the address. */
const namedLine = (): number | undefined => {
  const mark = /^L(\d{1,9})$/u.exec(place.value.mark)
  return mark === null ? undefined : Number(mark[1]) - 1
}

export const LogView = ({ runId }: { readonly runId: string }) => {
  const { log, isBroken, refusal, retry } = useLog(runId)
  const frame = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const top = useSignal(0)
  const height = useSignal(600)
  const named = namedLine()
  const following = useSignal(named === undefined)
  const wanted = useSignal("")
  const chosen = useSignal(named)
  /** The line named in the address, until it has arrived. */
  const pending = useRef(named)
  /** Whether the address asks for the first error. */
  const seeksError = place.value.query.get("at") === "error"
  const version = log.version.value
  const found = useFound(log, wanted.value)

  const show = (at: number): void => {
    following.value = false
    chosen.value = at
    const element = frame.current
    if (element !== null) element.scrollTop = Math.max(0, at * rowHeight - element.clientHeight / 3)
  }
  const step = (list: readonly number[], by: 1 | -1): void => {
    if (list.length === 0) return
    const from = chosen.peek() ?? (by === 1 ? -1 : log.length)
    const next = by === 1 ? (list.find((at) => at > from) ?? list[0]) : (list.findLast((at) => at < from) ?? list.at(-1))
    if (next !== undefined) show(next)
  }
  const toEnd = (): void => {
    following.value = true
    chosen.value = undefined
    const element = frame.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }

  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(() => (height.value = element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (!seeksError || log.errors.length === 0) return
    chosen.value = undefined
    step(log.errors, 1)
    // the same link leads there again
    setQuery({ at: undefined })
  }, [seeksError, version])
  useEffect(() => {
    if (named === undefined) return
    following.value = false
    chosen.value = named
    pending.current = named
  }, [named])
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    if (following.value) element.scrollTop = element.scrollHeight
    else if (pending.current !== undefined && element.scrollHeight > pending.current * rowHeight) {
      const line = pending.current * rowHeight
      // a line that was clicked stays where it is
      if (line < element.scrollTop || line > element.scrollTop + element.clientHeight - rowHeight) show(pending.current)
      pending.current = undefined
    }
  }, [version, named])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!mayCommand(event)) return
      if (event.key === "e") step(log.errors, 1)
      else if (event.key === "n") step(found, 1)
      else if (event.key === "N") step(found, -1)
      else if (event.key === "G") toEnd()
      else return
      event.preventDefault()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [log, found])

  const from = Math.max(0, Math.floor(top.value / rowHeight) - beyond)
  const to = Math.min(log.length, Math.ceil((top.value + height.value) / rowHeight) + beyond)
  const at = found.indexOf(chosen.value ?? -1)
  return (
    <section class="log" aria-label={t.log.label}>
      <div class="filters">
        <input
          ref={field}
          type="search"
          aria-label={t.log.find}
          placeholder={t.log.find}
          onInput={({ currentTarget }) => {
            wanted.value = currentTarget.value
            chosen.value = undefined
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") step(found, event.shiftKey ? -1 : 1)
          }}
        />
        {wanted.value === "" ? null : (
          <>
            <span class="muted" role="status">
              {t.log.matches(at + 1, found.length)}
            </span>
            <button type="button" class="small" aria-label={t.log.previous} onClick={() => step(found, -1)}>
              ↑
            </button>
            <button type="button" class="small" aria-label={t.log.next} onClick={() => step(found, 1)}>
              ↓
            </button>
          </>
        )}
        <span class="gap" />
        {log.errors.length === 0 ? null : (
          <button type="button" class="small bad" onClick={() => step(log.errors, 1)} title={t.log.nextError}>
            {t.log.errors(log.errors.length)}
          </button>
        )}
        <span class="muted">{t.log.lines(count(log.length))}</span>
        <label class="check">
          <input
            type="checkbox"
            checked={following.value}
            onChange={({ currentTarget }) => {
              if (currentTarget.checked) toEnd()
              else following.value = false
            }}
          />
          {t.log.follow}
        </label>
        <a class="button small" href={`/api/v2/runs/${encodeURIComponent(runId)}/log?download=true`} download>
          <Icon name="down" />
          {t.log.download}
        </a>
      </div>
      {isBroken ? <p class="offline">{t.log.broken}</p> : null}
      {refusal === undefined ? null : <Refused refusal={refusal} retry={retry} />}
      <div
        class="lines-frame"
        ref={frame}
        // allows scrolling with the arrow keys, without a mouse
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t.log.label}
        onScroll={({ currentTarget }) => {
          const { scrollTop } = currentTarget
          // added lines move the end further away: only scrolling up stops following it
          if (scrollTop < top.peek()) following.value = false
          top.value = scrollTop
        }}
      >
        <div class="lines-all" style={{ height: `${log.length * rowHeight}px` }}>
          {log.length === 0 ? <p class="muted">{t.log.empty}</p> : null}
          {Array.from({ length: Math.max(0, to - from) }, (_, index) => (
            <Line key={from + index} log={log} at={from + index} isMatch={chosen.value === from + index} />
          ))}
        </div>
      </div>
    </section>
  )
}
