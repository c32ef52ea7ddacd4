import type { Operation } from "@rangewright/application"
import { bodyOf, pathOf, sampleOf, type Sample } from "./requests.ts"
import type { WholeService } from "./service.ts"

export type Headers = Readonly<Record<string, string>>

/** The status of the operation's sample request with this query, and this body if one is given. Nothing of a stream is waited for. */
export const statusOf = async (
  service: WholeService,
  operation: Operation,
  headers: Headers,
  query: string,
  json?: unknown,
): Promise<number> => {
  const given = sampleOf(operation, service.runId)
  const sample: Sample = json === undefined ? given : { ...given, json }
  const init = bodyOf(operation, sample)
  const path = pathOf(operation, sample)
  const separator = path.includes("?") ? "&" : "?"
  const response = await fetch(service.url + path + (query === "" ? "" : separator + query), {
    ...init,
    method: operation.route.method,
    headers: { ...(init.headers as Headers), ...headers },
  })
  await response.body?.cancel()
  return response.status
}

/** Everything that is kept, but for the traces that refused calls leave: they are written every now and then. */
export const stored = ({ store }: WholeService): string => {
  const { users, ranges, configs, grants, groups, blueprints, sources, machines, reservations, runs } = store
  return JSON.stringify(
    [users, ranges, configs, grants, groups, blueprints, sources, machines, reservations, runs],
    (key, value: unknown) => {
      if (key === "lastActiveAt") return undefined
      return value instanceof Map ? [...value.entries()] : value instanceof Set ? [...value] : value
    },
  )
}
