import { beingTold } from "@rangewright/ports"
import type { StaleRouter } from "../rights/routers.ts"

const people = (numbers: readonly number[]): string =>
  numbers.length === 0 ? "nobody" : `${numbers.length === 1 ? "user number" : "user numbers"} ${numbers.join(", ")}`

/** How a router differs from the store, for people. */
export const routerText = ({ range, letsIn, shouldLetIn }: StaleRouter): string => {
  const known = letsIn.filter((number) => number !== beingTold)
  const lets = known.length === letsIn.length ? "lets in" : "may let in"
  const listed = (numbers: readonly number[]): string => `the router of ${range.id} ${lets} ${people(numbers)}`
  if (known.join() !== shouldLetIn.join()) return `${listed(known)} instead of ${people(shouldLetIn)}`
  // it was rolled back, or is being updated
  return known.length === 0 ? `the router of ${range.id} may still let somebody in` : `${listed(known)} and others`
}
