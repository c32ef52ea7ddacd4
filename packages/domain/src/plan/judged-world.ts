import { isRouter } from "../machine/router.ts"
import { renderName } from "../range/config/index.ts"
import { foreignAddressNote, judgeAddresses } from "../range/render/own-address.ts"
import type { OwnMachine } from "./identify.ts"
import type { DeployInput } from "./input.ts"
import type { PlanWorld } from "./world.ts"

/** The world with only those addresses that are the machines' own, and a note for each machine that claims others. */
export const judgedWorld = (
  { range, config, world }: Pick<DeployInput, "range" | "config" | "world">,
  machines: Iterable<OwnMachine>,
): { readonly world: PlanWorld; readonly notes: readonly string[] } => {
  const judge = judgeAddresses(range, config)
  const routerName = renderName(config.router.name, { rangeId: range.id })
  const judged = [...machines].map(({ observed, mark }) => {
    const seen = world.addresses.get(observed.vmid)
    const reported = [...(seen === undefined ? [] : [seen]), ...(world.foreignAddresses?.get(observed.vmid) ?? [])]
    const router = mark.machine === routerName || isRouter(observed, range.id)
    return { vmid: observed.vmid, name: mark.machine, ...judge({ name: mark.machine, isRouter: router }, reported) }
  })
  return {
    world: {
      ...world,
      addresses: new Map(judged.flatMap(({ vmid, own }) => (own === undefined ? [] : [[vmid, own] as const]))),
    },
    notes: judged.flatMap(({ name, foreign }) => (foreign.length === 0 ? [] : [foreignAddressNote(name, foreign)])),
  }
}
