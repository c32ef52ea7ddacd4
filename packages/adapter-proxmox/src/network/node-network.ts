import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { type Fields, rows, text } from "../wire/read.ts"
import { isOurNetwork } from "./mark.ts"
import { foreignChanges } from "./pending-diff.ts"

/** The network configuration of a node including its edits, whether in force or not. */
export interface NodeNetwork {
  readonly interfaces: readonly Fields[]
  /** The pending edits as a diff; empty when there are none. */
  readonly changes: string
}

export const readNetwork = (client: PveClient, node: string, doing: string): Effect.Effect<NodeNetwork, HypervisorFault> =>
  client
    .get(path`/nodes/${node}/network`, {}, { doing })
    .pipe(Effect.map((reply) => ({ interfaces: rows(reply.data), changes: text(reply.beside, "changes") ?? "" })))

/** Interfaces with pending edits of others. Ours carry our comment; `ours` names more. */
export const foreignEdits = ({ interfaces, changes }: NodeNetwork, ours: readonly string[] = []): readonly string[] => {
  const marked = interfaces.filter((row) => isOurNetwork(text(row, "comments"))).map((row) => text(row, "iface") ?? "")
  return foreignChanges(changes, new Set([...ours, ...marked]), isOurNetwork)
}
