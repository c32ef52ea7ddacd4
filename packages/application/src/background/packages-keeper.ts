import { Hypervisor, NodePackages } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lookAtNode, PackageLooks, readableSets } from "../host/package-looks.ts"

/** Seconds between two looks. */
const lookEverySeconds = 300

/** Notes which nodes of the hypervisor the configuration does not name: "all nodes" is more than it says. */
const noteOthers = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const { nodes, noteOthers: note } = yield* PackageLooks
  const { nodes: there } = yield* hypervisor.observe
  note(there.map(({ name }) => name).filter((name) => !nodes.includes(name)))
})

/** Looks at the packages of all nodes. One that does not answer is noted as such, and keeps no other. */
export const lookAtPackages = Effect.gen(function* () {
  const { nodes } = yield* NodePackages
  yield* Effect.ignore(noteOthers)
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
