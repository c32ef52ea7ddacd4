import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { rows, text } from "../wire/read.ts"

/** Required to reload a node's network and to apply the SDN: without it, the call answers 500. */
const reloader = "ifupdown2"

/** Tests with a call that only a node with SDN knows. */
const lacksSdn = (client: PveClient, node: string): Effect.Effect<boolean, HypervisorFault> =>
  client.get(path`/nodes/${node}/sdn/zones`, {}, { doing: `read the SDN zones of node ${node}` }).pipe(
    Effect.as(false),
    Effect.catchIf(
      ({ facts }) => facts.reason === "invalid",
      () => Effect.succeed(true),
    ),
  )

/** Undefined when the node does not say. */
const lacksReloader = (client: PveClient, node: string): Effect.Effect<boolean | undefined, HypervisorFault> =>
  client.get(path`/nodes/${node}/apt/versions`, {}, { doing: `read the packages of node ${node}` }).pipe(
    Effect.map((reply) => {
      const found = rows(reply.data).find((row) => text(row, "Package") === reloader)
      return found === undefined ? undefined : text(found, "CurrentState") !== "Installed"
    }),
    Effect.catchIf(
      ({ facts }) => facts.reason === "invalid" || facts.reason === "forbidden",
      () => Effect.succeed(undefined),
    ),
  )

/** Packages that networks need and a node lacks. Its list of packages is slow, so it is not read again once the reloader was found. */
export const packageLook = (client: PveClient): ((node: string) => Effect.Effect<readonly string[], HypervisorFault>) => {
  const reloads = new Set<string>()
  return Effect.fnUntraced(function* (node: string): Effect.fn.Return<readonly string[], HypervisorFault> {
    const missing: string[] = []
    if (yield* lacksSdn(client, node)) missing.push("libpve-network-perl")
    if (reloads.has(node)) return missing
    if ((yield* lacksReloader(client, node)) === true) missing.push(reloader)
    else reloads.add(node)
    return missing
  })
}
