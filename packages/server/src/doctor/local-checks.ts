import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join, resolve } from "node:path"
import { isFault } from "@rangewright/domain"
import { requireDatabase } from "../compose/data-folder.ts"
import { fullDisk } from "../compose/full-disk.ts"
import { chooseHost, hostReasons } from "../compose/open-port.ts"
import type { Config } from "../config/config.ts"
import { fail, ok, warn, type Finding } from "./finding.ts"

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`
/** A database with a thousand machines and a hundred runs for each range stays well below this. */
const leastFreeBytes = 2 * 2 ** 30

const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)))

/** The database of a folder that was in use. */
const databaseFinding = (config: Config, path: string): readonly Finding[] => {
  if (config.databaseUrl !== undefined) return []
  try {
    requireDatabase({ path, database: join(path, "rangewright.db") })
    return []
  } catch (fault) {
    if (!isFault(fault)) throw fault
    return [fail("database", fault.message, fault.hint ?? "")]
  }
}

/**
 * Why nothing can be stored in a folder; undefined when it can. Permissions alone do not tell (/proc), so with `make` a folder is created
 * in it and removed.
 */
const unusable = (folder: string, make: boolean): string | undefined => {
  if (!statSync(folder).isDirectory()) return "is not a folder"
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    if (make) rmdirSync(mkdtempSync(join(folder, ".rangewright-doctor-")))
    return undefined
  } catch {
    return "cannot be written"
  }
}

/** Whether the service can listen on the host: tested on any free port, so that it works while the service runs. */
export const checkHost = async ({ host }: Pick<Config, "host">): Promise<readonly Finding[]> => {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port: 0 }, () => server.close(() => resolve(undefined)))
  })
  return code === undefined
    ? []
    : [fail("host", `the service cannot listen on ${host}: ${hostReasons.get(code) ?? code}`, `${chooseHost}.`)]
}

const roomFinding = (folder: string, path: string): Finding => {
  const disk = statfsSync(folder)
  const free = disk.bavail * disk.bsize
  const full = fullDisk(disk, path)
  const more = `at least ${gib(leastFreeBytes)} are recommended.`
  if (full !== undefined) return fail("disk", full, `Free some space, until then the service refuses changes: ${more}`)
  return free < leastFreeBytes
    ? warn("disk", `${gib(free)} free for ${path}`, `Free some space: ${more}`)
    : ok("disk", `${gib(free)} free for ${path}`)
}

/** The data folder exists, is writable and private, and has free space. */
export const checkDataFolder = (config: Config): readonly Finding[] => {
  const path = resolve(config.data)
  const there = existsSync(path)
  const folder = nearestFolder(path)
  const because = unusable(folder, !there)
  if (because !== undefined)
    return [
      fail(
        "data folder",
        `${folder} ${because}${there ? "" : `, so ${path} cannot be created`}`,
        there && statSync(path).isDirectory()
          ? `Let the service's user write to ${path}, or choose another folder (data).`
          : "Choose a folder that the service's user may create or write to (data).",
      ),
    ]
  const room = roomFinding(folder, path)
  if (!there) return [ok("data folder", `${path} will be created at the first start`), room]
  const open = (statSync(path).mode & 0o077) !== 0
  const folderFinding = open
    ? warn("data folder", `${path} is accessible to other users of this host`, `chmod 700 ${path}`)
    : ok("data folder", `${path}, private to the service's user`)
  const key = join(path, "secret-key")
  const keyFinding =
    config.secretKey === undefined && !existsSync(key) && existsSync(join(path, "rangewright.db"))
      ? [
          fail(
            "secret key",
            `${key} is missing, but there is a database`,
            "Restore the key of this database; without it, its secrets cannot be decrypted.",
          ),
        ]
      : []
  return [folderFinding, room, ...keyFinding, ...databaseFinding(config, path)]
}
