import { newGuest, newIdentity, toTemplate } from "./new-guest.ts"
import { randomMac } from "./random.ts"
import type { GuestOs } from "./state.ts"
import type { TemplateSpec } from "./template-names.ts"
import { allocate } from "./volumes.ts"
import type { World } from "./world.ts"

const GIB = 1024 ** 3

/**
 * Puts templates on the first node's guest storage (shared in a cluster), each with the first free VMID from `firstVmid` on. Skips names
 * that a template there already has.
 */
export const buildTemplates = (world: World, templates: readonly TemplateSpec[], firstVmid: number): void => {
  const home = [...world.state.nodes.keys()][0]!
  const disks = world.state.storages.get("vmstore") ?? world.state.storages.get("local-lvm")!
  const there = new Set(
    [...world.state.guests.values()].flatMap(({ config }) => (config["template"] === 1 ? [config["name"]] : [])),
  )
  let vmid = firstVmid
  for (const spec of templates) {
    if (there.has(spec.name)) continue
    while (world.state.guests.has(vmid)) vmid += 1
    const volume = allocate(world, {
      storage: disks,
      node: home,
      vmid,
      sizeBytes: spec.diskGib * GIB,
      usedBytes: spec.usedGib * GIB,
      format: "raw",
      purpose: "disk",
    })
    const guest = newGuest(world, vmid, home, {
      name: spec.name,
      agent: "1",
      boot: "order=virtio0;net0",
      cores: spec.cores,
      cpu: "host",
      description: "",
      memory: String(spec.memoryMb),
      net0: `virtio=${randomMac(world.state.random, String(world.state.options["mac_prefix"] ?? "BC:24:11"))},bridge=vmbr1000`,
      ostype: spec.ostype,
      scsihw: "virtio-scsi-single",
      virtio0: `${volume.volid},discard=on,iothread=1,size=${spec.diskGib}G`,
      ...newIdentity(world),
    })
    guest.os = systemOf(spec)
    guest.changedAt = 0
    toTemplate(world, guest)
    world.state.guests.set(vmid, guest)
    world.state.pools.get("SHARED")?.vms.add(vmid)
  }
}

const systemOf = (spec: TemplateSpec): GuestOs => ({
  family: spec.os.family,
  prettyName: spec.os.prettyName,
  id: spec.os.id,
  version: spec.os.version,
  hostname: spec.name,
  users: [spec.os.user],
  sessions: [],
  addresses: {},
  stages: {},
  roles: [],
  applied: {},
  files: {},
})
