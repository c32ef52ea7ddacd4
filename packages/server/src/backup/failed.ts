import { Refusal } from "@rangewright/adapter-git"
import { Conflict } from "@rangewright/domain"

/** Messages for the host's error codes; any other error is reported as it is. */
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

/**
 * Turns an error of work on files into one that says what was being done: `restore /backups/lab.tar.gz`. `ways`: hints by error code of the
 * host.
 */
export const failed = (doing: string, cause: unknown, ways: Readonly<Record<string, string>> = {}): unknown => {
  if (cause instanceof Refusal) {
    const item = itemOf(cause)
    return new Conflict({
      what: `Cannot ${doing}: ${cause.message}${item === undefined ? "" : ` (${item})`}`,
      // a file that is not a backup, or of a later format, is a `Refusal` too, but another copy would not help
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
