import type { MachineDetail } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { flag, text } from "../wire/read.ts"
import { detailOf } from "../wire/vm-config.ts"
import { onItsNode, readConfig } from "./identity.ts"

// Proxmox returns descriptions with a trailing newline
const same = (a: string, b: string): boolean => a.trim() === b.trim()

/** Replaces the description that was read; the digest makes the call fail when somebody changes the VM in between. */
export const adopt = Effect.fnUntraced(function* (
  client: PveClient,
  vm: Pick<MachineDetail, "vmid" | "node" | "name" | "description">,
  description: string,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `adopt VM ${vm.vmid} (${vm.name})`
  yield* onItsNode(client, vm, doing, (node) =>
    Effect.gen(function* () {
      const config = yield* readConfig(client, node, vm.vmid, doing)
      if (config === undefined)
        return yield* new HypervisorFault({ doing, reason: "not-found", detail: `there is no VM ${vm.vmid} on node ${node}` })
      const now = detailOf(node, vm.vmid, config)
      if (now.name === vm.name && same(now.description, description)) return
      if (flag(config, "template") || now.name !== vm.name || !same(now.description, vm.description))
        return yield* new HypervisorFault({
          doing,
          reason: "not-ours",
          detail: `VM ${vm.vmid} on node ${node} (${text(config, "name") ?? "no name"}) is not the one that was read`,
        })
      const digest = now.digest === undefined ? {} : { digest: now.digest }
      yield* client.put(path`/nodes/${node}/qemu/${vm.vmid}/config`, { description, ...digest }, { doing })
    }),
  )
})
