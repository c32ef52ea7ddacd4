import { defaultTreeLimits, treeIntake, type TreeProblem } from "@rangewright/domain"
import { type ArtifactEntry, type ContentFault, entriesFault, type LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { MemoryEntry } from "./memory-library.ts"

/** Reads the files to be installed, by the rules of every tree. */
export const takeEntries = (
  doing: string,
  entries: readonly ArtifactEntry[],
): Effect.Effect<Map<string, MemoryEntry>, LibraryFault | ContentFault> =>
  Effect.gen(function* () {
    const intake = treeIntake(defaultTreeLimits)
    const check = (problem: TreeProblem | undefined) =>
      problem === undefined ? Effect.void : Effect.fail(entriesFault(doing, problem))
    for (const entry of entries) yield* check(intake.admit(entry))
    yield* check(intake.finish())
    const files = new Map<string, MemoryEntry>()
    for (const entry of entries) {
      if (entry.kind === "link") {
        files.set(entry.path, { kind: "link", target: entry.target })
        continue
      }
      const bytes = yield* entry.read
      yield* check(intake.count(entry.path, bytes.length, bytes.length))
      files.set(entry.path, { kind: "file", bytes, executable: entry.executable })
    }
    return files
  })
