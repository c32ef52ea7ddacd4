import { notesTooLong } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { path } from "../client/form.ts"
import { HypervisorFault, type MachineAction } from "@rangewright/ports"
import { recordOf } from "../wire/read.ts"
import { settingsChange } from "../wire/vm-config.ts"
import { ensureHiddenModel, hiddenCpu } from "./disguise-means.ts"
import { movedAway } from "./identity.ts"
import type { MachineKind, Started } from "./machine-kind.ts"

export type ConfigureAction = Extract<MachineAction, { readonly kind: "configure" }>

const word = /^[A-Za-z0-9_.:-]+$/u

const cpuWord = /^[A-Za-z0-9][A-Za-z0-9_.,=+;-]*$/u
/** Vendor and product of a disk; its model and serial number are encoded. */
const diskWord = /^[A-Za-z0-9_ -]{1,16}$/u

const badHardware = ({ hardware }: ConfigureAction["settings"]): string | undefined => {
  if (hardware?.cpu !== undefined && !cpuWord.test(hardware.cpu))
    return `the processor has a value that cannot be written: ${hardware.cpu}`
  const disk = hardware?.disks.find(({ vendor = "-", product = "-" }) => !diskWord.test(vendor) || !diskWord.test(product))
  return disk && `disk ${disk.slot} has a value that cannot be written: ${disk.vendor ?? ""} ${disk.product ?? ""}`
}

/** Checks values that are written into a property string: a comma in one would set other properties. */
const checked = (action: ConfigureAction, doing: string): Effect.Effect<void, HypervisorFault> => {
  const hardware = badHardware(action.settings)
  if (hardware !== undefined) return Effect.fail(new HypervisorFault({ doing, reason: "invalid", detail: hardware }))
  const bad = action.settings.nics.find((nic) => !word.test(nic.bridge) || !word.test(nic.model) || !word.test(nic.mac))
  if (bad === undefined) return Effect.void
  return Effect.fail(
    new HypervisorFault({
      doing,
      reason: "invalid",
      detail: `network card ${bad.index} has a value that cannot be written: ${bad.bridge}`,
    }),
  )
}

/**
 * Applies the settings to a VM's configuration in one call, guarded by the digest of what was compared. Makes no call when nothing differs.
 */
export const configure: MachineKind<ConfigureAction> = {
  dispatch: Effect.fnUntraced(function* (context, action): Effect.fn.Return<Started, HypervisorFault> {
    const doing = `configure VM ${action.machine.vmid} (${action.machine.mark.machine})`
    yield* checked(action, doing)
    const found = yield* context.identity.verify(action.machine, doing)
    if (found === undefined)
      return yield* new HypervisorFault({ doing, reason: "not-found", detail: `VM ${action.machine.vmid} does not exist` })
    const change = settingsChange(recordOf(found.config), action.settings)
    if (change === undefined) return "done"
    const tooLong = notesTooLong(action.machine.vmid, String(change["description"] ?? ""))
    if (tooLong !== undefined) return yield* new HypervisorFault({ doing, reason: "invalid", ...tooLong })
    if (action.settings.hardware?.cpu === hiddenCpu) yield* ensureHiddenModel(context.client, doing)
    const put = context.client.put(path`/nodes/${found.node}/qemu/${action.machine.vmid}/config`, change, { doing })
    yield* movedAway(doing, found.node)(put)
    return "done"
  }),
  settle: () => Effect.void,
}
