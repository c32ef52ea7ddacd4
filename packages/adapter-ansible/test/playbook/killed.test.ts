import { execFileSync, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { patience, sandboxObstacle, skipNote } from "./support/obstacle.ts"

const running = (words: string): boolean => {
  try {
    return execFileSync("pgrep", ["-fx", words]).length > 0
  } catch {
    return false
  }
}
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50))
}

it.skipIf(sandboxObstacle !== undefined)(
  `a service that is killed takes its tools with it, and everything that these started${skipNote(sandboxObstacle)}`,
  { timeout: patience },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "rw-killed-"))
    const tool = `sleep 43210.${process.pid}`
    const service = spawn(process.execPath, [join(import.meta.dirname, "../programs/one-run.ts"), folder, tool], {
      stdio: "ignore",
    })
    await until(() => running(tool) || service.exitCode !== null)
    expect(service.exitCode).toBeNull()
    service.kill("SIGKILL")
    await until(() => !running(tool) && !running(`.*ansible-playbook.*${folder}.*`))
    await rm(folder, { recursive: true, force: true })
  },
)
