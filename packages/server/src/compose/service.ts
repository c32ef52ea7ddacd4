import { httpApp, loadUi, usualHttpOptions, type Listener, type Runner, type UiFiles } from "@rangewright/adapter-http"
import { loadOrCreateCertificate } from "@rangewright/adapter-crypto"
import type { Operation } from "@rangewright/application"
import { parseProxies } from "@rangewright/domain"
import { sandboxAvailability } from "@rangewright/host-tools"
import { X509Certificate } from "node:crypto"
import { rmSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSecureContext } from "node:tls"
import { ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Container } from "inversify"
import type { Config } from "../config/config.ts"
import type { Log } from "../observe/log.ts"
import type { Metrics } from "../observe/metrics.ts"
import { buildContainer } from "./container.ts"
import { openDataFolder, requireDatabase, rootKeyFile, type DataFolder } from "./data-folder.ts"
import { makeSimulator, type BoundHypervisor } from "./hypervisor.ts"
import { loadSimulator } from "./keep-simulator.ts"
import { nextKeyFile } from "./key-files.ts"
import { readNamedFile } from "./named-file.ts"
import { openPort } from "./open-port.ts"
import { readiness } from "./readiness.ts"
import { ensureRootKey, type RootKeyState } from "./root-key.ts"
import { useTemporaryFolder } from "./temporary-folder.ts"
import { T, type AppRuntime } from "./tokens.ts"

export interface RunningService {
  readonly container: Container
  readonly runtime: AppRuntime
  readonly hypervisor: BoundHypervisor
  readonly log: Log
  /** As a client on this host writes them. */
  readonly urls: readonly string[]
  readonly plainUrl: string
  /** SHA-256 of the certificate in use. */
  readonly fingerprint: string
  readonly rootKeyFile: string
  /** Accepts no new requests, waits for those in flight and for steps of runs to settle, and ends within ten seconds. */
  readonly stop: () => Promise<void>
}

/** Time for requests in flight; the rest of the ten seconds is for the runs and the store. */
const requestGrace = 5_000
/** Requests still running then are interrupted, and get this long to clean up. */
const cleanUpGrace = 2_000

const certificateOf = async (config: Config, folder: DataFolder) => {
  if (config.tlsCert !== undefined && config.tlsKey !== undefined) {
    const pair = { cert: readNamedFile("tls_cert", config.tlsCert), key: readNamedFile("tls_key", config.tlsKey) }
    try {
      createSecureContext(pair)
    } catch (error) {
      throw new Error(
        `Cannot use tls_cert and tls_key: ${error instanceof Error ? error.message : String(error)}. They must be PEM files, the certificate (followed by its chain) and its private key without a passphrase. Without both, the service creates its own.`,
        { cause: error },
      )
    }
    return pair
  }
  const names = config.tlsHosts.length > 0 ? config.tlsHosts : ["localhost", hostname(), "127.0.0.1", "::1"]
  return Effect.runPromise(loadOrCreateCertificate(folder.certificateFile, names, new Date()))
}

/** Relative to this package, the same in the repository and in the packaged service. */
const usualWebFolder = fileURLToPath(new URL("../../../web/dist", import.meta.url))

/**
 * Browsers trust an operator's certificate; they do not trust our own, and with strict transport security could not return to plain HTTP.
 */
const isStrict = ({ tlsCert }: Config): boolean => tlsCert !== undefined

const httpOf = (container: Container, config: Config, runtime: AppRuntime, run: Runner, ui: UiFiles) => {
  const log = container.get<Log>(T.log)
  const metrics = container.get<Metrics>(T.metrics)
  return httpApp({
    ...usualHttpOptions,
    operations: container.get<readonly Operation[]>(T.operations),
    run,
    corsOrigins: config.corsOrigin === "*" ? "*" : config.corsOrigin.split(",").map((o) => o.trim()),
    trustedProxies: config.trustedProxies.flatMap((text) => parseProxies(text) ?? []),
    observer: {
      answered: ({ requestId, method, path, operation, status, milliseconds }) => {
        metrics.request(operation ?? "none", status, milliseconds / 1000)
        log.debug({ requestId, status, ms: Math.round(milliseconds * 10) / 10, operation }, `${method} ${path}`)
      },
      defect: ({ requestId, operation, cause }) =>
        log.error({ requestId, operation, cause }, "a request failed because of a bug"),
    },
    ui,
    strictTransport: isStrict(config),
    uploads: container.get<DataFolder>(T.folder).uploads,
    probes: readiness(runtime, metrics, config.databaseUrl === undefined ? config.data : undefined),
  })
}

