import { hasNoLinks } from "@rangewright/adapter-storage"
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
} from "node:fs"
import { join } from "node:path"

/** A copy of a tree as of one moment, while others keep changing the tree. */
export interface Mirror {
  /** Updates the mirror to the current tree; returns the number of changed entries. */
  readonly refresh: () => number
}

export interface MirrorRules {
  readonly isLeftOut: (path: string, holds: (name: string) => boolean) => boolean
  /** Whether an entry stays in the mirror after it is gone from the tree. */
  readonly stays: (path: string) => boolean
}

const gone = new Set(["ENOENT", "ENOTDIR"])

/** Result of the call; undefined when its file no longer exists. */
const unlessGone = <A>(call: () => A): A | undefined => {
  try {
    return call()
  } catch (cause) {
    if (gone.has((cause as NodeJS.ErrnoException).code ?? "")) return undefined
    throw cause
  }
}

const linkOrCopy = (source: string, target: string): void => {
  try {
    linkSync(source, target)
  } catch (cause) {
    if (!hasNoLinks(cause)) throw cause
    copyFileSync(source, target)
  }
}

/** Identifies a file or folder, even when another takes its name or its inode number is reused. */
const identityOf = (stats: Stats): string =>
  [stats.ino, stats.birthtimeMs, ...(stats.isFile() ? [stats.mtimeMs, stats.size] : [])].join(" ")

/** How many times to retry a folder that is replaced while it is being read. */
const tries = 50

/**
 * Mirrors folders and files with hard links, which take no space and keep a file whatever becomes of its name. Suitable for trees whose
 * files are put in place complete and never written to again: every folder that is replaced by renaming is then mirrored as exactly one of
 * its versions.
 */
export const mirrorOf = (source: string, target: string, paths: readonly string[], rules: MirrorRules): Mirror => {
  /** Identity of the source file or folder behind each entry of the mirror. */
  const known = new Map<string, string>()

  const forget = (path: string): void => {
    if (!known.has(path)) return
    rmSync(join(target, path), { recursive: true, force: true })
    for (const one of known.keys()) if (one === path || one.startsWith(`${path}/`)) known.delete(one)
  }

  /** Puts a file or a link into the mirror, unless it is already there. */
  const takeLeaf = (path: string, stats: Stats): number => {
    const identity = identityOf(stats)
    if (known.get(path) === identity) return 0
    forget(path)
    const [from, to] = [join(source, path), join(target, path)]
    const taken = unlessGone(() => {
      if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
      else linkOrCopy(from, to)
      return true
    })
    if (taken === true) known.set(path, identity)
    return 1
  }

  const takeFolder = (path: string): number => {
    let changes = 0
    for (let n = 0; n < tries; n++) {
      const before = unlessGone(() => lstatSync(join(source, path)))
      if (before?.isDirectory() !== true) return changes + drop(path)
      const identity = identityOf(before)
      if (known.get(path) !== identity) {
        forget(path)
        mkdirSync(join(target, path), { recursive: true, mode: 0o700 })
        known.set(path, identity)
        changes++
      }
      changes += takeEntries(path)
      const after = unlessGone(() => lstatSync(join(source, path)))
      if (after !== undefined && identityOf(after) === identity) return changes
    }
    return changes
  }
  const takeEntries = (path: string): number => {
    const names = unlessGone(() => readdirSync(join(source, path))) ?? []
    const there = new Set(names)
    let changes = 0
    for (const name of readdirSync(join(target, path))) if (!there.has(name)) changes += drop(`${path}/${name}`)
    for (const name of names) changes += take(`${path}/${name}`)
    return changes
  }
  const take = (path: string): number => {
    const stats = unlessGone(() => lstatSync(join(source, path)))
    if (stats === undefined || rules.isLeftOut(path, (name) => existsSync(join(source, path, name)))) return drop(path)
    if (stats.isDirectory()) return takeFolder(path)
    return stats.isFile() || stats.isSymbolicLink() ? takeLeaf(path, stats) : drop(path)
  }
  const drop = (path: string): number => {
    if (!known.has(path) || rules.stays(path)) return 0
    forget(path)
    return 1
  }

  return { refresh: () => paths.reduce((changes, path) => changes + take(path), 0) }
}
