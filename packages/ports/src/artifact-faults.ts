import { allowedNames, isArtifactName, isUserId, type TreeProblem } from "@rangewright/domain"
import type { ArtifactRef, LibraryScope } from "./artifact-library.ts"
import { LibraryFault } from "./faults.ts"

/** An installed thing for people: `the global role "acme.web"`. */
export const describeArtifact = ({ scope, kind, name }: ArtifactRef): string =>
  `the ${scope.type === "global" ? "global" : "user's"} ${kind} ${JSON.stringify(name.slice(0, 100))}`

/** What is wrong with a scope, as the fault of who named it: a user's id becomes the name of a folder. */
export const scopeFault = (doing: string, scope: LibraryScope): LibraryFault | undefined =>
  scope.type === "global" || isUserId(scope.userId)
    ? undefined
    : new LibraryFault({ doing, reason: "name", detail: "that is not a valid user ID" })

/** A scope whose user has been removed meanwhile. */
export const goneFault = (doing: string): LibraryFault =>
  new LibraryFault({ doing, reason: "missing", detail: "the user was removed" })

/** What is wrong with the name of an artifact, as the fault of who named it. */
export const artifactFault = (doing: string, ref: ArtifactRef): LibraryFault | undefined => {
  if (!isArtifactName(ref.kind, ref.name)) {
    const detail = `that is not a valid ${ref.kind} name; allowed: ${allowedNames[ref.kind]}`
    return new LibraryFault({ doing, reason: "name", detail })
  }
  return scopeFault(doing, ref.scope)
}

/** What is wrong with the files of an artifact, as the fault of who wants them installed. */
export const entriesFault = (doing: string, { path, detail }: TreeProblem): LibraryFault =>
  new LibraryFault({ doing, reason: "broken", detail: `${JSON.stringify(path.slice(0, 200)).slice(1, -1)}: ${detail}` })
