import { HypervisorNetwork, type NetworkAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { awaitTask, beginTask, called, hypervisorFault, type MemoryWorld } from "./memory-world.ts"

export const networkLayer = (world: MemoryWorld): Layer.Layer<HypervisorNetwork> => {
  const call = (method: string, mutating: boolean, action?: NetworkAction) => ({
    port: "network" as const,
    method,
    mutating,
    action,
  })
  const doing = ({ kind, network }: NetworkAction): string => `${kind} ${network.name}`

  const dispatch = Effect.fnUntraced(function* (action: NetworkAction) {
    const { name } = action.network
    const known = world.networks.get(name)
    if (known?.ours === false) return yield* hypervisorFault(doing(action), "not-ours", `network ${name} is not ours`)
    if ((known !== undefined) === (action.kind === "create-network")) return { token: null }
    if (action.kind === "create-network") world.networks.set(name, { spec: action.network, ours: true })
    else world.networks.delete(name)
    return { token: yield* beginTask(world, doing(action), undefined, world.durations.network) }
  })

  return Layer.succeed(HypervisorNetwork, {
    observe: called(
      world,
      call("observe", false),
      Effect.sync(() => [...world.networks.values()].map(({ spec, ours }) => ({ spec, ours, usable: true, vlanAware: true }))),
    ),
    dispatch: (action) => called(world, call("dispatch", true, action), dispatch(action)),
    settle: (action, token) =>
      called(
        world,
        call("settle", false, action),
        Effect.gen(function* () {
          yield* awaitTask(world, token)
          if (world.networks.has(action.network.name) !== (action.kind === "create-network"))
            return yield* hypervisorFault(doing(action), "unknown-effect", "its task is not known and had no effect")
        }),
      ),
  })
}
