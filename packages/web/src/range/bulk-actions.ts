import type { ChangeMany, Run } from "@rangewright/application/wire"
import { change, Refusal } from "../api/client.ts"
import { ended } from "../run/ended.ts"
import { bulk as texts } from "../texts/bulk.ts"

export const verbs = ["poweron", "shutdown", "deploy", "snapshot", "rollback"] as const
export type Verb = (typeof verbs)[number]

export const namesSnapshot = (verb: Verb): boolean => verb === "snapshot" || verb === "rollback"

const about = (machine: string | undefined, text: string): string => (machine === undefined ? text : `${machine}: ${text}`)

/** The message for a finished run; if a machine failed it is not a success. */
const outcomeOf = ({ status, message, steps }: Run): string => {
  if (status === "success")
    return [texts.ended, ...steps.flatMap(({ machine, warnings = [] }) => warnings.map((text) => about(machine, text)))].join(
      "\n",
    )
  const failures = steps.flatMap(({ machine, failure }) => (failure === undefined ? [] : [about(machine, failure.message)]))
  throw new Refusal(0, failures.length === 0 ? message : failures.join("\n"))
}

/**
 * Applies an action to each range that the returned function is called for. Calls in the same tick are one request; each range has a run,
 * which continues when this page is closed. `name`: that of the snapshot.
 */
export const doToMany = (verb: Verb, name: string) => {
  let next: { readonly rangeIDs: string[]; readonly answer: Promise<ChangeMany> } | undefined
  const together = (): NonNullable<typeof next> => {
    const rangeIDs: string[] = []
    const send = async (): Promise<ChangeMany> => {
      await Promise.resolve()
      next = undefined
      return change("POST", "/bulk", {}, { action: verb, rangeIDs, ...(namesSnapshot(verb) ? { name } : {}) })
    }
    return { rangeIDs, answer: send() }
  }
  return async (rangeID: string, say: (said: string) => void): Promise<string> => {
    next ??= together()
    next.rangeIDs.push(rangeID)
    const { started = [], errors = [] } = await next.answer
    const begun = started.find((one) => one.rangeID === rangeID)
    if (begun === undefined) throw new Refusal(0, errors.find(({ item }) => item === rangeID)?.reason ?? texts.notBegun)
    say(begun.blockedBy === undefined ? texts.begun : texts.blocked)
    return outcomeOf(await ended(begun.runID))
  }
}
