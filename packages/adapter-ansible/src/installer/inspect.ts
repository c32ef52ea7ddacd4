import {
  defaultTreeLimits,
  type Fetched,
  needsFiles,
  prepareArtifact,
  preparedTexts,
  readNeeds,
  treeIntake,
} from "@rangewright/domain"
import { type ContentFault, entriesFault, LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { entryText } from "./from-content.ts"
import type { FetchedPackage } from "./package-source.ts"

/** A fetched package with its declared dependencies. */
export interface InspectedPackage extends FetchedPackage, Fetched {}

/** Reads a fetched package. Fails if the library would not accept it, so that nothing that depends on it is installed. */
export const inspect = (fetched: FetchedPackage): Effect.Effect<InspectedPackage, LibraryFault | ContentFault> =>
  Effect.gen(function* () {
    const { type, name, version, entries } = fetched
    const doing = `install the ${type} ${JSON.stringify(name.slice(0, 100))}`
    const intake = treeIntake(defaultTreeLimits)
    const problem = entries.map((entry) => intake.admit(entry)).find((found) => found !== undefined) ?? intake.finish()
    if (problem !== undefined) return yield* entriesFault(doing, problem)
    const texts = new Map<string, string>()
    for (const path of new Set([...needsFiles[type], ...preparedTexts(type)])) {
      const text = yield* entryText(entries, path)
      if (text !== undefined) texts.set(path, text)
    }
    const textOf = (path: string) => texts.get(path)
    const paths = new Set(entries.map(({ path }) => path))
    const told = version === undefined ? {} : { version }
    const prepared = prepareArtifact({ kind: type, name, paths, textOf, installedOn: "", ...told })
    if (Result.isFailure(prepared)) return yield* new LibraryFault({ doing, reason: "broken", detail: prepared.failure })
    return { ...fetched, needs: readNeeds(type, textOf) }
  })
