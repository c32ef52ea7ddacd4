import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import { type RunningService, startService } from "../src/compose/service.ts"
import { loadConfig } from "../src/config/config.ts"

type Environment = Readonly<Record<string, string>>

/** A data folder that goes when the test ends, with what is done to the service in it. */
export const makeFolder = () => {
  const data = mkdtempSync(join(tmpdir(), "rangewright-folder-"))
  const running: RunningService[] = []
  const stop = async (): Promise<void> => {
    for (const service of running.splice(0)) await service.stop()
  }
  onTestFinished(async () => {
    await stop()
    rmSync(data, { recursive: true, force: true })
  })
  const environmentOf = (more: Environment): Record<string, string> => ({
    RANGEWRIGHT_DATA: data,
    RANGEWRIGHT_PORT: "0",
    RANGEWRIGHT_HOST: "127.0.0.1",
    RANGEWRIGHT_LOG_LEVEL: "error",
    RANGEWRIGHT_SIMULATOR_SPEED: "1000",
    ...more,
  })
  const start = async (more: Environment = {}): Promise<RunningService> => {
    const service = await startService(loadConfig({ file: undefined, environment: environmentOf(more) }))
    running.push(service)
    return service
  }
  return {
    data,
    path: (name: string): string => join(data, name),
    text: (name: string): string => readFileSync(join(data, name), "utf8").trim(),
    start,
    stop,
    /** Starts and stops a service; what came of it. */
    tried: async (more: Environment = {}): Promise<string> => {
      try {
        await start(more)
        return "started"
      } catch (error) {
        return `${String(error)} ${(error as { hint?: string }).hint ?? ""}`
      } finally {
        await stop()
      }
    },
    /** Runs a command on the folder, as a process of its own. */
    command: (args: readonly string[], more: Environment = {}) => runCommand(args, environmentOf(more)),
    /** Runs a command to its end; the changes of files at which it is to be killed: every rename, and some of the others. */
    momentsOf: async (args: readonly string[], more: Environment = {}): Promise<readonly number[]> => {
      const file = join(mkdtempSync(join(tmpdir(), "rangewright-changes-")), "changes")
      onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }))
      const { status, output } = await runCommand(args, environmentOf({ ...more, ...noting, CHANGES_FILE: file })).ended
      if (status !== 0) throw new Error(output)
      const changes = readFileSync(file, "utf8").trim().split("\n")
      const pace = Math.ceil(changes.length / 12)
      return [...changes.keys()]
        .filter((index) => index % pace === 0 || changes[index]?.startsWith("rename"))
        .map((index) => index + 1)
    },
    /** Runs a command, and kills it right after its nth change of a file. */
    killedAfter: async (change: number, args: readonly string[], more: Environment = {}): Promise<void> => {
      const { status, output } = await runCommand(args, environmentOf({ ...more, ...noting, KILL_AFTER: String(change) })).ended
      if (status !== undefined) throw new Error(`It ended with ${status} before change ${change}: ${output}`)
    },
  }
}

/** The command notes its changes of files, and may be killed at one. */
const noting = { NODE_OPTIONS: `--import ${new URL("kill-at-change.mjs", import.meta.url).href}` }

const main = fileURLToPath(new URL("../dist/bundle/main.js", import.meta.url))

export interface CommandProcess {
  readonly kill: () => void
  readonly ended: Promise<{ readonly status: number | undefined; readonly output: string }>
}

const runCommand = (args: readonly string[], environment: Environment): CommandProcess => {
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...environment } })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => parts.push(String(part)))
  return {
    kill: () => void child.kill("SIGKILL"),
    ended: new Promise((resolve) => {
      child.on("close", (status) => resolve({ status: status ?? undefined, output: parts.join("") }))
    }),
  }
}

export const newKeyText = (): string => randomBytes(32).toString("base64")

const asked = async (service: RunningService, path: string, key: string, body?: unknown): Promise<Response> =>
  fetch(`${service.plainUrl}/api/v2${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "X-API-KEY": key, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

const rootKeyOf = (service: RunningService): string => readFileSync(service.rootKeyFile, "utf8").trim()

/** Makes a user with a range of the same name; their API key. */
export const addUser = async (service: RunningService): Promise<string> => {
  const made = { userID: "UMA", name: "Uma", email: "uma@lab.example", isAdmin: false }
  const answer = await asked(service, "/user", rootKeyOf(service), made)
  return ((await answer.json()) as { apiKey: string }).apiKey
}

/** The status that a key of the API gets. */
export const statusOf = async (service: RunningService, key = rootKeyOf(service)): Promise<number> =>
  (await asked(service, "/user", key)).status

/** The user's password on the hypervisor, which the database keeps sealed. */
export const passwordOf = async (service: RunningService): Promise<unknown> =>
  (
    (await (await asked(service, "/user/credentials?userID=UMA", rootKeyOf(service))).json()) as {
      result?: { proxmoxPassword?: unknown }
    }
  ).result?.proxmoxPassword
