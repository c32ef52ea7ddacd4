/**
 * Serve the whole API from your own Node service, beside its own routes.
 *
 * Everything is durable except the hypervisor, which is a simulator here. For a real one, see adapter-proxmox's README, and put
 * `Layer.provideMerge(playbookLayer({ … }))` of adapter-ansible, which works inside machines, between the application and the ports.
 */
import { galaxyInstallerLayer, libraryLayer } from "@rangewright/adapter-ansible"
import { cryptoLayer, loadOrCreateKey } from "@rangewright/adapter-crypto"
import { contentLayer } from "@rangewright/adapter-git"
import { apiDescriptionLayer, httpApp, usualHttpOptions } from "@rangewright/adapter-http"
import { internetLayer } from "@rangewright/adapter-internet"
import { absentLayer } from "@rangewright/adapter-memory"
import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { storageLayer } from "@rangewright/adapter-storage"
import { applicationLayer, giveRootKey, operations, Settings, usualSettings } from "@rangewright/application"
import { Ranges } from "@rangewright/ports"
import { createSimulator } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const data = process.env["DATA"] ?? mkdtempSync(join(tmpdir(), "lab-"))
const simulator = createSimulator({ speed: 60 })
const [id = "", secret = ""] = simulator.rootToken.split("=")

const content = contentLayer({ folder: join(data, "content") })
const library = galaxyInstallerLayer({ folder: join(data, "galaxy-runs") }).pipe(
  Layer.provideMerge(libraryLayer({ folder: join(data, "library") })),
)
const ports = Layer.mergeAll(
  storageLayer({ file: join(data, "lab.sqlite") }),
  Layer.unwrap(Effect.map(loadOrCreateKey(join(data, "master-key")), (key) => cryptoLayer(key))),
  proxmoxLayer({
    urls: [],
    transport: handlerTransport(simulator.handle, simulator.connect),
    auth: { type: "token", id, secret: Redacted.make(secret) },
    timeScale: 60,
  }),
  Layer.provideMerge(library, content),
  internetLayer(),
  absentLayer,
  Layer.succeed(Settings, { ...usualSettings, version: "1.0.0" }),
  apiDescriptionLayer(operations, { version: "1.0.0" }),
)
// the owner is this process's name among those that share the database
const runtime = ManagedRuntime.make(applicationLayer({ owner: "lab-1" }).pipe(Layer.provideMerge(ports)))

const app = httpApp({
  ...usualHttpOptions,
  operations,
  run: Effect.runForkWith(await runtime.context()),
  observer: { answered: () => undefined, defect: (defect) => console.error(defect) },
})
// ROOT creates the first administrator: POST /api/v2/user
writeFileSync(join(data, "root-key"), await runtime.runPromise(giveRootKey()), { mode: 0o600 })

const server = createServer({ shouldUpgradeCallback: app.upgrades }, (request, response) => {
  if (request.url !== "/labs") return app.handle(request, response)
  // a route of your own; it may use every port
  const ranges = Ranges.use(({ list }) => list())
  runtime.runPromise(ranges).then(
    (found) => response.end(JSON.stringify(found.map(({ id, name }) => ({ id, name })))),
    () => response.writeHead(500).end(),
  )
})
server.on("upgrade", app.upgrade)
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

// requests in flight are answered, and runs stop between two steps: the next start continues them
process.once("SIGTERM", () => {
  app.stop()
  server.close(() => void app.end(2_000).then(() => runtime.dispose()))
})
