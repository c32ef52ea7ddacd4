import {
  Conflict,
  Failed,
  type Forbidden,
  InvalidInput,
  isRequirementUrl,
  otherVersion,
  type RoleRequirement,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  type LibraryFault,
  type LibraryScope,
  type RoleInstaller,
  Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { fetchAndInstall } from "./fetch-and-install.ts"

/** Roles that installations of Ludus rely on; they cannot be removed. */
const coreRoles: ReadonlySet<string> = new Set(["lae.proxmox", "geerlingguy.packer", "ansible-thoteam.nexus3-oss"])

/** The kinds of claims on a role; all are released when it is removed. */
const roleClaims = ["local-role", "galaxy-role", "subscription-role"] as const

/** A role by its name or URL. */
export const roleRequirement = (role: string, version: string | undefined): RoleRequirement => ({
  ...(role.startsWith("git+") || isRequirementUrl(role) ? { src: role } : { name: role }),
  ...(version === undefined || version === "" ? {} : { version }),
})

/**
 * Installs a role. One that is installed in another version than requested is a failure whose beginning clients match; so is one that has a
 * version when none was requested, or an unknown version when one was.
 */
export const installRole = (
  requirement: RoleRequirement,
  scope: LibraryScope,
  force: boolean,
): Effect.Effect<void, Failed | Forbidden | InvalidInput, RoleInstaller> =>
  Effect.gen(function* () {
    const { name, outcome, version } = yield* fetchAndInstall({ type: "role", requirement }, scope, force)
    const known = (version !== undefined) === (requirement.version !== undefined)
    if (outcome === "installed" || (outcome === "present" && known)) return
    return yield* new Failed({ what: otherVersion(name, version, requirement.version), hint: "Use force to replace it." })
  })

/** Removes a role of one scope and the claims of sources on it. */
export const removeRole = (
  name: string,
  scope: LibraryScope,
): Effect.Effect<void, Conflict | InvalidInput | LibraryFault | StorageFault, ArtifactLibrary | Sources> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const sources = yield* Sources
    if (coreRoles.has(name)) return yield* new InvalidInput({ what: `Cannot remove the role ${name}: it is a core role` })
    const removed = yield* library.remove({ scope, kind: "role", name })
    if (!removed)
      return yield* new Conflict({ what: `${name} is not installed, skipping.`, hint: "GET /ansible lists what is installed." })
    yield* sources.release(roleClaims, name, scope)
  })
