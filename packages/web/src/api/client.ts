import { signal } from "@preact/signals"
import { type Asked, bodyOf } from "../parts/curl.ts"
import { signedOut } from "./session.ts"

/** Why the service refused a request, in its own words. */
export class Refusal extends Error {
  readonly status: number
  readonly hint: string | undefined

  constructor(status: number, message: string, hint?: string) {
    super(message)
    this.status = status
    this.hint = hint
  }
}

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>

const root = "/api/v2"

/** `/runs/{runID}` with its parameters filled in; the remaining ones go into the query. */
export const addressOf = (path: string, parameters: Parameters = {}): string => {
  const left = new URLSearchParams()
  let address = path
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    const place = `{${name}}`
    if (address.includes(place)) address = address.replace(place, () => encodeURIComponent(String(value)))
    else left.set(name, String(value))
  }
  const query = left.toString()
  return query === "" ? address : `${address}?${query}`
}

interface ProblemBody {
  readonly error?: string
  readonly detail?: string
  readonly hint?: string
  readonly issues?: readonly { readonly path: string; readonly message: string }[]
}

const refusalOf = async (response: Response): Promise<Refusal> => {
  const text = await response.text()
  try {
    const { detail, error, hint, issues = [] } = JSON.parse(text) as ProblemBody
    const said = [detail ?? error ?? text, ...issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))]
    return new Refusal(response.status, said.join("\n"), hint)
  } catch {
    return new Refusal(response.status, text.trim() === "" ? `The service answered ${response.status}.` : text.slice(0, 500))
  }
}

/** The last change requested, for people who want to repeat it from a shell. */
export const lastChange = signal<Asked | undefined>(undefined)

/** Sends a request with the session's cookie. Ends the session in every tab if the service no longer knows it. */
export const ask = async (method: string, address: string, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers)
  // other origins cannot send this header: changes are refused without it
  headers.set("X-Rangewright", "1")
  if (method !== "GET" && address.startsWith(`${root}/`) && !address.endsWith("/validate"))
    lastChange.value = { method, address, body: bodyOf(init.body) }
  let response: Response
  try {
    response = await fetch(address, { ...init, method, headers, credentials: "same-origin", redirect: "error" })
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause
    throw new Refusal(0, "The service does not answer.", "Check that it is running and that this computer can reach it.")
  }
  if (response.ok) return response
  const refusal = await refusalOf(response)
  // below /ui, what somebody typed or brought from the provider is wrong, not the session
  if (response.status === 401 && !address.startsWith("/ui/")) signedOut()
  throw refusal
}

const get = (path: string, parameters?: Parameters, signal?: AbortSignal): Promise<Response> =>
  ask("GET", `${root}${addressOf(path, parameters)}`, {
    headers: { Accept: "application/json" },
    ...(signal === undefined ? {} : { signal }),
  })

export const read = async <A>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<A> =>
  (await (await get(path, parameters, signal)).json()) as A

/** One page of a list, newest first. */
export interface Part<A> {
  readonly items: readonly A[]
  /** The query for the next page; absent on the last one. */
  readonly next?: string
}

export const readPart = async <A>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<Part<A>> => {
  const answer = await get(path, parameters, signal)
  const next = /<[^<>?]*\?([^<>]*)>; rel="next"/u.exec(answer.headers.get("Link") ?? "")?.[1]
  return { items: (await answer.json()) as readonly A[], ...(next === undefined ? {} : { next }) }
}

/** Requests a change, with JSON or a form with files; sends an empty body when there is none, which all operations accept. */
export const change = async <A>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  parameters?: Parameters,
  body: unknown = {},
): Promise<A> =>
  (await (
    await ask(method, `${root}${addressOf(path, parameters)}`, {
      ...(body instanceof FormData ? { body } : { body: JSON.stringify(body) }),
      headers: { Accept: "application/json", ...(body instanceof FormData ? {} : { "Content-Type": "application/json" }) },
    })
  ).json()) as A

/** A change that is answered with a sentence; returns it. */
export const changeText = async (
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  parameters?: Parameters,
  body?: unknown,
): Promise<string> => (await change<{ readonly result: string }>(method, path, parameters, body)).result

/** Lets the browser save a file. */
export const save = async (name: string, blob: Blob): Promise<void> => {
  const url = URL.createObjectURL(blob)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // the browser has started reading it when the next task runs
  await new Promise((resolve) => setTimeout(resolve, 0))
  URL.revokeObjectURL(url)
}

export const fetchFile = async (path: string, parameters: Parameters, accept = "*/*"): Promise<Blob> =>
  (await ask("GET", `${root}${addressOf(path, parameters)}`, { headers: { Accept: accept } })).blob()

interface WireGuardFile {
  readonly result: { readonly wireGuardConfig: string }
}

const vpnBlob = ({ result }: WireGuardFile): Blob => new Blob([result.wireGuardConfig], { type: "text/plain" })

/** The user's configuration file for a WireGuard client. It contains a private key. */
export const vpnFile = async (): Promise<Blob> => vpnBlob(await read<WireGuardFile>("/user/wireguard"))

/** The same with a new key: the old file stops working. */
export const newVpnFile = async (): Promise<Blob> => vpnBlob(await change<WireGuardFile>("POST", "/user/wireguard/rotate"))
