import type { Vmid } from "../access/ids.ts"
import type { Step } from "./plan.ts"

/** Why one of the requested machines is left as it is. */
export interface Refusal {
  readonly vmid: Vmid
  /** Undefined: it does not belong to the range. */
  readonly machine: string | undefined
  readonly because: string
}

/** The step that reports a refusal: it fails, and the others are carried out. */
export const refusalStep = ({ vmid, machine, because }: Refusal): Step => ({
  key: `refuse:${vmid}`,
  title: `Check ${machine ?? `VM ${vmid}`}`,
  tag: undefined,
  machine,
  action: { kind: "refuse", vmid, because },
  after: [],
  uses: [],
  estimate: 0,
  tolerated: true,
})
