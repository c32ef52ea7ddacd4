import type { Vmid } from "../access/ids.ts"
import type { Step } from "./plan.ts"

/** Why one of the machines that were asked for is left as it is. */
export interface Refusal {
  readonly vmid: Vmid
  /** Undefined: it is none of the range's. */
  readonly machine: string | undefined
  readonly because: string
}

/** The step that says so: it fails, and the others are carried out. */
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
