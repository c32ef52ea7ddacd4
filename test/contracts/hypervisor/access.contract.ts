import {
  type AccessChange,
  type AccessPlace,
  type AccountId,
  type AccountKeep,
  adminGroup,
  foundRights,
  groupOfAccount,
  nothingKept,
  placeAt,
  type RangeId,
  rolesAt,
  userGroup,
} from "@rangewright/domain"
import { HypervisorAccess, NetworkMigration, type NetworkMigrationAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import {
  cloneOf,
  deleteOf,
  type HypervisorPorts,
  type HypervisorUnderTest,
  onWorld,
  perform,
  rangeId,
  reasonOf,
  refOf,
  vmidOf,
  type World,
} from "./support/under-test.ts"

const bob = "bob@pve" as AccountId
const eve = "eve@pve" as AccountId
const first = "correct horse battery"
const second = "another good one"
const pool: AccessPlace = { type: "pool", rangeId }
const vnet: AccessPlace = { type: "vnet", zone: "ludus", name: "r7" }
const groupsOf = (account: AccountId): readonly string[] => [userGroup, groupOfAccount(account)]

const apply = (change: AccessChange, password = first) =>
  HypervisorAccess.use((access) => access.apply(change, Redacted.make(password)))
const observe = HypervisorAccess.use((access) => access.observe(undefined))
const makeGroup = (group: string) => apply({ kind: "create-group", group })
const makeAccount = (account: AccountId, keep: AccountKeep = nothingKept, password = first) =>
  apply({ kind: "create-account", account, groups: groupsOf(account), keep }, password)
const setPassword = (account: AccountId, keep: AccountKeep = nothingKept) =>
  apply({ kind: "set-password", account, groups: groupsOf(account), keep }, second)
const grant = (place: AccessPlace, ...accounts: readonly AccountId[]) =>
  apply({ kind: "grant", place, groups: accounts.map(groupOfAccount) })

/** Bob and Eve, with their groups. */
const people = Effect.gen(function* () {
  for (const group of [userGroup, adminGroup, groupOfAccount(bob), groupOfAccount(eve)]) yield* makeGroup(group)
  yield* makeAccount(bob)
  yield* makeAccount(eve)
})

const accountOf = async (world: World, account: AccountId) => {
  const found = (await world.run(observe)).accounts.get(account)
  return (
    found && { ours: found.ours, groups: found.groups.toSorted(), keep: { ...found.keep, groups: found.keep.groups.toSorted() } }
  )
}
/** The subjects with rights at a path, and whether the service granted all of these. */
const rightsOf = async (world: World) =>
  [...foundRights((await world.run(observe)).rights).values()]
    .map(({ path, subject, roles }) => {
      const place = placeAt(path)
      const granted = place === undefined ? [] : rolesAt(place)
      return [path.split("/").at(-1), subject.name, granted.length > 0 && granted.every((role) => roles.get(role) === true)].join(
        " ",
      )
    })
    .toSorted()

/** The tests that every adapter of the access port passes. */
export const accessContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: access`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))
    const twice = async <E>(world: World, effect: Effect.Effect<unknown, E, HypervisorPorts>) => {
      await world.run(effect)
      await world.restarted().run(effect)
    }

    promises("makes groups and accounts once, however often it is asked to", async (world) => {
      await twice(world, people)
      const seen = await world.run(observe)
      expect([userGroup, adminGroup, groupOfAccount(bob)].filter((group) => !seen.groups.has(group))).toEqual([])
      expect(await accountOf(world, bob)).toEqual({ ours: true, groups: groupsOf(bob).toSorted(), keep: nothingKept })
      expect([await world.others.letsIn(bob, first), await world.others.letsIn(bob, second)]).toEqual([true, false])
    })

    promises("an existing account of the service gets the password, the groups and the rest", async (world) => {
      await world.run(people)
      await world.others.group("theirs")
      const keep = { groups: ["theirs", "gone"], rights: [{ path: "/vms", role: "PVEAuditor", propagate: false }] }
      await twice(world, makeAccount(bob, keep, second))
      expect(await world.others.letsIn(bob, second)).toBe(true)
      expect(await accountOf(world, bob)).toEqual({
        ours: true,
        groups: [...groupsOf(bob), "theirs"].toSorted(),
        keep: { ...keep, groups: ["theirs"] },
      })
    })

    promises("a foreign account joins its groups and keeps its password", async (world) => {
      await world.others.account(bob, first)
      await world.run(Effect.forEach(groupsOf(bob), makeGroup))
      await twice(world, makeAccount(bob, nothingKept, second))
      expect(await world.others.letsIn(bob, first)).toBe(true)
      expect(await accountOf(world, bob)).toEqual({ ours: false, groups: groupsOf(bob).toSorted(), keep: nothingKept })
    })

    promises("a new password removes nothing that others granted the account", async (world) => {
      await world.run(people)
      await world.others.group("theirs")
      await world.others.join(bob, "theirs")
      await world.others.right(bob, { path: "/storage", role: "PVEDatastoreUser", propagate: true })
      await world.run(Effect.andThen(apply({ kind: "create-pool", rangeId }), grant(pool, bob)))
      const [before, rights] = [await accountOf(world, bob), await rightsOf(world)]
      await twice(world, setPassword(bob, before!.keep))
      expect([await accountOf(world, bob), await rightsOf(world)]).toEqual([before, rights])
      expect([await world.others.letsIn(bob, first), await world.others.letsIn(bob, second)]).toEqual([false, true])
    })

    promises("setting the password of a missing account recreates it, with everything that it had", async (world) => {
      await world.run(people)
      await world.others.group("theirs")
      const keep = { groups: ["theirs"], rights: [{ path: "/vms", role: "PVEAuditor", propagate: true }] }
      await world.run(apply({ kind: "remove-account", account: bob }))
      await twice(world, setPassword(bob, keep))
      expect(await accountOf(world, bob)).toEqual({ ours: true, groups: [...groupsOf(bob), "theirs"].toSorted(), keep })
      expect(await world.others.letsIn(bob, second)).toBe(true)
    })

    promises("an account gets back what others granted it, except what no longer exists", async (world) => {
      await world.run(people)
      await world.others.group("theirs")
      const rights = [{ path: "/vms", role: "PVEAuditor", propagate: true }]
      const restore = { kind: "restore", account: bob, keep: { groups: ["gone", "theirs"], rights } } as const
      await twice(world, apply(restore))
      expect((await accountOf(world, bob))?.keep).toEqual({ groups: ["theirs"], rights })
      const nobody = { ...restore, account: "nobody@pve" as AccountId }
      expect(await world.run(reasonOf(apply(nobody)))).toBe("not-found")
    })

    promises("joins and leaves groups, and keeps the foreign ones", async (world) => {
      await world.run(people)
      await world.others.group("theirs")
      await world.others.join(bob, "theirs")
      await twice(world, apply({ kind: "join-groups", account: bob, groups: [adminGroup] }))
      expect((await accountOf(world, bob))?.groups).toEqual([adminGroup, ...groupsOf(bob), "theirs"].toSorted())
      await twice(world, apply({ kind: "leave-groups", account: bob, groups: [adminGroup, userGroup] }))
      expect((await accountOf(world, bob))?.groups).toEqual([groupOfAccount(bob), "theirs"].toSorted())
      await twice(world, apply({ kind: "leave-groups", account: bob, groups: [groupOfAccount(bob), "theirs"] }))
      expect((await accountOf(world, bob))?.groups).toEqual([])
      const nobody = { account: "nobody@pve" as AccountId, groups: [userGroup] }
      await world.run(apply({ kind: "leave-groups", ...nobody }))
      expect(await world.run(reasonOf(apply({ kind: "join-groups", ...nobody })))).toBe("not-found")
    })

    promises("removes what it made, as often as asked, and nothing foreign", async (world) => {
      await world.run(Effect.andThen(people, apply({ kind: "create-pool", rangeId })))
      await world.run(grant(pool, bob, eve))
      await twice(world, apply({ kind: "remove-account", account: bob }))
      await twice(world, apply({ kind: "remove-group", group: groupOfAccount(bob) }))
      expect(await rightsOf(world)).toEqual([`LAB1 ${groupOfAccount(eve)} true`])
      const left = await world.run(observe)
      expect([left.accounts.has(bob), left.groups.has(groupOfAccount(bob))]).toEqual([false, false])
      await world.others.account(bob, first)
      await world.others.group("theirs")
      await world.others.pool("THEIRS" as RangeId)
      const changes: readonly AccessChange[] = [
        { kind: "remove-account", account: bob },
        { kind: "remove-group", group: "theirs" },
        { kind: "remove-pool", rangeId: "THEIRS" as RangeId },
      ]
      for (const change of changes)
        expect([change.kind, await world.run(reasonOf(apply(change)))]).toEqual([change.kind, "not-ours"])
      const seen = await world.run(observe)
      expect([seen.accounts.has(bob), seen.groups.has("theirs"), seen.pools.has("THEIRS" as RangeId)]).toEqual([true, true, true])
    })

    for (const id of ["LAB1", "team/lab/one"] as RangeId[])
      promises(`makes and removes pool ${id}, each as often as asked`, async (world) => {
        const exists = HypervisorAccess.use((access) => access.poolExists(id))
        expect(await world.run(exists)).toBe(false)
        await twice(world, apply({ kind: "create-pool", rangeId: id }))
        await world.run(HypervisorAccess.use((access) => access.ensurePool(id)))
        expect([await world.run(exists), (await world.run(observe)).pools.has(id)]).toEqual([true, true])
        await twice(world, apply({ kind: "remove-pool", rangeId: id }))
        await world.run(HypervisorAccess.use((access) => access.removePool(id)))
        expect([await world.run(exists), (await world.run(observe)).pools.has(id)]).toEqual([false, false])
      })

    promises("a pool with machines in it is not removed", async (world) => {
      await world.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
      await world.run(perform(cloneOf(world, refOf(world))))
      expect(await world.run(reasonOf(HypervisorAccess.use((access) => access.removePool(rangeId))))).toBe("failed")
      expect(await world.run(reasonOf(apply({ kind: "remove-pool", rangeId })))).toBe("failed")
      expect(await world.run(HypervisorAccess.use((access) => access.poolExists(rangeId)))).toBe(true)
    })

    promises("a pool with another one below it is not removed, and waiting would not help", async (world) => {
      for (const id of [rangeId, `${rangeId}/below` as RangeId])
        await world.run(HypervisorAccess.use((access) => access.ensurePool(id)))
      expect(await world.run(reasonOf(HypervisorAccess.use((access) => access.removePool(rangeId))))).toBe("not-ours")
      expect(await world.run(HypervisorAccess.use((access) => access.poolExists(rangeId)))).toBe(true)
      await world.run(HypervisorAccess.use((access) => access.removePool(`${rangeId}/below` as RangeId)))
      await world.run(HypervisorAccess.use((access) => access.removePool(rangeId)))
    })

    promises(
      "grants rights to exactly the named groups and revokes those of exactly the named subjects, on pools and VNets",
      async (world) => {
        await world.run(Effect.andThen(people, apply({ kind: "create-pool", rangeId })))
        for (const place of [pool, vnet]) await twice(world, grant(place, bob, eve))
        const all = ["LAB1", "r7"].flatMap((at) => [bob, eve].map((who) => `${at} ${groupOfAccount(who)} true`))
        expect(await rightsOf(world)).toEqual(all.toSorted())
        const gone = [
          { type: "user", name: "nobody@pve" },
          { type: "group", name: "nogroup" },
          { type: "token", name: "bob@pve!none" },
        ] as const
        for (const place of [pool, vnet])
          await twice(world, apply({ kind: "revoke", place, subjects: [...gone, { type: "group", name: groupOfAccount(bob) }] }))
        expect(await rightsOf(world)).toEqual(all.filter((text) => text.includes(groupOfAccount(eve))).toSorted())
        await world.run(apply({ kind: "remove-pool", rangeId }))
        expect(await rightsOf(world)).toEqual([`r7 ${groupOfAccount(eve)} true`])
      },
    )

    promises("revokes exactly the named roles, on a machine of a range and on its pool", async (world) => {
      const { vmid } = refOf(world)
      await world.run(Effect.andThen(people, apply({ kind: "create-pool", rangeId })))
      await world.run(perform(cloneOf(world, refOf(world))))
      const path = `/vms/${vmid}`
      await world.others.right(bob, { path, role: "PVEVMUser", propagate: false })
      await world.others.right(bob, { path, role: "PVETemplateUser", propagate: false })
      await world.others.right(eve, { path, role: "PVEVMUser", propagate: false })
      for (const role of ["PVEVMAdmin", "PVEAuditor"])
        await world.others.right(bob, { path: "/pool/LAB1", role, propagate: true })
      const machine: AccessPlace = { type: "machine", rangeId, vmid }
      const subject = { type: "user", name: bob } as const
      const entries = async () =>
        (await world.run(observe)).rights.map((one) => [one.path, one.subject.name, one.role].join(" ")).toSorted()
      await twice(world, apply({ kind: "revoke", place: machine, subjects: [{ ...subject, roles: ["PVEVMUser"] }] }))
      await twice(world, apply({ kind: "revoke", place: pool, subjects: [subject] }))
      const left = [`/pool/LAB1 ${bob} PVEAuditor`, `${path} ${bob} PVETemplateUser`, `${path} ${eve} PVEVMUser`]
      expect(await entries()).toEqual(left)
      await twice(world, apply({ kind: "revoke", place: pool, subjects: [{ ...subject, roles: ["PVEAuditor"] }] }))
      expect(await entries()).toEqual(left.slice(1))
      await world.run(perform(deleteOf(refOf(world))))
      expect(await entries()).toEqual([])
    })

    promises("rights on a machine outside of the range's pool are not touched", async (world) => {
      await world.run(Effect.andThen(people, apply({ kind: "create-pool", rangeId })))
      await world.stranger(20_001)
      await world.others.right(bob, { path: "/vms/20001", role: "PVEVMUser", propagate: true })
      const place: AccessPlace = { type: "machine", rangeId, vmid: vmidOf(20_001) }
      const subjects = [{ type: "user", name: bob, roles: ["PVEVMUser"] }] as const
      expect(await world.run(reasonOf(apply({ kind: "revoke", place, subjects })))).toBe("not-ours")
      expect((await world.run(observe)).rights.map(({ path }) => path)).toEqual(["/vms/20001"])
    })

    promises("lists the existing VNets, applied or not, and their ranges by the aliases", async (world) => {
      const change = (action: NetworkMigrationAction) =>
        world.run(
          NetworkMigration.use((migration) =>
            Effect.flatMap(migration.dispatch(action), ({ token }) => migration.settle(action, token)),
          ),
        )
      const vnets = async () => [...(await world.run(observe)).vnets]
      expect(await vnets()).toEqual([])
      await change({ kind: "create-zone", zone: { name: "ludus", peers: ["10.0.0.1"], mtu: 1450 } })
      await change({ kind: "create-vnet", vnet: { name: "r1", zone: "ludus", tag: 77, alias: "rangewright OTHER" } })
      const there = [["/sdn/zones/ludus/r1", "rangewright OTHER"]]
      expect(await vnets()).toEqual(there)
      await change({ kind: "apply-sdn", zone: "ludus", present: [], absent: [] })
      expect(await vnets()).toEqual(there)
      await change({ kind: "remove-vnet", vnet: "r1", zone: "ludus", alias: "rangewright OTHER" })
      expect(await vnets()).toEqual([])
    })

    promises("a group that does not exist gets no rights", async (world) => {
      await world.run(apply({ kind: "create-pool", rangeId }))
      expect(await world.run(reasonOf(grant(pool, bob)))).toBe("not-found")
      expect(await rightsOf(world)).toEqual([])
    })

    promises(
      "an account of a user without a password is made without one, and setting a password without one is refused",
      async (world) => {
        await world.run(Effect.forEach(groupsOf(bob), makeGroup))
        const change = { account: bob, groups: groupsOf(bob), keep: nothingKept }
        const reason = await world.run(
          reasonOf(HypervisorAccess.use((access) => access.apply({ kind: "set-password", ...change }))),
        )
        expect(reason).toBe("invalid")
        await world.run(HypervisorAccess.use((access) => access.apply({ kind: "create-account", ...change })))
        expect((await accountOf(world, bob))?.ours).toBe(true)
      },
    )

    promises("reports which of the needed privileges the service holds", async (world) => {
      const privileges = await world.run(HypervisorAccess.use((access) => access.privileges))
      expect(privileges.flatMap(({ privileges: needed }) => [...needed]).filter(([, held]) => !held)).toEqual([])
    })
  })
}
