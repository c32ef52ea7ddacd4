import { lchownSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"

/**
 * Changes the owner of files that root created in another account's folder to that account, whose service could not use them otherwise.
 * Names are relative to the folder.
 */
export const giveToOwnerOf = (folder: string, names: readonly string[]): void => {
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() !== 0 || uid === 0) return
  for (const name of names) lchownSync(join(folder, name), uid, gid)
}

/** The same for a whole tree. Links are changed themselves and never followed: they may lead anywhere. */
export const giveTreeToOwnerOf = (folder: string, name: string): void => {
  giveToOwnerOf(folder, [name])
  for (const entry of readdirSync(join(folder, name), { withFileTypes: true })) {
    const below = join(name, entry.name)
    if (entry.isDirectory()) giveTreeToOwnerOf(folder, below)
    else giveToOwnerOf(folder, [below])
  }
}

/** Creates a folder inside another one, readable by its owner only. The name is relative to the outer folder. */
export const makeFolderFor = (folder: string, name: string): void => {
  mkdirSync(join(folder, name), { mode: 0o700 })
  giveToOwnerOf(folder, [name])
}
