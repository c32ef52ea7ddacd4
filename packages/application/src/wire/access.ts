import { beingTold } from "@rangewright/ports"
import type { StaleRouter } from "../rights/routers.ts"

const people = (numbers: readonly number[]): string =>
  numbers.length === 0 ? "nobody" : `${numbers.length === 1 ? "user number" : "user numbers"} ${numbers.join(", ")}`

/** What a router still has to learn, for people. */
export const routerText = ({ range, letsIn, shouldLetIn }: StaleRouter): string => {
  const known = letsIn.filter((number) => number !== beingTold)
  const lets = known.length === letsIn.length ? "lets in" : "may let in"
  return `the router of ${range.id} ${lets} ${people(known)} instead of ${people(shouldLetIn)}`
}
