import { stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"

/** Search path for system programs. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** The paths where tools look for a program of this name. */
export const placesOf = (program: string): readonly string[] =>
  isAbsolute(program) ? [program] : systemPath.split(":").map((folder) => join(folder, program))

/** A fingerprint that stays the same as long as none of these files and folders is created, replaced or removed. */
export const traceOf = async (paths: readonly string[]): Promise<string> =>
  (
    await Promise.all(
      paths.map((path) =>
        stat(path).then(
          ({ ino, mtimeMs, mode }) => `${ino} ${mtimeMs} ${mode}`,
          () => "-",
        ),
      ),
    )
  ).join()
