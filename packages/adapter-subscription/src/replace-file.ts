import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

/** Writes a file beside and puts it in place, so that a crash leaves the old or the new one, and who reads sees a whole one. */
export const replaceFile = async (file: string, content: string | Uint8Array, mode: 0o600 | 0o644): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: mode === 0o600 ? 0o700 : 0o755 })
  const beside = `${file}.${randomBytes(6).toString("hex")}`
  try {
    const handle = await open(beside, "wx", mode)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(beside, file)
  } finally {
    await rm(beside, { force: true })
  }
}

/** Writes what is good to know after a restart. That it cannot be kept is logged: the service goes on with what it has in memory. */
export const keepFile = (what: string, file: string, text: string): Effect.Effect<void> =>
  Effect.tryPromise({ try: () => replaceFile(file, text, 0o600), catch: String }).pipe(
    Effect.catch((because) => Effect.logError(`Cannot keep ${what} in ${file}: ${because}`)),
  )