/** Logs what sources need on this host but is missing. */
const tellWhatIsMissing = (log: Log) =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const git = yield* fetcher.gitAvailable
    if (!git.available) log.warn({ because: git.because }, "git is not available: sources come from archives and folders only")
  })

const tellOfRootKey = (log: Log, state: RootKeyState, file: string): void => {
  if (state === "made") log.info({ file }, "a key for ROOT was written")
  if (state === "put back") log.info({ file }, "ROOT's key was put back")
  if (state === "unknown") log.warn({ file }, "ROOT's key is not in its file: restore it, or create a new one with root-key")
}

const shown = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host

/** Starts everything that is configured, and logs what it found. */
export const startService = async (config: Config): Promise<RunningService> => {
  const folder = openDataFolder(config.data)
  useTemporaryFolder(folder.path)
  const closers: (() => Promise<void> | void)[] = [folder.release]
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    // it waits for another process: started here, it is nearly done when the result is needed
    Effect.runFork(sandboxAvailability(config.ansibleSandbox))
    if (config.databaseUrl === undefined) requireDatabase(folder)
    const simulator = await makeSimulator(config)
    const cluster = simulator === undefined ? undefined : await loadSimulator(simulator, join(folder.path, "simulator.json"))
    if (cluster !== undefined) closers.push(cluster.end)
    const container = buildContainer({ config, folder, simulator, owner: folder.instance, background: true })
    const runtime = container.get<AppRuntime>(T.runtime)
    const log = container.get<Log>(T.log)
    const hypervisor = container.get<BoundHypervisor>(T.hypervisor)
    closers.push(() => container.unbindAllAsync())
    const context = await runtime.context()
    cluster?.keep()
    // the present key was verified, so a next key left by an interrupted change is not needed
    rmSync(nextKeyFile(folder), { force: true })
    const rootKey = await runtime.runPromise(ensureRootKey(folder.path, { shared: config.databaseUrl !== undefined }))
    tellOfRootKey(log, rootKey, rootKeyFile(folder.path))
    if (hypervisor.kind === "simulator")
      log.warn(
        `${config.hypervisor === "auto" ? "no hypervisor is configured: " : ""}running on the built-in simulator, where nothing real happens`,
      )
    // it runs another program, so nothing waits for it
    runtime.runFork(tellWhatIsMissing(log))
    const tls = await certificateOf(config, folder)
    const ui = await loadUi(config.webFolder ?? usualWebFolder, { strictTransport: isStrict(config) })
    const app = httpOf(container, config, runtime, Effect.runForkWith(context), ui)
    closers.push(async () => {
      const left = await app.end(cleanUpGrace)
      if (left > 0) log.warn({ left }, "requests did not finish in time: their changes may be incomplete")
    })
    const listeners: Listener[] = [await openPort("port", app, { host: config.host, port: config.port, tls })]
    closers.push(async () => void (await Promise.all(listeners.map((l) => l.close(requestGrace)))))
    if (config.adminPort !== undefined)
      listeners.push(
        await openPort("admin_port", app, {
          host: config.exposeAdminPort ? config.host : "127.0.0.1",
          port: config.adminPort,
          tls,
        }),
      )
    const port = listeners[0]?.port ?? config.port
    return {
      container,
      runtime,
      hypervisor,
      log,
      urls: listeners.map((l) => `https://${shown(l.host)}:${l.port}`),
      plainUrl: `http://127.0.0.1:${port}`,
      fingerprint: new X509Certificate(tls.cert).fingerprint256,
      rootKeyFile: rootKeyFile(folder.path),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
