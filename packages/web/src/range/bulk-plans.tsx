import type { Plan } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { read, Refusal } from "../api/client.ts"
import { State, Text } from "../parts/parts.tsx"
import { bulk as texts } from "../texts/bulk.ts"
import { planSummary } from "./plan-summary.ts"

/** Concurrent plans: the browser has six connections. */
const atOnce = 3

interface Planned {
  readonly state: keyof typeof tones
  readonly said: string
}

const tones = { planning: "busy", nothing: "quiet", changes: "warn", refused: "bad" } as const
const notYet: Planned = { state: "planning", said: "" }

const planOf = async (rangeID: string, signal: AbortSignal): Promise<Planned> => {
  try {
    const plan = await read<Plan>("/range/plan", { rangeID }, signal)
    return plan.steps.length === 0 ? { state: "nothing", said: "" } : { state: "changes", said: planSummary(plan) }
  } catch (error) {
    return { state: "refused", said: error instanceof Refusal ? error.message : String(error) }
  }
}

/** What a deploy would do to each of these ranges, or why it would be refused. */
export const BulkPlans = ({ ids }: { readonly ids: readonly string[] }) => {
  const planned = useSignal<ReadonlyMap<string, Planned>>(new Map())
  useEffect(() => {
    const left = new AbortController()
    const rest = ids.values()
    const work = async (): Promise<void> => {
      for (const id of rest) {
        const one = await planOf(id, left.signal)
        if (left.signal.aborted) return
        planned.value = new Map([...planned.peek(), [id, one]])
      }
    }
    planned.value = new Map()
    for (let n = 0; n < atOnce; n++) void work()
    return () => left.abort()
  }, [ids.join("\n")])
  return (
    <ul class="plain lines" aria-busy={planned.value.size < ids.length} aria-label={texts.plans}>
      {ids.map((id) => {
        const { state, said } = planned.value.get(id) ?? notYet
        return (
          <li key={id}>
            <strong>
              <Text>{id}</Text>
            </strong>
            <span class="said">
              <Text>{said}</Text>
            </span>
            <State tone={tones[state]}>{texts.planned[state]}</State>
          </li>
        )
      })}
    </ul>
  )
}
