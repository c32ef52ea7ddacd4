import * as Effect from "effect/Effect"
import { constants } from "node:fs"
import { link, open, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { randomBytes } from "node:crypto"
import { KeyUnusable } from "./faults.ts"

const readableByOthers = 0o077

const because = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const readGuarded = async (path: string): Promise<string | undefined> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined
    throw cause
  })
  if (file === undefined) return undefined
  try {
    const { mode } = await file.stat()
    if ((mode & readableByOthers) !== 0)
      throw new KeyUnusable({
        what: path,
        because: `its mode is ${(mode & 0o777).toString(8).padStart(4, "0")}, so others on this machine may read it`,
        hint: `Run chmod 600 ${path}; if somebody else may have read it, create a new one.`,
      })
    return await file.readFile("utf8")
  } finally {
    await file.close()
  }
}

/**
 * Writes a temporary file and links it into place: a crash leaves no partial file, and of two racing writers one wins and both read the
 * winner's.
 */
const writeOnce = async (path: string, text: string): Promise<void> => {
  const beside = `${path}.${randomBytes(6).toString("hex")}`
  try {
    const file = await open(beside, "wx", 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(beside, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EEXIST") throw cause
    })
    const folder = await open(dirname(path), "r")
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } finally {
    await rm(beside, { force: true })
  }
}

/** The text of a file that only its owner may read (mode 0600 or less; symbolic links are refused). Undefined when it does not exist. */
export const readSecretFile = (path: string): Effect.Effect<string | undefined, KeyUnusable> =>
  Effect.tryPromise({
    try: () => readGuarded(path),
    catch: (cause) =>
      cause instanceof KeyUnusable
        ? cause
        : new KeyUnusable({ what: path, because: because(cause), hint: "It must be a regular file that this user may read." }),
  })

/** The file's text; if it does not exist, `make`'s text is first written with mode 0600. Never overwrites. */
export const loadOrCreateSecretFile = <E>(path: string, make: Effect.Effect<string, E>): Effect.Effect<string, E | KeyUnusable> =>
  Effect.gen(function* () {
    const existing = yield* readSecretFile(path)
    if (existing !== undefined) return existing
    const text = yield* make
    yield* Effect.tryPromise({
      try: () => writeOnce(path, text),
      catch: (cause) =>
        new KeyUnusable({
          what: path,
          because: because(cause),
          hint: "The data folder must exist and be writable by this user.",
        }),
    })
    return (yield* readSecretFile(path)) ?? text
  })
