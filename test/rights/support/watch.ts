import type { RangeId } from "@rangewright/domain"
import type { AccessOperation } from "./operations.ts"
import { type Facts, storedFacts, worldFacts } from "./facts.ts"
import { type Answer, call, type Process, type Site } from "./site.ts"

/** Whether an operation may grant this fact, and take it back when it fails. */
const gives = ({ call: asked }: AccessOperation, fact: string): boolean => {
  const named = JSON.stringify(asked).toLowerCase()
  return [...fact.matchAll(/(\w+)@pve/gu)].some(([, user = ""]) => named.includes(`"${user}"`)) || /^(add|assign)/u.test(asked.id)
}

/**
 * Remembers the facts whose removal was acknowledged, and checks after every change of the world that none has come back. A fact that is
 * granted and stored again may return.
 */
export const watchRevocations = (site: Site) => {
  const gone = new Set<string>()
  const undone: string[] = []
  const underWay = new Set<AccessOperation>()
  /** Facts that an operation removed from the store, answering that the hypervisor does not know yet, and that are still there. */
  const pending = new Map<string, AccessOperation>()
  /** Whether `GET /access` shows the router as stale: a refused change may be taken back from it a little later. */
  const isShown = (fact: string): boolean => {
    const [, range = "", name = ""] = /^the router of (\S+) lets (\w+)@pve in$/u.exec(fact) ?? []
    const user = [...site.store.users.values()].find((one) => one.user.hypervisorUsername === name)?.user
    return user !== undefined && site.store.told.get(range as RangeId)?.includes(user.number) === true
  }
  const look = (): void => {
    if (gone.size + pending.size === 0) return
    const [stored, real] = [storedFacts(site), worldFacts(site)]
    for (const fact of pending.keys()) if (stored.has(fact) || !real.has(fact)) pending.delete(fact)
    for (const fact of gone)
      if (stored.has(fact)) gone.delete(fact)
      else if (real.has(fact) && !isShown(fact)) undone.push(`came back after success: ${fact}`)
  }
  site.watch = look
  return {
    undone: undone as readonly string[],
    /** Unanswered operations. They account for what they removed from the store, and for what they granted and take back. */
    underWay,
    promise: (operation: AccessOperation, before: Facts, takes: (fact: string) => boolean): void => {
      const stored = storedFacts(site)
      const isOthers = (fact: string): boolean =>
        [...underWay].some((other) => (other.takes === undefined ? gives(other, fact) : other.takes(fact))) ||
        (pending.has(fact) && pending.get(fact) !== operation)
      for (const fact of before) if (takes(fact) && !stored.has(fact) && !isOthers(fact)) gone.add(fact)
      look()
    },
    leavePending: (operation: AccessOperation, before: Facts): void => {
      const stored = storedFacts(site)
      for (const fact of before) if (operation.takes?.(fact) === true && !stored.has(fact)) pending.set(fact, operation)
      look()
    },
  }
}
export type Watch = ReturnType<typeof watchRevocations>

const refusesAll = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "errors" in value && !("success" in value)

/** Whether the answer acknowledges the change. Bulk operations also answer 200 when they refuse every item. */
export const isDone = (answer: Answer | undefined): boolean => answer?.ok === true && !refusesAll(answer.value)

/** Performs an operation and checks afterwards that its answer holds. */
export const perform = async (process: Process, operation: AccessOperation, watch: Watch): Promise<Answer | undefined> => {
  const before = storedFacts(process.site)
  const { takes } = operation
  watch.underWay.add(operation)
  const answer = await call(process, operation.call)
  watch.underWay.delete(operation)
  if (!isDone(answer)) watch.leavePending(operation, before)
  if (!isDone(answer) || takes === undefined) return answer
  // some answers say that routers are not updated yet
  const spares = JSON.stringify(answer).includes("the routers of")
  watch.promise(operation, before, (fact) => takes(fact) && !(spares && fact.startsWith("the router")))
  return answer
}
