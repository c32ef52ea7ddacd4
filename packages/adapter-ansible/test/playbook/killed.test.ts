import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openFolders } from "../../src/playbook/scratch.ts"
import { obstacle, patience, sandboxObstacle, skipNote } from "./support/obstacle.ts"

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

const started: ChildProcess[] = []
const oneTool = fileURLToPath(new URL("../../../host-tools/test/programs/one-tool.ts", import.meta.url))
const oneRun = fileURLToPath(new URL("../programs/one-run.ts", import.meta.url))
const service = (program: string, ...args: readonly string[]): ChildProcess => {
  const child = spawn(process.execPath, [program, ...args], { stdio: "ignore" })
  started.push(child)
  return child
}
const killed = async (child: ChildProcess): Promise<void> => {
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGKILL")
  await ended
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rw-killed-"))
})
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL")
  await rm(folder, { recursive: true, force: true })
})

/** What nobody else runs. */
const sleeper = (index: number): string => `sleep 4321${index}.${process.pid}`

describe("a service that is killed", { timeout: patience }, () => {
  it("takes its tools with it: their children, those that outlive them, and those that left their group", async () => {
    const sleepers = [1, 2, 3].map(sleeper)
    const [child, orphan, daemon] = sleepers
    const script = `(${orphan} &); setsid -f ${daemon}; ${child} & wait`
    const parent = service(oneTool, folder, "/bin/sh", "-c", script)
    await until(() => sleepers.every(running) || parent.exitCode !== null)
    expect(parent.exitCode).toBeNull()
    await killed(parent)
    await until(() => !sleepers.some(running))
  })

  it("leaves alone processes that are not its tools'", async () => {
    const stranger = spawn("sleep", [`43214.${process.pid}`], {
      env: { HOME: `${folder}-of-another/home`, PATH: "/usr/bin:/bin" },
    })
    started.push(stranger)
    const parent = service(oneTool, folder, "/bin/sh", "-c", `${sleeper(5)}; true`)
    await until(() => running(sleeper(5)) && running(sleeper(4)))
    await killed(parent)
    await until(() => !running(sleeper(5)))
    expect(running(sleeper(4))).toBe(true)
  })

  it("leaves nothing to the next one, which ends surviving processes", async () => {
    const scratch = join(folder, "runs", "one")
    await mkdir(scratch, { recursive: true })
    await writeFile(join(scratch, "stage.yml"), "secret")
    const left = spawn("sleep", [`43216.${process.pid}`], { env: { HOME: join(scratch, "home"), PATH: "/usr/bin:/bin" } })
    started.push(left)
    await until(() => running(sleeper(6)))
    const ended = new Promise((resolve) => left.once("exit", (_, signal) => resolve(signal)))
    await openFolders(folder)
    expect(await ended).toBe("SIGKILL")
    await expect(readFile(join(scratch, "stage.yml"))).rejects.toThrow("ENOENT")
  })

  for (const [sandbox, because] of [
    ["auto", sandboxObstacle],
    ["off", obstacle],
  ] as const)
    it.skipIf(because !== undefined)(`takes ansible-playbook with it, sandbox ${sandbox}${skipNote(because)}`, async () => {
      const parent = service(oneRun, folder, sleeper(7), "ansible-playbook", sandbox)
      await until(() => running(sleeper(7)) || parent.exitCode !== null)
      expect(parent.exitCode).toBeNull()
      await killed(parent)
      await until(() => !running(sleeper(7)) && !running(`.*ansible-playbook.*${folder}.*`))
    })
})
