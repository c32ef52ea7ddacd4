import { stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"

/** Where programs of the system are found. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** Where tools find a program of this name. */
export const placesOf = (program: string): readonly string[] =>
  isAbsolute(program) ? [program] : systemPath.split(":").map((folder) => join(folder, program))

/** A text that is the same as long as nothing of these files and folders was made, replaced or removed. */
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
