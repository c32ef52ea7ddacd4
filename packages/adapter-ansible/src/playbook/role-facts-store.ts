import type { RangeId, RecordId } from "@rangewright/domain"
import type { SecretStore } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { type Facts, factsFrom, factsToJson, type KeptFacts } from "./role-facts.ts"
import { type Folders, ownFolder } from "./scratch.ts"

/** Limit for the sealed facts of one range. Roles set kilobytes; facts beyond this are not kept. */
const rangeBytes = 32 * 1024 * 1024
/** Limit for the tool's output file: twice that of its values, which are strings inside a string. */
const outputBytes = 12 * 1024 * 1024

type Secrets = Context.Service.Shape<typeof SecretStore>
/** The record id, because a later range of the same name is a different one. */
type Whose = { readonly id: RangeId; readonly recordId: RecordId }

const contextOf = ({ recordId }: Whose, name: string): string => `facts ${name} of roles in range ${recordId}`
/** A file for each role of each machine, named by a hash: their names together may be longer than a file name. */
const fileOf = (key: string): string => createHash("sha256").update(key).digest("hex")

const written = ({ initial, set, ...rest }: KeptFacts): string =>
  JSON.stringify({ ...rest, initial: factsToJson(initial), set: factsToJson(set) })

const read = (text: string): KeptFacts => {
  const { initial, set, ...rest } = JSON.parse(text) as Omit<KeptFacts, "initial" | "set"> & Record<"initial" | "set", string>
  return { ...rest, initial: factsFrom(JSON.parse(initial)) ?? new Map(), set: factsFrom(JSON.parse(set)) ?? new Map() }
}

/** Facts set by a range's roles, as stored. Entries that cannot be opened are left out. */
export const readKept = Effect.fnUntraced(function* (folders: Pick<Folders, "roleFacts">, secrets: Secrets, range: Whose) {
  const folder = yield* Effect.promise(() => ownFolder(folders.roleFacts, range.id))
  const names = yield* Effect.promise(() => readdir(folder))
  const found = yield* Effect.forEach(names, (name) =>
    Effect.promise(() => readFile(join(folder, name), "utf8")).pipe(
      Effect.flatMap((sealed) => secrets.open(sealed, contextOf(range, name))),
      Effect.flatMap((text) => Effect.try(() => [read(text)])),
      Effect.catch(() => Effect.succeed([])),
    ),
  )
  return found.flat()
})

/** Stores what a role set, replacing what it set before. False when there is no room, and nothing of it is stored. */
export const keep = async (
  folders: Pick<Folders, "roleFacts">,
  secrets: Secrets,
  range: Whose,
  facts: KeptFacts,
): Promise<boolean> => {
  const folder = await ownFolder(folders.roleFacts, range.id)
  const name = fileOf(facts.key)
  const sealed = secrets.seal(written(facts), contextOf(range, name))
  const others = (await readdir(folder)).filter((other) => other !== name)
  const sizes = await Promise.all(others.map(async (other) => (await stat(join(folder, other))).size))
  if (sizes.reduce((sum, size) => sum + size, sealed.length) > rangeBytes) {
    await rm(join(folder, name), { force: true })
    return false
  }
  const beside = join(folder, `${name}.new`)
  await durably(beside, sealed)
  await rename(beside, join(folder, name))
  return true
}

/** Survives a crash of the host too, not just of the service. */
const durably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, "w", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Deletes what these roles set. */
export const forgetKept = async (folders: Pick<Folders, "roleFacts">, range: Whose, keys: readonly string[]): Promise<void> => {
  const folder = await ownFolder(folders.roleFacts, range.id)
  for (const key of keys) await rm(join(folder, fileOf(key)), { force: true })
}

/**
 * Reads the file that the tool wrote for a run. A role may have replaced it with anything, even a link to the service's own files: only a
 * regular file of the expected form is read.
 */
export const readWritten = async (path: string): Promise<{ readonly initial: Facts; readonly set: Facts } | undefined> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const found = await file.stat()
    if (!found.isFile() || found.size > outputBytes) return undefined
    const value = Object(JSON.parse(await file.readFile("utf8"))) as Readonly<Record<string, unknown>>
    const [initial, set] = [factsFrom(value["initial"]), factsFrom(value["set"])]
    return initial === undefined || set === undefined ? undefined : { initial, set }
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
