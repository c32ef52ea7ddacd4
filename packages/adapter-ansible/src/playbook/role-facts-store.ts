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

/** What is kept for one range, sealed. Roles set kilobytes; whoever sets more than this loses what comes last. */
const rangeBytes = 32 * 1024 * 1024
/** What the tool may have written: twice what its values may take, for they are texts in a text. */
const outputBytes = 12 * 1024 * 1024

type Secrets = Context.Service.Shape<typeof SecretStore>
/** Another range of the same name later is another one. */
type Whose = { readonly id: RangeId; readonly recordId: RecordId }

const contextOf = ({ recordId }: Whose, name: string): string => `facts ${name} of roles in range ${recordId}`
/** A file for each role of each machine; their names together may be longer than a file's. */
const fileOf = (key: string): string => createHash("sha256").update(key).digest("hex")

const written = ({ initial, set, ...rest }: KeptFacts): string =>
  JSON.stringify({ ...rest, initial: factsToJson(initial), set: factsToJson(set) })

const read = (text: string): KeptFacts => {
  const { initial, set, ...rest } = JSON.parse(text) as Omit<KeptFacts, "initial" | "set"> & Record<"initial" | "set", string>
  return { ...rest, initial: factsFrom(JSON.parse(initial)) ?? new Map(), set: factsFrom(JSON.parse(set)) ?? new Map() }
}

/** What roles of a range set, as it was kept. What cannot be opened is not there. */
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

/** Keeps what a role set in place of what it set before. False: there is no room for it, and nothing is kept of it. */
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

/** What outlives a crash of the service outlives one of its host, too. */
const durably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, "w", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Forgets what these roles set. */
export const forgetKept = async (folders: Pick<Folders, "roleFacts">, range: Whose, keys: readonly string[]): Promise<void> => {
  const folder = await ownFolder(folders.roleFacts, range.id)
  for (const key of keys) await rm(join(folder, fileOf(key)), { force: true })
}

/**
 * What the tool wrote of a run. A role may have put anything in the place of the file, a link to the service's own files included: only a
 * plain file of the expected form is read.
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
