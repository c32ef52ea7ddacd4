import { NodePackages } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lookAtNode, readableSets } from "../host/package-looks.ts"

/** Seconds between two looks. */
const lookEverySeconds = 300

/** Looks at the packages of all nodes. One that does not answer is noted as such, and keeps no other. */
export const lookAtPackages = Effect.gen(function* () {
  const { nodes } = yield* NodePackages
  const sets = yield* readableSets
  yield* Effect.forEach(nodes, (node) => Effect.ignore(lookAtNode(node, sets)), { concurrency: 2, discard: true })
})

/** Does so for ever: an update of a node may have replaced what was installed. */
export const packagesKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { nodes } = yield* NodePackages
    if (nodes.length === 0) return
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(lookAtPackages, Effect.sleep(lookEverySeconds * 1000))))
  }),
)
