import { mkdir, rm } from "node:fs/promises"
import { run } from "./command.ts"

/** Copies a host's folder to `to`. Files that disappear meanwhile may be missing, as on a disk that loses power. */
export const copyFolder = async (from: string, to: string): Promise<void> => {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const { code, errors } = await run("cp", ["-a", "--reflink=auto", `${from}/.`, to])
  if (code !== 0 && !errors.includes("No such file")) throw new Error(`cannot copy ${from} to ${to}: ${errors}`)
}
