import type { AccountId, RangeId, RunId, Vmid } from "@rangewright/domain"
import { type BuildAccount, HypervisorTemplates, type NamedMachine } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { called, changeVm, hypervisorFault, type MemoryVm, type MemoryWorld } from "./memory-world.ts"

const sharedPool = "SHARED"
const poolOf = (id: RunId): RangeId => `rw-build-${id}` as RangeId
const accountOf = (id: RunId): AccountId => `build-${id}@pve` as AccountId
const poolPattern = /^rw-build-([a-z0-9]{15})$/u
const accountPattern = /^build-([a-z0-9]{15})@pve$/u

const inPool = (world: MemoryWorld, id: RunId): readonly MemoryVm[] =>
  [...world.vms.values()].filter(({ pool }) => pool === poolOf(id))

const clonesOf = (world: MemoryWorld, vmid: Vmid): readonly NamedMachine[] =>
  [...world.vms.values()].flatMap((vm) => (vm.clonedFrom === vmid ? [{ vmid: vm.vmid, name: vm.name }] : []))

const text = ({ vmid, name }: NamedMachine): string => `template ${name} (VM ${vmid})`

export const templatesLayer = (world: MemoryWorld): Layer.Layer<HypervisorTemplates> => {
  let opened = 0
  const call = <A>(method: string, mutating: boolean, effect: Effect.Effect<A, ReturnType<typeof hypervisorFault>>) =>
    called(world, { port: "templates", method, mutating, action: undefined }, effect)
  const open = (id: RunId): BuildAccount => {
    opened += 1
    const secret = Redacted.make(`secret-${opened}-of-${id}`)
    world.pools.add(poolOf(id))
    // reconciling users' access must leave it alone
    world.othersPools.add(poolOf(id))
    world.accounts.set(accountOf(id), {
      ours: false,
      password: Redacted.value(secret),
      groups: new Set(),
      passwordObstacle: undefined,
    })
    const username = accountOf(id)
    return {
      username,
      password: secret,
      tokenId: `${username}!build`,
      tokenSecret: Redacted.make(`token-${opened}-of-${id}`),
      pool: poolOf(id),
    }
  }
  return Layer.succeed(HypervisorTemplates, {
    open: (id) =>
      call(
        "open",
        true,
        Effect.sync(() => open(id)),
      ),
    made: (id) =>
      call(
        "made",
        false,
        Effect.sync(() => inPool(world, id).map(({ vmid, name, node, template }) => ({ vmid, name, node, template }))),
      ),
    adopt: (id, wanted) =>
      call(
        "adopt",
        true,
        Effect.suspend(() => {
          const doing = `publish the ${text(wanted)}`
          const vm = world.vms.get(wanted.vmid)
          if (vm?.name !== wanted.name || !vm.template || (vm.pool !== poolOf(id) && vm.pool !== sharedPool))
            return Effect.fail(hypervisorFault(doing, "not-ours", "it is not what the build made"))
          const other = [...world.vms.values()].find(
            ({ vmid, name, template, pool }) => vmid !== vm.vmid && name === vm.name && template && pool === sharedPool,
          )
          if (other !== undefined)
            return Effect.fail(hypervisorFault(doing, "taken", `VM ${other.vmid} is a template of this name`))
          changeVm(world, vm.vmid, { pool: sharedPool })
          return Effect.void
        }),
      ),
    close: (id) =>
      call(
        "close",
        true,
        Effect.sync(() => {
          for (const { vmid } of inPool(world, id)) world.vms.delete(vmid)
          world.pools.delete(poolOf(id))
          world.othersPools.delete(poolOf(id))
          world.accounts.delete(accountOf(id))
        }),
      ),
    opened: call(
      "opened",
      false,
      Effect.sync(() => [
        ...new Set(
          [
            ...[...world.pools].map((pool) => poolPattern.exec(pool)?.[1]),
            ...[...world.accounts.keys()].map((account) => accountPattern.exec(account)?.[1]),
          ].filter((id) => id !== undefined) as RunId[],
        ),
      ]),
    ),
    clones: ({ vmid }) =>
      call(
        "clones",
        false,
        Effect.sync(() => clonesOf(world, vmid)),
      ),
    remove: (template) =>
      call(
        "remove",
        true,
        Effect.suspend(() => {
          const doing = `remove the ${text(template)}`
          const vm = world.vms.get(template.vmid)
          if (vm === undefined) return Effect.void
          if (!vm.template || vm.name !== template.name)
            return Effect.fail(hypervisorFault(doing, "not-ours", "the VM of this number is another one"))
          if (clonesOf(world, vm.vmid).length > 0) return Effect.fail(hypervisorFault(doing, "locked", "clones need its disks"))
          world.vms.delete(vm.vmid)
          return Effect.void
        }),
      ),
  })
}
