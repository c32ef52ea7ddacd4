import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Removes leftovers of killed processes. Those of another account are left for that account. */
const sweep = (place: string): void => {
  const start = `${basename(place)}.partial-`
  for (const name of readdirSync(dirname(place))) {
    const pid = name.startsWith(start) ? Number(name.slice(start.length)) : Number.NaN
    if (!Number.isInteger(pid) || isAlive(pid)) continue
    try {
      remove(join(dirname(place), name))
    } catch {
      // not removable: left in place
    }
  }
}

/** Creates a folder for this process alone beside each of these places, and removes them afterwards. */
export const withScratch = async <A>(places: readonly string[], use: (folders: readonly string[]) => Promise<A>): Promise<A> => {
  const folders = places.map((place) => `${place}.partial-${process.pid}`)
  try {
    for (const place of places) sweep(place)
    for (const folder of folders) {
      // left by a killed process with the same pid
      remove(folder)
      mkdirSync(folder, { mode: 0o700 })
    }
    return await use(folders)
  } finally {
    folders.forEach(remove)
  }
}
