import { NodeShell, ShellFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** No shell on any node: work that needs one is left out and says so. */
export const noShellLayer: Layer.Layer<NodeShell> = Layer.succeed(NodeShell, {
  available: false,
  reaches: () => false,
  run: (node, { program }) =>
    Effect.fail(new ShellFault({ doing: `run ${program} on ${node}`, detail: "the memory world has no shells" })),
})
