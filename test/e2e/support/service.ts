import { readFileSync } from "node:fs"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { type Account, asOrdinary, installed } from "./account.ts"
import { apiClient, type ApiClient } from "./client.ts"
import { type Program, type ProgramOptions, start } from "./program.ts"
import type { SimulatorProcess } from "./simulator.ts"

/** The service as a process of its own, ready for requests. */
export interface ServiceProcess {
  readonly program: Program
  readonly port: number
  /** Where tests reach it: plain HTTP on this host, HTTPS from another. */
  readonly url: string
  readonly urls: readonly string[]
  readonly certificate: string
  /** ROOT, with the key in the service's own folder; a service that shares a database with another keeps none. */
  readonly root: ApiClient
  readonly as: (key: string) => ApiClient
  /** Kills it as a power cut would: no handler runs. */
  readonly crash: () => Promise<void>
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of every service under test: a free port, its folder, fast observation. */
export const serviceEnvironment = (data: string, more: Environment = {}): Environment => ({
  RANGEWRIGHT_HOST: "127.0.0.1",
  RANGEWRIGHT_PORT: "0",
  RANGEWRIGHT_DATA: data,
  RANGEWRIGHT_OBSERVE_EVERY: "1",
  RANGEWRIGHT_DEPLOY_SHOWN: "0",
  ...more,
})

/** The configuration with which a service uses the simulator like a real Proxmox: over HTTPS, with a token and a pinned certificate. */
export const onSimulator = (
  { fingerprint, token, url }: Pick<SimulatorProcess, "fingerprint" | "token" | "url">,
  more: Environment = {},
): Environment => ({
  RANGEWRIGHT_PROXMOX_URL: url,
  RANGEWRIGHT_PROXMOX_TOKEN_ID: token.id,
  RANGEWRIGHT_PROXMOX_TOKEN_SECRET: token.secret,
  RANGEWRIGHT_PROXMOX_FINGERPRINT: fingerprint,
  RANGEWRIGHT_GUEST_AUTOMATION: "guest-program",
  ...more,
})

/** Another host, where a service runs. */
export interface Place {
  /** Prefix of a command to run it there as root. */
  readonly launcher: readonly string[]
  /** Its address for the tests. */
  readonly address: string
  /** The service's account there. */
  readonly account: Account
}

const startAt = (place: Place | undefined): Pick<ProgramOptions, "launcher" | "seenAt"> =>
  place?.account === "ordinary"
    ? { launcher: [...place.launcher, ...asOrdinary()], seenAt: installed }
    : { launcher: place?.launcher ?? [] }

/** Starts the service without waiting. */
export const launch = (data: string, more: Environment = {}, args: readonly string[] = [], place?: Place): Program =>
  start("server", args, { env: serviceEnvironment(data, more), ...startAt(place) })

/** Makes the tests' own requests trust it from now on. */
const trust = (pem: string): void => {
  const certificate = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/u.exec(pem)?.[0]
  if (certificate !== undefined) setDefaultCACertificates([...getCACertificates("default"), certificate])
}

interface ReadyLine {
  readonly urls: readonly string[]
  readonly certificate: string
}

/** Starts the service and waits until it is ready. At another place it has a certificate for its address, which becomes trusted. */
export const startService = async (
  data: string,
  more: Environment = {},
  args: readonly string[] = [],
  place?: Place,
): Promise<ServiceProcess> => {
  const elsewhere = place === undefined ? {} : { RANGEWRIGHT_HOST: place.address, RANGEWRIGHT_TLS_HOSTS: place.address }
  const program = launch(data, { ...more, ...elsewhere }, args, place)
  const [line] = await program.says(/^\{.*"msg":"ready"\}$/mu)
  const { urls, certificate } = JSON.parse(line) as ReadyLine
  const port = Number(new URL(urls[0] ?? "").port)
  const url = place === undefined ? `http://127.0.0.1:${port}` : `https://${place.address}:${port}`
  if (place !== undefined) trust(readFileSync(join(data, "certificate.pem"), "utf8"))
  const ending = { is: "It runs." }
  void program.ended.then(({ code, signal }) => {
    ending.is = `It ended with ${code ?? signal}: ${program.stderr().slice(-4000)} ${program.stdout().slice(-4000)}`
  })
  const as = (key: string) => apiClient(url, key, () => ending.is)
  return {
    program,
    port,
    url,
    urls,
    certificate,
    get root() {
      return as(readFileSync(join(data, "root-api-key"), "utf8").trim())
    },
    as,
    crash: async () => {
      program.signal("SIGKILL")
      await program.ended
    },
  }
}
