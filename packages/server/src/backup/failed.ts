import { Refusal } from "@rangewright/adapter-git"
import { Conflict } from "@rangewright/domain"

/** What the host says when it cannot; everything else is told as it is. */
const hostReasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the account's disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "this account lacks the permission",
  EISDIR: "it is a folder, not a file",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
}

const itemOf = ({ why }: Refusal): string | undefined =>
  why.type === "tree"
    ? why.problem.path
    : why.item === undefined
      ? undefined
      : JSON.stringify(why.item.slice(0, 200)).slice(1, -1)

/** What ended work on files, told with what was being done: `restore /backups/lab.tar.gz`. `ways`: what to do about what the host says, by its code. */
export const failed = (doing: string, cause: unknown, ways: Readonly<Record<string, string>> = {}): unknown => {
  if (cause instanceof Refusal) {
    const item = itemOf(cause)
    return new Conflict({
      what: `Cannot ${doing}: ${cause.message}${item === undefined ? "" : ` (${item})`}`,
      // another copy of what is no backup, or of a later form, is that too
      ...(/damaged|ends before|not as it was made|not what was written/u.test(cause.message)
        ? { hint: "Get another copy of it." }
        : {}),
    })
  }
  const { code, path, syscall } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
  if (syscall === undefined || code === undefined) return cause
  const at = path === undefined ? "" : ` (${path})`
  const hint = ways[code]
  return new Conflict({
    what: `Cannot ${doing}: ${hostReasons[code] ?? (cause as Error).message}${at}`,
    ...(hint === undefined ? {} : { hint }),
  })
}
