import { commitTo, makeMemoryContent, memoryContentLayer, type MemoryFile, type MemoryFiles } from "@rangewright/adapter-memory"
import * as Effect from "effect/Effect"
import { fetcherContract } from "./fetcher.contract.ts"
import type { Files } from "./support/repository.ts"

const present = (files: Files): MemoryFiles =>
  Object.fromEntries(Object.entries(files).filter((entry): entry is [string, MemoryFile] => entry[1] !== undefined))

fetcherContract({
  name: "memory",
  make: () => {
    const content = makeMemoryContent()
    let made = 0
    return {
      run: (effect) => Effect.runPromise(Effect.provide(effect, memoryContentLayer(content))),
      repository: async (name, files) => {
        const url = `https://git.example/${name}.git`
        let now = present(files)
        commitTo(content, url, now)
        return {
          url,
          commit: async (changed) => {
            now = { ...now, ...present(changed) }
            return commitTo(content, url, now)
          },
          tag: async (tag) => {
            const refs = content.repositories.get(url)?.refs
            refs?.set(tag, refs.get("main") ?? "")
          },
        }
      },
      archive: async (name, files) => {
        const file = `/uploads/${made++}`
        content.archives.set(file, present(files))
        return { type: "archive", file, name }
      },
      folder: async (files) => {
        const path = `/folders/${made++}`
        content.folders.set(path, present(files))
        return { type: "folder", path }
      },
    }
  },
})
