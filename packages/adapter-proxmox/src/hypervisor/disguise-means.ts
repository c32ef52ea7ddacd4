import type { DisguiseMeans } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { has } from "../access/faults.ts"
import type { PveClient } from "../client/client.ts"
import { child, type Fields, flag, recordOf, rows, text } from "../wire/read.ts"

const model = "rangewright-bare"

/** CPU type of disguised VMs, as their option names it. */
export const hiddenCpu = `custom-${model}`

/**
 * The node's own CPU without the flag and the names that reveal a hypervisor. A VM's own option accepts no such flags: they need a CPU
 * model, which Proxmox supports since 9.2.
 */
const wanted = { "reported-model": "host", flags: "-hypervisor", hidden: true, "hv-vendor-id": "GenuineIntel" } as const

/** What every Proxmox version can do: it hides the names but not the flag. */
const withoutModel = "host,hidden=1"

const models = "/cluster/qemu/custom-cpu-models"

const isAsWanted = (found: Fields): boolean =>
  text(found, "reported-model") === wanted["reported-model"] &&
  (text(found, "flags") ?? "").split(";").includes(wanted.flags) &&
  flag(found, "hidden")

type Model = { readonly cpu: string; readonly lacks?: string }

const fallBack = (because: string): Model => ({
  cpu: withoutModel,
  lacks: `the processor still shows that it is virtual: ${because}`,
})

const privilegesOn = (client: PveClient, path: string, doing: string): Effect.Effect<Fields, HypervisorFault> =>
  Effect.map(client.get("/access/permissions", { path }, { doing }), (reply) => child(recordOf(reply.data), path))

const cpuOf = Effect.fnUntraced(function* (client: PveClient, doing: string): Effect.fn.Return<Model, HypervisorFault> {
  const listed = yield* client.get(models, {}, { doing }).pipe(
    Effect.map((reply) => rows(reply.data)),
    Effect.catchIf(has("invalid"), () => Effect.succeed(undefined)),
  )
  if (listed === undefined) return fallBack("only Proxmox 9.2 and later support custom processor models. Upgrade Proxmox")
  const found = listed.find((row) => text(row, "cputype") === hiddenCpu)
  const path = `/mapping/cpu/${model}`
  const held = yield* privilegesOn(client, path, doing)
  const needed = found === undefined ? ["Mapping.Modify", "Mapping.Use"] : ["Mapping.Use"]
  const missing = needed.filter((privilege) => !Object.hasOwn(held, privilege))
  if (missing.length > 0)
    return fallBack(`the service lacks ${missing.join(" and ")} on /mapping/cpu. Give its account these privileges there`)
  return found === undefined || isAsWanted(found)
    ? { cpu: hiddenCpu }
    : fallBack(`somebody has changed the processor model ${model}. Remove it: it is created again when it is needed`)
})

/** What this hypervisor can do to hide that a VM is one. */
export const disguiseMeans = (client: PveClient): Effect.Effect<DisguiseMeans, HypervisorFault> =>
  Effect.gen(function* () {
    const doing = "find out how machines can be disguised"
    const { cpu, lacks } = yield* cpuOf(client, doing)
    const disks = Object.hasOwn(yield* privilegesOn(client, "/vms", doing), "VM.Config.Disk")
    return {
      cpu,
      disks,
      lacks: [
        ...(lacks === undefined ? [] : [lacks]),
        ...(disks
          ? []
          : ["disks still show QEMU's names: the service lacks VM.Config.Disk on /vms. Give its account this privilege there"]),
      ],
    }
  })

/** Creates the model if it does not exist. One that somebody else creates at the same time is as good. */
export const ensureHiddenModel = (client: PveClient, doing: string): Effect.Effect<void, HypervisorFault> =>
  Effect.gen(function* () {
    const known = rows((yield* client.get(models, {}, { doing })).data)
    if (known.some((row) => text(row, "cputype") === hiddenCpu)) return
    yield* client.post(models, { cputype: model, ...wanted }, { doing }).pipe(Effect.catchIf(has("taken"), () => Effect.void))
  })
