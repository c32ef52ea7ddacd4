import { joinStates, type PackagesState } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { PackageLooks } from "./package-looks.ts"

const notManaged =
  "This service does not manage packages on the nodes. Machines are disguised by their own settings: POST /antisandbox/enable"

const summaries: Readonly<Record<PackagesState, string>> = {
  standard: "All nodes have the standard QEMU packages.",
  custom: "All nodes have the operator's patched QEMU packages.",
  mixed: "Some QEMU packages of the nodes are patched, and others are standard.",
  unknown: "It is not known which QEMU packages all nodes have.",
}

const keepRunning = "Running machines may have been started with other ones."

/**
 * The result of the last checks of the nodes. Only administrators see the version on each node, since it reveals the node's
 * vulnerabilities.
 */
export const packagesStatus = (isAdmin: boolean) =>
  Effect.map(PackageLooks, ({ nodes, of, others }) => {
    if (nodes.length === 0) return { status: "unknown" as const, message: notManaged }
    const looks = nodes.map((node) => ({ node, look: of(node) }))
    const status = joinStates([...looks.map(({ look }) => look?.state ?? "unknown"), ...others().map(() => "unknown" as const)])
    const each = [
      ...looks.map(({ node, look }) =>
        look === undefined ? `${node}: not checked yet` : `${node}: ${look.state} (${look.text}), seen ${look.at.toISOString()}`,
      ),
      ...others().map((node) => `${node}: unknown (node_packages_nodes does not name it)`),
    ]
    return { status, message: [`${summaries[status]} ${keepRunning}`, ...(isAdmin ? each : [])].join("\n") }
  })
