import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fetcherContract } from "./fetcher.contract.ts"
import { tar, type TarEntry } from "./support/archives.ts"
import { type Content, testRepository, writeFiles } from "./support/repository.ts"
import { gitWorld } from "./support/world.ts"

const entryOf = (name: string, content: Content): TarEntry => {
  if (content === undefined) throw new Error("a tar holds no missing file")
  if (typeof content === "string" || content instanceof Uint8Array) return { name, content }
  return "link" in content ? { name, type: "2", link: content.link } : { name, content: content.program, mode: 0o755 }
}

fetcherContract({
  name: "git, archives and folders",
  make: () => {
    const world = gitWorld()
    let made = 0
    return {
      run: world.run,
      repository: async (name, files) => {
        const repository = testRepository(world.served, name, files)
        return {
          url: `file://${repository.folder}`,
          commit: async (changed) => repository.commit(changed),
          tag: async (tag) => repository.tag(tag),
        }
      },
      archive: async (name, files) => {
        const file = join(world.root, `upload-${made++}`)
        writeFileSync(file, tar(Object.entries(files).map(([path, content]) => entryOf(path, content))))
        return { type: "archive", file, name }
      },
      folder: async (files) => {
        const path = join(world.served, `folder-${made++}`)
        writeFiles(path, files)
        return { type: "folder", path }
      },
    }
  },
})
