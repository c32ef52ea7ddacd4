import { KeyUnusable } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { link, open, rename } from "node:fs/promises"
import { existsSync } from "node:fs"
import { basename, dirname } from "node:path"
import { type DataFolder } from "./data-folder.ts"
import { giveToOwnerOf } from "./owner.ts"

type KeyFolder = Pick<DataFolder, "keyFile">

/** The key that replaces the one in use as soon as the database has switched to it. */
export const nextKeyFile = ({ keyFile }: KeyFolder): string => `${keyFile}.next`

/** A former key, by its id: secrets sealed with it may come back with a backup. */
export const formerKeyFile = ({ keyFile }: KeyFolder, id: string): string => `${keyFile}.${id}`

const unless =
  (...codes: readonly string[]) =>
  (cause: NodeJS.ErrnoException): void => {
    if (!codes.includes(cause.code ?? "")) throw cause
  }

/** Makes the next key the one in use; the previous one, if any, is kept under its id. May be repeated, and run by two processes at once. */
export const takeNextKey = (folder: KeyFolder, formerId: string): Effect.Effect<void, KeyUnusable> =>
  Effect.tryPromise({
    try: async () => {
      await link(folder.keyFile, formerKeyFile(folder, formerId)).catch(unless("EEXIST", "ENOENT"))
      if (existsSync(nextKeyFile(folder))) giveToOwnerOf(dirname(folder.keyFile), [basename(nextKeyFile(folder))])
      await rename(nextKeyFile(folder), folder.keyFile).catch(unless("ENOENT"))
      await using parent = await open(dirname(folder.keyFile), "r")
      await parent.sync()
    },
    catch: (cause) =>
      new KeyUnusable({
        what: nextKeyFile(folder),
        because: cause instanceof Error ? cause.message : String(cause),
        hint: `It holds the key of the database now: rename it to ${folder.keyFile}.`,
      }),
  })
