import { allowedNames, isArtifactName, isUserId, type TreeProblem } from "@rangewright/domain"
import type { ArtifactRef, LibraryScope } from "./artifact-library.ts"
import { LibraryFault } from "./faults.ts"

/** Describes an artifact in messages: `the global role "acme.web"`. */
export const describeArtifact = ({ scope, kind, name }: ArtifactRef): string =>
  `the ${scope.type === "global" ? "global" : "user's"} ${kind} ${JSON.stringify(name.slice(0, 100))}`

/** The fault for an invalid scope; undefined if it is valid. A user's id becomes a folder name. */
export const scopeFault = (doing: string, scope: LibraryScope): LibraryFault | undefined =>
  scope.type === "global" || isUserId(scope.userId)
    ? undefined
    : new LibraryFault({ doing, reason: "name", detail: "that is not a valid user ID" })

/** The fault for a scope whose user has been removed. */
export const goneFault = (doing: string): LibraryFault =>
  new LibraryFault({ doing, reason: "missing", detail: "the user was removed" })

/** The fault for an invalid artifact name or scope; undefined if both are valid. */
export const artifactFault = (doing: string, ref: ArtifactRef): LibraryFault | undefined => {
  if (!isArtifactName(ref.kind, ref.name)) {
    const detail = `that is not a valid ${ref.kind} name; allowed: ${allowedNames[ref.kind]}`
    return new LibraryFault({ doing, reason: "name", detail })
  }
  return scopeFault(doing, ref.scope)
}

/** The fault for invalid files of an artifact to install. */
export const entriesFault = (doing: string, { path, detail }: TreeProblem): LibraryFault =>
  new LibraryFault({ doing, reason: "broken", detail: `${JSON.stringify(path.slice(0, 200)).slice(1, -1)}: ${detail}` })
