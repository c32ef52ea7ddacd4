import type { LegacyUser } from "@rangewright/domain"
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Passwords are short, and configurations are no longer than the service accepts. */
const passwordAtMost = 1024
const configAtMost = 1024 * 1024

/** Names of folders below `users`: anything else could lead out of it. */
const folderName = /^[a-z_][a-z0-9._-]{0,47}$/u

// the byte order mark is kept: configurations are preserved byte for byte
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A file's text, or why it was not read; neither when it does not exist. */
interface Found {
  readonly text?: string
  readonly why?: string
}

const errorCode = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "an unknown reason"

/** Reads a small file below a folder. Follows no links, neither of the file itself nor of folders on its path. */
const readSmall = async (root: string, path: readonly string[], limit: number): Promise<Found> => {
  const whole = join(root, ...path)
  try {
    const folder = dirname(whole)
    if ((await realpath(folder)) !== folder) return { why: "its folder is a link" }
    const file = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const facts = await file.stat()
      if (!facts.isFile()) return { why: "it is not a regular file" }
      if (facts.size > limit) return { why: `it is larger than ${limit} bytes` }
      return { text: utf8.decode(await file.readFile()) }
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof TypeError) return { why: "it is not UTF-8 text" }
    const code = errorCode(cause)
    if (code === "ENOENT" || code === "ENOTDIR") return {}
    return { why: code === "ELOOP" ? "it is a link" : `it cannot be read (${code})` }
  }
}

/** A user with the files in the installation's folder. Never fails: unread files are named. */
export const withFiles = async (
  folder: string,
  user: Omit<LegacyUser, "password" | "config" | "unread">,
): Promise<LegacyUser> => {
  const name = user.hypervisorUsername
  if (!folderName.test(name)) return { ...user, password: undefined, config: undefined, unread: [] }
  const root = await realpath(folder)
  const password = await readSmall(root, ["users", name, "proxmox_password"], passwordAtMost)
  const config = await readSmall(root, ["users", name, "range-config.yml"], configAtMost)
  const secret = password.text?.trim()
  return {
    ...user,
    password: secret === "" ? undefined : secret,
    config: config.text,
    unread: [
      ...(password.why === undefined ? [] : [`the file users/${name}/proxmox_password was left out: ${password.why}`]),
      ...(config.why === undefined ? [] : [`the file users/${name}/range-config.yml was left out: ${config.why}`]),
    ],
  }
}
