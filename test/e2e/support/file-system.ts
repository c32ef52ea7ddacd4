import { execFileSync } from "node:child_process"
import { temporaryFolder } from "./folder.ts"

const mounted: string[] = []

/** A file system in memory with these mount options; undefined where only root may mount one. */
export const mountFileSystem = (options: string): string | undefined => {
  const folder = temporaryFolder()
  try {
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" })
  } catch {
    return undefined
  }
  mounted.push(folder)
  return folder
}

/** Call this before the folders are removed. */
export const unmountAll = (): void => {
  for (const folder of mounted.splice(0)) execFileSync("/bin/umount", ["--lazy", folder])
}
