import {
  makeMemoryGalaxy,
  makeMemoryLibrary,
  memoryInstallerLayer,
  memoryLibraryLayer,
  publishTo,
} from "@rangewright/adapter-memory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { entriesOf } from "../library/entries.ts"
import { installerContract, readNeed } from "./installer.contract.ts"

installerContract({
  name: "memory",
  make: async () => {
    const [galaxy, library] = [makeMemoryGalaxy(), memoryLibraryLayer(makeMemoryLibrary())]
    const layer = Layer.provideMerge(memoryInstallerLayer(galaxy), library)
    return {
      run: (effect) => Effect.runPromise(Effect.provide(effect, layer)),
      publish: async ({ type, name, version, files, needs }) =>
        publishTo(galaxy, type, name, version, {
          entries: entriesOf(files),
          [type === "role" ? "roles" : "collections"]: needs.map(readNeed),
        }),
    }
  },
})
