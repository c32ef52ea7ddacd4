import { execFileSync } from "node:child_process"
import { chownSync, lchownSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { repository } from "./program.ts"

/** The account a service under test runs as. `ordinary`: as under the shipped unit, with nothing but its data folder. */
export type Account = "ordinary" | "root"

/** The account `nobody` of every Linux, whose home does not exist. */
const nobody = 65_534

/** Where an ordinary account sees the repository: its real place may be below a folder that only root may enter. */
export const installed = "/opt/rangewright/"

/**
 * What the shipped unit does for the service: a file system that is read-only but for these places, an account without any right or home,
 * and no way to gain privileges.
 */
const unit = `set -e
mount -t tmpfs -o mode=755 tmpfs /opt
mkdir /opt/rangewright
mount --bind "$1" /opt/rangewright
mount --bind "$2" "$2"
for place in / /opt /opt/rangewright; do mount -o remount,bind,ro "$place"; done
cd /opt/rangewright
export HOME=/nonexistent
unset USER LOGNAME SHELL XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
id=$3
shift 3
exec setpriv --reuid="$id" --regid="$id" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`

/** Prefix of a command by root that runs it as an ordinary account in the same process; it may write at most to `writable`. */
export const asOrdinary = (writable = "/tmp", id = nobody): readonly string[] => [
  "unshare",
  "--mount",
  "/bin/sh",
  "-c",
  unit,
  "sh",
  repository,
  writable,
  String(id),
]

/** Gives a folder with everything in it to an ordinary account. */
export const giveToOrdinary = (folder: string, id = nobody): void => {
  chownSync(folder, id, id)
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) lchownSync(join(folder, name), id, id)
}

/** Why nothing can be started as another account here; undefined where it can. */
export const accountObstacle = (): string | undefined => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "starting a program as another account needs root"
  const [program, ...args] = asOrdinary()
  try {
    execFileSync(program ?? "", [...args, "true"], { stdio: "pipe" })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.trim().split("\n").at(-1) : String(error)
  }
}
