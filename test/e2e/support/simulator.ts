import { Agent, request } from "node:https"
import { type Program, start } from "./program.ts"

/** A VM as the cluster lists it. */
export interface Guest {
  readonly vmid: number
  readonly name: string
  readonly node: string
  readonly pool?: string
  readonly status: string
  readonly template?: number
}

/** The simulator as a process of its own, and what its API shows to root. */
export interface SimulatorProcess {
  readonly program: Program
  readonly url: string
  readonly port: number
  readonly fingerprint: string
  readonly token: { readonly id: string; readonly secret: string }
  /** Reads as root: the `data` of `GET /api2/json…`. */
  readonly read: <A>(path: string) => Promise<A>
  /** Does something as root, by hand: the `data` of a POST with these parameters. */
  readonly post: <A>(path: string, parameters: Readonly<Record<string, string>>) => Promise<A>
  /** Changes or removes something as root, by hand. */
  readonly change: (method: "PUT" | "DELETE", path: string, parameters?: Readonly<Record<string, string>>) => Promise<unknown>
  /** Plans a fault; returns the function that ends it. */
  readonly fault: (fault: Readonly<Record<string, unknown>>) => Promise<() => Promise<void>>
  /** The open consoles: the number of viewers, and the typed keys. */
  readonly screens: () => Promise<readonly { readonly vmid: number; readonly viewers: number; readonly typed: string }[]>
  /** All VMs except templates. */
  readonly guests: () => Promise<readonly Guest[]>
}

const found = async (program: Program, pattern: RegExp): Promise<string> => (await program.says(pattern))[1] ?? ""

export const startSimulator = async (args: readonly string[]): Promise<SimulatorProcess> => {
  const program = start("simulator", ["--port", "0", ...args])
  const url = await found(program, /url +(https:\S+)/u)
  const fingerprint = await found(program, /fingerprint +(\S+)/u)
  const token = await found(program, /root token +(\S+)\n/u)
  const [id = "", secret = ""] = token.split("=")
  const control = await found(program, /control token +(\S+)\n/u)
  // every connection is closed after its response, so that none keeps the test's process alive
  const agent = new Agent({ keepAlive: false, rejectUnauthorized: false })
  const ask = <A>(method: string, path: string, authorization: string, body = "") =>
    new Promise<A>((resolve, reject) => {
      request(`${url}${path}`, { agent, method, headers: { authorization } }, (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
        response.on("end", () =>
          response.statusCode === 200
            ? resolve((JSON.parse(text) as { readonly data: A }).data)
            : reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`)),
        )
      })
        .on("error", reject)
        .end(body)
    })
  const asRoot = `PVEAPIToken=${token}`
  const read: SimulatorProcess["read"] = (path) => ask("GET", `/api2/json${path}`, asRoot)
  return {
    program,
    url,
    port: Number(new URL(url).port),
    fingerprint,
    token: { id, secret },
    read,
    post: (path, parameters) => ask("POST", `/api2/json${path}`, asRoot, new URLSearchParams(parameters).toString()),
    change: (method, path, parameters = {}) =>
      ask(method, `/api2/json${path}`, asRoot, new URLSearchParams(parameters).toString()),
    fault: async (fault) => {
      const { id } = await ask<{ readonly id: number }>("POST", "/simulator/faults", `Bearer ${control}`, JSON.stringify(fault))
      return () => ask("DELETE", `/simulator/faults/${id}`, `Bearer ${control}`)
    },
    screens: () => ask("GET", "/simulator/screens", `Bearer ${control}`),
    guests: async () => (await read<readonly Guest[]>("/cluster/resources?type=vm")).filter((guest) => guest.template !== 1),
  }
}
