import { copyFile, mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Many times what the largest installation has. */
const bytesAtMost = 256 * 1024 ** 2

/** What SQLite keeps beside a database while it is in use: writes that are not in it yet, or what it takes to undo one. */
const companions = ["-wal", "-journal"]

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * Uses a copy of a database, with what is not yet written into it: reading the original would leave files beside it and may finish its
 * writes. The copy is gone afterwards. Rejects for what is no plain file, or too large.
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
