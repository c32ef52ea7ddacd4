import { type ReadonlySignal, useSignal } from "@preact/signals"
import { Refusal } from "../api/client.ts"
import { refresh } from "../api/resource.ts"
import { untell } from "../router.ts"
import { t } from "../texts.ts"
import { State, Text, type Tone, WithWays } from "./parts.tsx"

/** One of many tasks: `act` returns the final message, and may report progress. */
export interface Task {
  readonly key: string
  readonly act: (say: (said: string) => void) => Promise<string>
}

type Phase = "waiting" | "doing" | "done" | "failed"

interface Row {
  readonly task: Task
  readonly phase: Phase
  readonly said: string
}

/** The result of each task. Failures do not keep the others from being done. */
export interface Bulk {
  readonly rows: ReadonlySignal<readonly Row[]>
  readonly isBusy: boolean
  readonly start: (tasks: readonly Task[]) => Promise<void>
  readonly retry: () => Promise<void>
  readonly clear: () => void
}

/** `atOnce`: for tasks that hold a connection each, of which the browser has six. */
export const useBulk = (atOnce = 3): Bulk => {
  const rows = useSignal<readonly Row[]>([])
  const set = (key: string, phase: Phase, said = ""): void => {
    rows.value = rows.peek().map((row) => (row.task.key === key ? { ...row, phase, said } : row))
  }
  const doAll = async (tasks: readonly Task[]): Promise<void> => {
    const left = tasks.values()
    const work = async (): Promise<void> => {
      for (const { key, act } of left) {
        set(key, "doing")
        try {
          set(key, "done", await act((said) => set(key, "doing", said)))
        } catch (error) {
          const { message, hint } = error instanceof Refusal ? error : new Refusal(0, String(error))
          set(key, "failed", hint === undefined ? message : `${message}\n${hint}`)
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, tasks.length) }, work))
    refresh()
  }
  return {
    rows,
    isBusy: rows.value.some(({ phase }) => phase === "waiting" || phase === "doing"),
    start: (tasks) => {
      untell()
      rows.value = tasks.map((task) => ({ task, phase: "waiting", said: "" }))
      return doAll(tasks)
    },
    retry: () => {
      const failed = rows.peek().filter(({ phase }) => phase === "failed")
      for (const { task } of failed) set(task.key, "waiting")
      return doAll(failed.map(({ task }) => task))
    },
    clear: () => (rows.value = []),
  }
}

const tones: Readonly<Record<Phase, Tone>> = { waiting: "quiet", doing: "busy", done: "ok", failed: "bad" }

/** The result of each task, failed ones first. */
export const BulkReport = ({
  bulk,
  title,
  closes = true,
}: {
  readonly bulk: Bulk
  readonly title: string
  /** False where it belongs to something that is closed as a whole. */
  readonly closes?: boolean
}) => {
  const rows = bulk.rows.value
  if (rows.length === 0) return null
  const of = (phase: Phase): number => rows.filter((row) => row.phase === phase).length
  const failed = of("failed")
  return (
    <section class="card bulk" aria-labelledby="bulk">
      <div class="summary">
        <h2 id="bulk">{title}</h2>
        <p role="status" class="muted">
          {t.bulk.summary(of("done"), failed, rows.length)}
        </p>
        <div class="actions">
          {failed > 0 && !bulk.isBusy ? (
            <button type="button" class="small" onClick={() => void bulk.retry()}>
              {t.bulk.retry(failed)}
            </button>
          ) : null}
          {closes ? (
            <button type="button" class="small" disabled={bulk.isBusy} onClick={bulk.clear}>
              {t.close}
            </button>
          ) : null}
        </div>
      </div>
      <ul class="plain lines">
        {rows
          .toSorted((a, b) => Number(b.phase === "failed") - Number(a.phase === "failed"))
          .map(({ task: { key }, phase, said }) => (
            <li key={key}>
              <strong>
                <Text>{key}</Text>
              </strong>
              <span class="said">
                <WithWays>{said}</WithWays>
              </span>
              <State tone={tones[phase]}>{t.bulk.phases[phase]}</State>
            </li>
          ))}
      </ul>
    </section>
  )
}
