import { Hypervisor, NodePackages } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lookAtNode, PackageLooks, readableSets } from "../host/package-looks.ts"

/** Seconds between two checks. */
const lookEverySeconds = 300

/** Notes the hypervisor's nodes that the configuration does not name, so that its list does not pass for all nodes. */
const noteOthers = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const { nodes, noteOthers: note } = yield* PackageLooks
  const { nodes: there } = yield* hypervisor.observe
  note(there.map(({ name }) => name).filter((name) => !nodes.includes(name)))
})

/** Checks the packages of all nodes. One that does not answer is noted as such, and does not stop the others. */
export const lookAtPackages = Effect.gen(function* () {
  const { nodes } = yield* NodePackages
  yield* Effect.ignore(noteOthers)
  const sets = yield* readableSets
  yield* Effect.forEach(nodes, (node) => Effect.ignore(lookAtNode(node, sets)), { concurrency: 2, discard: true })
})

/** Repeats this forever: an update of a node may have replaced what was installed. */
export const packagesKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { nodes } = yield* NodePackages
    if (nodes.length === 0) return
    yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(Effect.ignoreCause(lookAtPackages, { log: "Warn" }), Effect.sleep(lookEverySeconds * 1000))),
    )
  }),
)
