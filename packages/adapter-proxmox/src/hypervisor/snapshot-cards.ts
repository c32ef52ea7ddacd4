import type { Nic, Vmid } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { recordOf } from "../wire/read.ts"
import { detailOf } from "../wire/vm-config.ts"
import { onItsNode } from "./identity.ts"

/** The network cards that a VM had when the snapshot was taken. */
export const snapshotCards = (
  client: PveClient,
  node: string,
  vmid: Vmid,
  name: string,
): Effect.Effect<readonly Nic[], HypervisorFault> => {
  const doing = `read snapshot ${name} of VM ${vmid}`
  return onItsNode(client, { node, vmid }, doing, (now) =>
    Effect.map(
      client.get(path`/nodes/${now}/qemu/${vmid}/snapshot/${name}/config`, {}, { doing }),
      ({ data }) => detailOf(now, vmid, recordOf(data)).nics,
    ),
  )
}
