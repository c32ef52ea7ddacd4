import { createReadStream } from "node:fs"
import { damaged, refuseTree } from "../refusal.ts"
import { entryPath, executableBits, setIdBits } from "./entry-name.ts"
import { gunzipped } from "./gunzip.ts"
import { type TarEntry, tarWalk } from "./tar-walk.ts"
import type { FileSink, UnpackedTree } from "./unpacked-tree.ts"

const specials: Readonly<Record<string, string>> = {
  "1": "it is a hard link; pack the file itself",
  S: "it is a sparse file; pack the whole file",
}

const takeEntry = (tree: UnpackedTree, { type, path: name, linkTarget, size, mode }: TarEntry): FileSink | undefined => {
  tree.meet(name)
  const path = entryPath(name)
  if (type === "5" || path === undefined) return undefined
  if (type === "2") {
    tree.admit({ kind: "link", path, target: linkTarget })
    return undefined
  }
  if (type !== "0" && type !== "7")
    throw refuseTree({ rule: "special", path, detail: specials[type] ?? "it is neither a file, a folder nor a link" })
  if ((mode & setIdBits) !== 0) throw refuseTree({ rule: "set-id", path, detail: "the file changes its user or group" })
  const file = { kind: "file", path, size, executable: (mode & executableBits) !== 0 } as const
  tree.admit(file)
  return tree.create(file)
}

/** Reads a tar, gzipped or not. All decompressed bytes count, including headers and zeros. Throws a `Refusal`. */
export const readTar = async (file: string, gzipped: boolean, tree: UnpackedTree): Promise<void> => {
  const walk = tarWalk((entry) => takeEntry(tree, entry))
  let bytes = 0
  const chunks = gzipped ? gunzipped(file) : (createReadStream(file) as AsyncIterable<Buffer>)
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > tree.tarBytes)
      throw refuseTree({ rule: "tree-too-large", path: "", detail: `unpacked it is larger than ${tree.tarBytes} bytes` })
    tree.spend(chunk.length)
    walk.write(chunk)
  }
  walk.end()
}

/** Converts a failure of the decompression itself. */
export const asDamage = (cause: unknown): unknown =>
  (cause as NodeJS.ErrnoException | null)?.code?.startsWith("Z_") === true ? damaged("it is damaged or truncated") : cause
