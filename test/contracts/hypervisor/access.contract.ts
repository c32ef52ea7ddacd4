import type { RangeId } from "@rangewright/domain"
import { HypervisorAccess, type HypervisorAccount } from "@rangewright/ports"
import { describe, expect, it } from "vitest"
import {
  cloneOf,
  type HypervisorUnderTest,
  onWorld,
  perform,
  rangeId,
  reasonOf,
  refOf,
  type World,
} from "./support/under-test.ts"

const bob: HypervisorAccount = { username: "bob", realm: "pve" }
const eve: HypervisorAccount = { username: "eve", realm: "pve" }
const password = "correct horse battery"

/** What every adapter of the access port promises. */
export const accessContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: access`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("makes an account once, however often it is asked to", async (world) => {
      const exists = HypervisorAccess.use((access) => access.userExists(bob))
      expect(await world.run(exists)).toBe(false)
      await world.run(HypervisorAccess.use((access) => access.ensureUser(bob, password, { admin: false })))
      await world.restarted().run(HypervisorAccess.use((access) => access.ensureUser(bob, password, { admin: true })))
      expect(await world.run(exists)).toBe(true)
    })

    promises("puts an account among the administrators and takes it out, each as often as asked", async (world) => {
      const setAdmin = (admin: boolean) => HypervisorAccess.use((access) => access.setAdmin(bob, admin))
      expect(await world.run(reasonOf(setAdmin(true)))).toBe("not-found")
      await world.run(setAdmin(false))
      await world.run(HypervisorAccess.use((access) => access.ensureUser(bob, password, { admin: false })))
      for (const admin of [true, true, false, false]) await world.run(setAdmin(admin))
      expect(await world.run(HypervisorAccess.use((access) => access.userExists(bob)))).toBe(true)
    })

    promises("sets the password of an account", async (world) => {
      await world.run(HypervisorAccess.use((access) => access.ensureUser(bob, password, { admin: false })))
      await world.run(HypervisorAccess.use((access) => access.setPassword(bob, "another good one")))
      expect(await world.run(HypervisorAccess.use((access) => access.userExists(bob)))).toBe(true)
    })

    promises("setting the password of an account that does not exist fails with `not-found`", async (world) => {
      expect(await world.run(reasonOf(HypervisorAccess.use((access) => access.setPassword(bob, password))))).toBe("not-found")
    })

    promises("removes an account; removing it again is a success", async (world) => {
      await world.run(HypervisorAccess.use((access) => access.ensureUser(bob, password, { admin: false })))
      await world.run(HypervisorAccess.use((access) => access.removeUser(bob)))
      await world.run(HypervisorAccess.use((access) => access.removeUser(bob)))
      expect(await world.run(HypervisorAccess.use((access) => access.userExists(bob)))).toBe(false)
    })

    for (const id of ["LAB1", "team/lab/one"] as RangeId[])
      promises(`makes and removes pool ${id}, each as often as asked`, async (world) => {
        const exists = HypervisorAccess.use((access) => access.poolExists(id))
        expect(await world.run(exists)).toBe(false)
        await world.run(HypervisorAccess.use((access) => access.ensurePool(id)))
        await world.run(HypervisorAccess.use((access) => access.ensurePool(id)))
        expect(await world.run(exists)).toBe(true)
        await world.run(HypervisorAccess.use((access) => access.removePool(id)))
        await world.run(HypervisorAccess.use((access) => access.removePool(id)))
        expect(await world.run(exists)).toBe(false)
      })

    promises("a pool with machines in it is not removed", async (world) => {
      await world.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
      await world.run(perform(cloneOf(world, refOf(world))))
      expect(await world.run(reasonOf(HypervisorAccess.use((access) => access.removePool(rangeId))))).toBe("failed")
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

    promises("grants exactly the accounts named, and takes them back again", async (world) => {
      const granted = (accounts: readonly HypervisorAccount[]) =>
        world.run(HypervisorAccess.use((access) => access.granted(rangeId, accounts, undefined)))
      await world.run(HypervisorAccess.use((access) => access.ensureUser(bob, password, { admin: false })))
      await world.run(HypervisorAccess.use((access) => access.ensureUser(eve, password, { admin: false })))
      await world.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
      expect(await granted([bob])).toBe(false)
      await world.run(HypervisorAccess.use((access) => access.grant(rangeId, [bob], undefined)))
      await world.run(HypervisorAccess.use((access) => access.grant(rangeId, [bob], undefined)))
      expect([await granted([bob]), await granted([eve]), await granted([bob, eve])]).toEqual([true, false, false])
      await world.run(HypervisorAccess.use((access) => access.revoke(rangeId, [bob, eve], undefined)))
      expect(await granted([bob])).toBe(false)
    })

    promises("taking rights from an account that is gone is a success", async (world) => {
      await world.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
      await world.run(HypervisorAccess.use((access) => access.revoke(rangeId, [bob], undefined)))
      expect(await world.run(HypervisorAccess.use((access) => access.granted(rangeId, [bob], undefined)))).toBe(false)
    })

    promises("tells which of the needed privileges the service holds", async (world) => {
      const privileges = await world.run(HypervisorAccess.use((access) => access.privileges))
      expect([...privileges].filter(([, held]) => !held)).toEqual([])
    })
  })
}
