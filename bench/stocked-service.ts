/**
 * The process that `npm start` runs, as tools/run.sh starts it, on SQLite with the stocked ranges, observing a simulator in this process
 * that has the same VMs.
 */
import { credentialHasher, firstHashKey } from "@rangewright/adapter-crypto"
import { storageLayer } from "@rangewright/adapter-storage"
import { CredentialHasher } from "@rangewright/ports"
import type { Simulator } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { stock } from "./stock.ts"
import { stockedSimulator } from "./stocked-simulator.ts"

const secretKey = Buffer.alloc(32)
const [, flags = ""] = /^service_flags='(.*)'$/mu.exec(readFileSync(new URL("../tools/run.sh", import.meta.url), "utf8")) ?? []
const main = fileURLToPath(new URL("../packages/server/dist/bundle/main.js", import.meta.url))

/** Milliseconds from the spawn: wall time, and the processor time of the service, which other processes hardly affect. */
export interface Ready {
  readonly wall: number
  readonly processors: number
}

export interface Started {
  readonly process: ChildProcess
  readonly ready: Ready
  readonly url: string
}

/** Starts the service and waits until its log says that it is ready. */
export const startService = async (environment: NodeJS.ProcessEnv): Promise<Started> => {
  const began = performance.now()
  const child = spawn(process.execPath, [...flags.split(" "), main], {
    env: { MALLOC_ARENA_MAX: "1", ...process.env, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  })
  const said: string[] = []
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line)
    const entry = JSON.parse(line) as { readonly msg: string; readonly urls?: readonly string[] }
    const url = entry.urls?.[0]
    if (entry.msg !== "ready" || url === undefined) continue
    child.stderr.resume()
    const ready = { wall: performance.now() - began, processors: processorMillis(child.pid) }
    return { process: child, ready, url: url.replace("https:", "http:") }
  }
  throw new Error(`the service ended before it was ready:\n${said.join("\n")}`)
}

/** Processor time in milliseconds since the process started; Linux counts it in hundredths of a second. */
export const processorMillis = (pid: number | undefined): number => {
  const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? ""
  const [user, system] = afterName.split(" ").slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

const seedStore = (folder: string): Promise<void> =>
  Effect.runPromise(
    Effect.provide(
      stock,
      Layer.merge(
        storageLayer({ file: join(folder, "rangewright.db") }),
        Layer.succeed(CredentialHasher, credentialHasher(firstHashKey({ bytes: secretKey }))),
      ),
    ),
  )

/** Calls `use` with the environment in which it starts services, one after another. */
export const withStock = async <A>(use: (environment: NodeJS.ProcessEnv) => Promise<A>): Promise<A> =>
  withSimulator(await stockedSimulator(), use)

/** The same with another simulator. */
export const withSimulator = async <A>(simulator: Simulator, use: (environment: NodeJS.ProcessEnv) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  try {
    await seedStore(folder)
    const { url } = await simulator.listen({ tls: false })
    const [id, secret] = simulator.rootToken.split("=")
    return await use({
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "v8"),
      RANGEWRIGHT_DATA: folder,
      RANGEWRIGHT_HOST: "127.0.0.1",
      RANGEWRIGHT_PORT: "0",
      RANGEWRIGHT_SECRET_KEY: secretKey.toString("base64"),
      RANGEWRIGHT_LOG_FORMAT: "json",
      RANGEWRIGHT_PROXMOX_URL: url,
      RANGEWRIGHT_PROXMOX_TOKEN_ID: id,
      RANGEWRIGHT_PROXMOX_TOKEN_SECRET: secret,
    })
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true })
  }
}
