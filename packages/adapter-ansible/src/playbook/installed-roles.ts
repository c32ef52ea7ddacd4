import { ArtifactLibrary, type GuestAutomation, GuestFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { ask, hostCollectionFolders, readVersion } from "../tool/host-ansible.ts"
import { type PlaybookOptions, searchPaths, type Settings, settingsOf } from "./options.ts"

const names = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => [])

/** Roles of one collection folder, as `<namespace>.<collection>.<role>`. */
const rolesOfCollections = async (folder: string): Promise<readonly string[]> => {
  const root = join(folder, "ansible_collections")
  const found: string[] = []
  for (const namespace of await names(root))
    for (const collection of await names(join(root, namespace)))
      for (const role of await names(join(root, namespace, collection, "roles"))) found.push(`${namespace}.${collection}.${role}`)
  return found
}

const cannotList = (error: { readonly message: string }): GuestFault =>
  new GuestFault({ doing: "list the installed roles", machine: "this host", reason: "failed", detail: error.message })

/** The roles of `GuestAutomation`: all that a user's runs find, and those that are the user's own. */
export type RolesOf = Required<Pick<Context.Service.Shape<typeof GuestAutomation>, "roles" | "ownRoles">>

/**
 * Roles that a user's runs find: the user's, the global ones, and those of all collections. Those of the host are read once. The user's own
 * roles, and those of the user's own collections, take precedence.
 */
export const installedRoles = (
  settings: Settings,
  hostFolders: Effect.Effect<readonly string[]>,
  library: Context.Service.Shape<typeof ArtifactLibrary>,
): Effect.Effect<RolesOf> =>
  Effect.gen(function* () {
    const read = (folders: readonly string[]) =>
      Effect.map(
        Effect.promise(() => Promise.all(folders.map(rolesOfCollections))),
        (found) => found.flat(),
      )
    const ofHost = yield* Effect.cached(Effect.flatMap(hostFolders, read))
    return {
      roles: (userId) =>
        Effect.gen(function* () {
          const own = yield* library.list({ type: "user", userId })
          const global = yield* library.list({ type: "global" })
          const ofCollections = yield* read(searchPaths(settings, userId).collections)
          return new Set([...[...own.roles, ...global.roles].map(({ name }) => name), ...ofCollections, ...(yield* ofHost)])
        }).pipe(Effect.mapError(cannotList)),
      ownRoles: (userId) =>
        Effect.gen(function* () {
          const own = yield* library.list({ type: "user", userId })
          const ofCollections = yield* read(searchPaths(settings, userId).collections.slice(0, 1))
          return new Set([...own.roles.map(({ name }) => name), ...ofCollections])
        }).pipe(Effect.mapError(cannotList)),
    }
  })

/** The same for a service that does not use the host's Ansible: its collections are read once a role is looked up. */
export const libraryRoles = (options: PlaybookOptions): Effect.Effect<RolesOf, never, ArtifactLibrary> =>
  Effect.gen(function* () {
    const settings = settingsOf(options)
    const library = yield* ArtifactLibrary
    const hostFolders = Effect.map(ask(settings.program, ["--version"]), ({ output }) =>
      hostCollectionFolders(settings.collections, readVersion(output).modules),
    )
    return yield* installedRoles(settings, hostFolders, library)
  })
