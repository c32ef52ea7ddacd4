/**
 * A process that serves, for `http.bench.ts`. `ours FOLDER`: the operations over SQLite in that folder, with 100 ranges and 1,000 VMs.
 * `bare`: a node:http server that answers every path with the bytes it was given by PUT. Writes one line of JSON when it is ready, and
 * answers each message of its parent with its processor time.
 */
import { credentialHasher, cryptoLayer, firstHashKey } from "@rangewright/adapter-crypto"
import { httpApp, listen, usualHttpOptions, type Runner } from "@rangewright/adapter-http"
import { licenseLayer, openLicense } from "@rangewright/adapter-memory"
import { noGuestAutomation } from "@rangewright/adapter-proxmox"
import { storageLayer } from "@rangewright/adapter-storage"
import { activityLayer, authenticate, operations, Settings, type SettingsShape } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import { GuestAutomation } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { keyOf, stock } from "./stock.ts"

const secret = { bytes: new Uint8Array(32) }

export interface Ready {
  readonly port: number
  /** Microseconds to check a key: its hash alone, and with the user read from the store. */
  readonly keyCheck?: { readonly hash: number; readonly whole: number }
}

/** Microseconds of one call, over many. */
const timeEach = async (count: number, call: () => unknown): Promise<number> => {
  for (let i = 0; i < count / 10; i++) await call()
  const start = performance.now()
  for (let i = 0; i < count; i++) await call()
  return ((performance.now() - start) * 1000) / count
}

const serveOurs = async (folder: string): Promise<Ready> => {
  const ports = Layer.mergeAll(
    storageLayer({ file: join(folder, "bench.db") }),
    cryptoLayer(secret),
    licenseLayer(openLicense),
    Layer.succeed(GuestAutomation, noGuestAutomation),
  )
  // the measured reads need no other services
  const settings = Layer.succeed(Settings, { version: "0.0.0", peerVersion: "2.3.0" } as SettingsShape)
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.mergeAll(activityLayer, settings), ports))
  await runtime.runPromise(stock)
  const hasher = credentialHasher(firstHashKey(secret))
  const stored = hasher.hash(keyOf("ME"))
  const hash = await timeEach(50_000, () => hasher.verify(keyOf("ME"), stored))
  const whole = await timeEach(10_000, () => runtime.runPromise(authenticate({ apiKey: keyOf("ME"), authorization: undefined })))
  const fork = Effect.runForkWith(await runtime.context())
  const run: Runner = (effect) => fork(effect as Effect.Effect<never, Fault>)
  const app = httpApp({
    ...usualHttpOptions,
    operations,
    run,
    observer: { answered: () => undefined, defect: (defect) => console.error(defect) },
    probes: { ready: () => Promise.resolve({ ready: true, detail: {} }), metrics: () => Promise.resolve("") },
  })
  const { port } = await listen(app, { host: "127.0.0.1", port: 0, tls: undefined })
  return { port, keyCheck: { hash, whole } }
}

const serveBare = (): Promise<Ready> => {
  const answers = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const url = request.url ?? ""
    if (request.method === "PUT") {
      const chunks: Buffer[] = []
      request
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          answers.set(url, Buffer.concat(chunks))
          response.end()
        })
      return
    }
    const body = answers.get(url) ?? ""
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length })
    response.end(body)
  })
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port })))
}

const [what, folder = ""] = process.argv.slice(2)
console.log(JSON.stringify(what === "ours" ? await serveOurs(folder) : await serveBare()))
process.on("message", () => process.send?.(process.cpuUsage()))
process.on("disconnect", () => process.exit())
