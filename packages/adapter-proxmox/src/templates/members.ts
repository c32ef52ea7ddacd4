import { isVmid, type Vmid } from "@rangewright/domain"
import type { HypervisorFault, MadeMachine } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { findPool } from "../access/pools.ts"
import type { PveClient } from "../client/client.ts"
import { readConfig } from "../hypervisor/identity.ts"
import { type Fields, flag, list, nodeIn, number, text } from "../wire/read.ts"

/** A VM, or a container, which builds do not use. */
export type MemberKind = "qemu" | "lxc"

/** Nodes of the VMs and containers in a pool. */
export const placesIn = (
  pool: Fields | undefined,
): readonly { readonly vmid: Vmid; readonly node: string; readonly kind: MemberKind }[] =>
  (pool === undefined ? [] : list(pool, "members")).flatMap((row) => {
    const [vmid, node] = [number(row, "vmid"), nodeIn(row)]
    return vmid !== undefined && isVmid(vmid) && node !== undefined
      ? [{ vmid, node, kind: text(row, "type") === "lxc" ? ("lxc" as const) : ("qemu" as const) }]
      : []
  })

/** The VMs in a pool according to their own configurations: the list of members is seconds late. */
export const membersIn = Effect.fnUntraced(function* (
  client: PveClient,
  poolid: string,
  doing: string,
): Effect.fn.Return<readonly MadeMachine[], HypervisorFault> {
  const found: MadeMachine[] = []
  for (const { vmid, node, kind } of placesIn(yield* findPool(client, poolid, doing))) {
    if (kind === "lxc") continue
    const config = yield* readConfig(client, node, vmid, doing)
    if (config !== undefined) found.push({ vmid, node, name: text(config, "name") ?? "", template: flag(config, "template") })
  }
  return found
})
