import type { FeatureRights, HypervisorAccess, HypervisorFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import type { ServiceAccount } from "../client/credentials.ts"
import { buildRoles, downloadRole } from "../templates/rights.ts"
import { child, type Fields, recordOf, rows, text } from "../wire/read.ts"
import { applyChange } from "./apply.ts"
import { observeAccess } from "./observe.ts"
import { ensurePool, poolExists, removePool } from "./pools.ts"
import { buildsOfTemplates, makesRoles, neededByFeature, neededPrivileges, nodeDownloads, processorModels } from "./roles.ts"

/** Before PVE 9 a single privilege covered everything of the guest agent. */
const namesIn = (names: readonly string[], version: string): readonly string[] =>
  Number.parseInt(version, 10) >= 9
    ? names
    : [...new Set(names.map((name) => name.replace(/^VM\.GuestAgent\..*$/u, "VM.Monitor")))]

const hasProcessorModels = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 9 || (major === 9 && minor >= 2)
}

/** `1` means granted here and below, `0` here only; both count as held. */
const privileges = Effect.fnUntraced(function* (
  client: PveClient,
  downloads: boolean,
): Effect.fn.Return<readonly FeatureRights[], HypervisorFault> {
  const doing = "read the rights of the service's account"
  const version = text(recordOf((yield* client.get("/version", {}, { doing })).data), "version") ?? "9"
  const held = new Map<string, Fields>()
  const isThere = (path: string): boolean => path !== processorModels || hasProcessorModels(version)
  for (const path of Object.keys(neededPrivileges).filter(isThere)) {
    const { data } = yield* client.get("/access/permissions", { path }, { doing })
    held.set(path, child(recordOf(data), path))
  }
  const holds = (path: string, name: string): boolean => Object.hasOwn(held.get(path) ?? {}, name)
  const roles = new Set(rows((yield* client.get("/access/roles", {}, { doing })).data).map((row) => text(row, "roleid")))
  const unmade = Object.keys(buildRoles).filter((role) => (downloads || role !== downloadRole) && !roles.has(role))
  const features = Object.entries(neededByFeature).filter(([feature]) => downloads || feature !== nodeDownloads)
  return features.map(([feature, byPath]) => {
    const needed = Object.entries(byPath).flatMap(([path, names]) =>
      isThere(path) ? namesIn(names, version).map((name) => [`${name} on ${path}`, holds(path, name)] as const) : [],
    )
    const { path, privilege } = makesRoles
    const makes = [`${privilege} on ${path} (or the roles ${unmade.join(", ")})`, holds(path, privilege)] as const
    return { feature, privileges: new Map(feature === buildsOfTemplates && unmade.length > 0 ? [...needed, makes] : needed) }
  })
})

export const makeHypervisorAccess = (
  client: PveClient,
  self: ServiceAccount,
  { downloads }: { readonly downloads: boolean },
): Context.Service.Shape<typeof HypervisorAccess> => ({
  observe: (zone) => observeAccess(client, self, zone),
  apply: applyChange(client, self),
  poolExists: (poolId) => poolExists(client, poolId),
  ensurePool: (poolId) => ensurePool(client, poolId),
  removePool: (poolId) => removePool(client, poolId),
  privileges: privileges(client, downloads),
})
