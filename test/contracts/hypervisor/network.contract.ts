import type { NetworkSpec } from "@rangewright/domain"
import { HypervisorNetwork, type NetworkAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { type HypervisorUnderTest, onWorld, reasonOf, type World } from "./support/under-test.ts"

export const bridgeOf = (world: Pick<World, "node">, n = 1): NetworkSpec => ({
  type: "bridge",
  name: `vmbr${1000 + n}`,
  node: world.node,
  comment: `rangewright LAB${n}`,
})

export const networkAction = (kind: NetworkAction["kind"], network: NetworkSpec): NetworkAction => ({ kind, network })

export const performOn = (action: NetworkAction) =>
  HypervisorNetwork.use((networks) =>
    Effect.flatMap(networks.dispatch(action), ({ token }) => Effect.as(networks.settle(action, token), token)),
  )

export const networkNamed = (name: string) =>
  Effect.map(
    HypervisorNetwork.use((networks) => networks.observe),
    (all) => all.find(({ spec }) => spec.name === name),
  )

/** The tests that every adapter of the networks' port passes. */
export const networkContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: networks`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("makes a bridge that is usable when the action has settled", async (world) => {
      const spec = bridgeOf(world)
      await world.run(performOn(networkAction("create-network", spec)))
      expect(await world.run(networkNamed(spec.name))).toEqual({ spec, usable: true, ours: true, vlanAware: true })
    })

    promises("making an existing bridge is a success with nothing to wait for", async (world) => {
      const create = networkAction("create-network", bridgeOf(world))
      await world.run(performOn(create))
      expect(await world.restarted().run(performOn(create))).toBeNull()
    })

    promises("many bridges made at once are all usable", async (world) => {
      const specs = [1, 2, 3, 4, 5].map((n) => bridgeOf(world, n))
      await world.run(
        Effect.forEach(specs, (spec) => performOn(networkAction("create-network", spec)), { concurrency: "unbounded" }),
      )
      const seen = await world.run(HypervisorNetwork.use((networks) => networks.observe))
      for (const spec of specs) expect(seen).toContainEqual({ spec, usable: true, ours: true, vlanAware: true })
    })

    promises("a network settles for a process that did not dispatch it", async (world) => {
      const create = networkAction("create-network", bridgeOf(world))
      const { token } = await world.run(HypervisorNetwork.use((networks) => networks.dispatch(create)))
      const next = world.restarted()
      await next.run(HypervisorNetwork.use((networks) => networks.settle(create, token)))
      expect(await next.run(networkNamed("vmbr1001"))).toMatchObject({ usable: true })
    })

    promises("removes a bridge; removing it again is a success", async (world) => {
      const spec = bridgeOf(world)
      await world.run(performOn(networkAction("create-network", spec)))
      await world.run(performOn(networkAction("remove-network", spec)))
      expect(await world.run(networkNamed(spec.name))).toBeUndefined()
      expect(await world.restarted().run(performOn(networkAction("remove-network", spec)))).toBeNull()
    })

    promises("never touches a network that is not ours", async (world) => {
      const spec: NetworkSpec = { type: "bridge", name: "vmbr1000", node: world.node, comment: "rangewright LAB1" }
      const before = await world.run(networkNamed("vmbr1000"))
      expect(before?.ours).toBe(false)
      expect(await world.run(reasonOf(performOn(networkAction("create-network", spec))))).toBe("not-ours")
      expect(await world.run(reasonOf(performOn(networkAction("remove-network", spec))))).toBe("not-ours")
      expect(await world.run(networkNamed("vmbr1000"))).toEqual(before)
    })
  })
}
