import { makeMemoryLibrary, memoryLibraryLayer } from "@rangewright/adapter-memory"
import * as Effect from "effect/Effect"
import { libraryContract } from "./library.contract.ts"

libraryContract({
  name: "memory",
  make: () => {
    const library = makeMemoryLibrary()
    return { run: (effect) => Effect.runPromise(Effect.provide(effect, memoryLibraryLayer(library))) }
  },
})
