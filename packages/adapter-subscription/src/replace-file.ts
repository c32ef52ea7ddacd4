import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

/**
 * Writes a temporary file and renames it into place, so that a crash leaves the old or the new one, and readers always see a complete file.
 */
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

/** Stores what is useful after a restart. A failure is only logged: the service continues with its copy in memory. */
export const keepFile = (what: string, file: string, text: string): Effect.Effect<void> =>
  Effect.tryPromise({ try: () => replaceFile(file, text, 0o600), catch: String }).pipe(
    Effect.catch((because) => Effect.logError(`Cannot keep ${what} in ${file}: ${because}`)),
  )
