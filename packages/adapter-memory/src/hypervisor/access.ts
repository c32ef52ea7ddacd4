import type { RangeId } from "@rangewright/domain"
import { HypervisorAccess, type HypervisorAccount } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { called, hypervisorFault, type MemoryWorld } from "./memory-world.ts"

const nameOf = ({ username, realm }: HypervisorAccount): string => `${username}@${realm}`

export const accessLayer = (world: MemoryWorld): Layer.Layer<HypervisorAccess> => {
  const run = <A>(method: string, mutating: boolean, evaluate: () => A) =>
    called(world, { port: "access", method, mutating, action: undefined }, Effect.sync(evaluate))
  const grantsOf = (poolId: RangeId): ReadonlySet<string> => world.grants.get(poolId) ?? new Set()

  return Layer.succeed(HypervisorAccess, {
    ensureUser: (account, password, { admin }) =>
      run("ensureUser", true, () => {
        world.users.set(nameOf(account), password)
        if (admin) world.admins.add(nameOf(account))
      }),
    setAdmin: (account, admin) =>
      called(
        world,
        { port: "access", method: "setAdmin", mutating: true, action: undefined },
        Effect.suspend(() => {
          const name = nameOf(account)
          if (!admin) world.admins.delete(name)
          else if (!world.users.has(name))
            return Effect.fail(hypervisorFault(`make ${name} an administrator`, "not-found", `there is no user ${name}`))
          else world.admins.add(name)
          return Effect.void
        }),
      ),
    setPassword: (account, password) =>
      called(
        world,
        { port: "access", method: "setPassword", mutating: true, action: undefined },
        Effect.suspend(() => {
          const name = nameOf(account)
          if (!world.users.has(name))
            return Effect.fail(hypervisorFault(`set the password of ${name}`, "not-found", `there is no user ${name}`))
          world.users.set(name, password)
          return Effect.void
        }),
      ),
    removeUser: (account) =>
      run("removeUser", true, () => {
        world.users.delete(nameOf(account))
        world.admins.delete(nameOf(account))
        for (const granted of world.grants.values()) granted.delete(nameOf(account))
      }),
    userExists: (account) => run("userExists", false, () => world.users.has(nameOf(account))),
    poolExists: (poolId) => run("poolExists", false, () => world.pools.has(poolId)),
    ensurePool: (poolId) => run("ensurePool", true, () => void world.pools.add(poolId)),
    removePool: (poolId) =>
      called(
        world,
        { port: "access", method: "removePool", mutating: true, action: undefined },
        Effect.suspend(() => {
          const members = [...world.vms.values()].filter(({ pool }) => pool === poolId)
          if (members.length > 0)
            return Effect.fail(hypervisorFault(`remove pool ${poolId}`, "failed", `it has ${members.length} members`))
          const below = [...world.pools].find((other) => other.startsWith(`${poolId}/`))
          if (below !== undefined)
            return Effect.fail(hypervisorFault(`remove pool ${poolId}`, "not-ours", `the pool ${below} lies below it`))
          world.pools.delete(poolId)
          world.grants.delete(poolId)
          return Effect.void
        }),
      ),
    grant: (poolId, accounts) =>
      run("grant", true, () => void world.grants.set(poolId, new Set([...grantsOf(poolId), ...accounts.map(nameOf)]))),
    granted: (poolId, accounts) =>
      run("granted", false, () => world.grants.has(poolId) && accounts.every((account) => grantsOf(poolId).has(nameOf(account)))),
    revoke: (poolId, accounts) =>
      run("revoke", true, () => {
        const left = new Set(grantsOf(poolId))
        for (const account of accounts) left.delete(nameOf(account))
        world.grants.set(poolId, left)
      }),
    privileges: run("privileges", false, () => new Map<string, boolean>()),
  })
}
