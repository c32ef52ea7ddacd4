import type { AccountId, AccountKeep, RangeId, Vmid } from "@rangewright/domain"
import { type MemoryWorld, writeEntry } from "@rangewright/adapter-memory"
import type { Simulator } from "@rangewright/pve-simulator"
import { asRoot } from "./as-root.ts"

/** What others do with access on the hypervisor, without the adapter, and what they can see of it. */
export interface Others {
  readonly group: (name: string) => Promise<void>
  readonly account: (id: AccountId, password: string) => Promise<void>
  readonly join: (id: AccountId, group: string) => Promise<void>
  readonly right: (id: AccountId, right: AccountKeep["rights"][number]) => Promise<void>
  readonly pool: (id: RangeId) => Promise<void>
  /** Replaces the description of a VM. */
  readonly describe: (node: string, vmid: Vmid, description: string) => Promise<void>
  /** Whether the hypervisor accepts the account's password. */
  readonly letsIn: (id: AccountId, password: string) => Promise<boolean>
}

export const othersOfMemory = (world: MemoryWorld): Others => ({
  group: async (name) => void world.groups.set(name, { ours: false }),
  account: async (id, password) =>
    void world.accounts.set(id, { ours: false, password, groups: new Set(), passwordObstacle: undefined }),
  join: async (id, group) => void world.accounts.get(id)?.groups.add(group),
  right: async (id, right) => writeEntry(world, { ...right, subject: { type: "user", name: id } }),
  pool: async (id) => {
    world.pools.add(id)
    world.othersPools.add(id)
  },
  describe: async (_node, vmid, description) => void world.vms.set(vmid, { ...world.vms.get(vmid)!, description }),
  letsIn: async (id, password) => world.accounts.get(id)?.password === password,
})

const form = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString()

/** `wait`: lets the simulator's time pass until it has answered. */
export const othersOf = (sim: Simulator, wait: <A>(ask: () => Promise<A>) => Promise<A> = (ask) => ask()): Others => {
  const root = async (method: string, path: string, fields: Readonly<Record<string, string>>): Promise<void> =>
    void (await wait(() => asRoot(sim, method, path, form(fields))))
  return {
    group: (groupid) => root("POST", "/access/groups", { groupid }),
    account: (userid, password) => root("POST", "/access/users", { userid, password }),
    join: (id, groups) => root("PUT", `/access/users/${id}`, { groups, append: "1" }),
    right: (users, { path, role, propagate }) =>
      root("PUT", "/access/acl", { path, roles: role, users, propagate: propagate ? "1" : "0" }),
    pool: (poolid) => root("POST", "/pools", { poolid }),
    describe: (node, vmid, description) => root("PUT", `/nodes/${node}/qemu/${vmid}/config`, { description }),
    letsIn: async (username, password) => {
      const answer = await wait(() =>
        sim.handle({
          method: "POST",
          path: "/api2/json/access/ticket",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: form({ username, password }),
        }),
      )
      return answer.status === 200
    },
  }
}
