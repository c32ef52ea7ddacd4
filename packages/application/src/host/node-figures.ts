import { NodeShell, type ShellFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Measurements by programs on a node. */
export class NodeFigures extends Context.Service<
  NodeFigures,
  {
    /** False when no shell on the node is configured: nothing is measured then. */
    readonly available: boolean
    /** The output of the program. */
    readonly of: (node: string, program: "lscpu" | "pveperf") => Effect.Effect<string, ShellFault>
  }
>()("rangewright/NodeFigures") {}

export const nodeFiguresLayer = Layer.effect(
  NodeFigures,
  Effect.map(NodeShell, ({ available, run }) => ({
    available,
    of: (node, program) => Effect.map(run(node, { program, args: [], timeoutSeconds: 60 }), ({ stdout }) => stdout),
  })),
)
