import { execFile } from "node:child_process"
import { systemPath } from "./places.ts"

/**
 * Descends folder by folder, so it works whatever the length of the full path, and follows no symbolic links. Prints one reason at most,
 * of maybe millions. Whoever still writes there has been killed, and is waited for.
 */
const thorough = `rm -rf -- "$1" 2>/dev/null && exit
sleep 0.1
chmod -R u+rwx -- "$1" 2>/dev/null
rm -rf -- "$1" 2>&1 | tail -n 1 >&2
[ ! -e "$1" ] && [ ! -L "$1" ]`

/**
 * Removes a folder that a tool could write to, with everything in it. Tools can leave what cannot be removed by path: folders nested too
 * deep for any path, or ones that even their owner may not enter; and millions of files, which would take all memory of this process and
 * hold it up. Fails when something could not be removed.
 */
export const removeFolder = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (error: Error | null): void => (error === null ? resolve() : reject(error))
    execFile("/bin/sh", ["-c", thorough, "sh", path], { env: { PATH: systemPath, LC_ALL: "C.UTF-8" }, cwd: "/" }, end)
  })
