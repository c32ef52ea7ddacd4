import { copyFile, mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Many times the size of the largest installation. */
const bytesAtMost = 256 * 1024 ** 2

/** Files that SQLite keeps beside a database in use: writes that are not yet in it, or the journal to undo one. */
const companions = ["-wal", "-journal"]

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * Runs `use` on a copy of a database, including writes not yet in the main file: reading the original would leave files beside it and might
 * complete its writes. The copy is deleted afterwards. Rejects for anything that is not a regular file, or too large.
 */
export const withCopy = async <A>(file: string, use: (copy: string) => A): Promise<A> => {
  const facts = await stat(file)
  if (!facts.isFile()) throw new Error(`${file} is not a file`)
  if (facts.size > bytesAtMost) throw new Error(`${file} is larger than ${bytesAtMost} bytes`)
  const folder = await mkdtemp(join(tmpdir(), "rangewright-legacy-"))
  try {
    const copy = join(folder, "copy.db")
    await copyFile(file, copy)
    for (const end of companions) if (await exists(`${file}${end}`)) await copyFile(`${file}${end}`, `${copy}${end}`)
    return use(copy)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
