import type { Json } from "@rangewright/domain"
import type { HypervisorFault, HypervisorNetwork, NetworkAction } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { PveClient } from "../client/client.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { nodeIn, rows, text } from "../wire/read.ts"
import { makeBridges, observeBridges } from "./bridges.ts"
import type { ApplyTurn } from "./network-kind.ts"
import { makeOtherApplies } from "./other-applies.ts"
import { makeVnets, observeVnets } from "./vnets.ts"

export interface NetworkOptions {
  /** Node whose bridges are observed; undefined: the first one. */
  readonly defaultNode: string | undefined
}

/** `dispatch` returns this when the change is written but not yet applied. */
const pendingToken: Json = { apply: true }

export const makeHypervisorNetwork = (
  client: PveClient,
  awaitTask: AwaitTask,
  options: NetworkOptions,
): Context.Service.Shape<typeof HypervisorNetwork> => {
  const turn: ApplyTurn = { gate: Semaphore.makeUnsafe(1), others: makeOtherApplies(client, awaitTask) }
  const bridges = makeBridges(client, awaitTask, turn)
  const vnets = makeVnets(client, awaitTask, turn)

  const nodeOfBridges: Effect.Effect<string | undefined, HypervisorFault> =
    options.defaultNode === undefined
      ? client.get("/nodes", {}, { doing: "list the nodes" }).pipe(
          Effect.map((reply) =>
            rows(reply.data)
              .filter((row) => text(row, "status") === "online")
              .flatMap((row) => nodeIn(row) ?? [])
              .toSorted()
              .at(0),
          ),
        )
      : Effect.succeed(options.defaultNode)

  const write = ({ kind, network }: NetworkAction) => {
    if (network.type === "bridge") return kind === "create-network" ? bridges.create(network) : bridges.remove(network)
    return kind === "create-network" ? vnets.create(network) : vnets.remove(network)
  }
  const prove = (action: NetworkAction) => {
    const { kind, network } = action
    if (network.type === "bridge") return kind === "create-network" ? bridges.created(network) : bridges.removed(network)
    return kind === "create-network" ? vnets.created(network, action.nodes) : vnets.removed(network)
  }
  return {
    observe: Effect.gen(function* () {
      const node = yield* nodeOfBridges
      const local = node === undefined ? [] : yield* observeBridges(client, node)
      return [...local, ...(yield* observeVnets(client))]
    }),
    dispatch: (action) => Effect.map(write(action), (written) => ({ token: written === "done" ? null : pendingToken })),
    settle: (action, token) => (token === null ? Effect.void : prove(action)),
  }
}
