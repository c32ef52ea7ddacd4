import { badParameter, PveError } from "../core/errors.ts"
import { hasQuorum } from "../core/quorum.ts"
import { isRoutine, sleep, start, until, type Routine } from "../core/routine.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import type { CallLog } from "../faults/calls.ts"
import type { RequestFault } from "../faults/plan.ts"
import { validateParameters } from "../schema/validate.ts"
import type { Call, Handler } from "./call.ts"
import { parseBody, parseForm, type Parameters } from "./form.ts"
import { authenticate, type Identity } from "./identity.ts"
import { jsonResponse, textResponse, type SimRequest, type SimResponse } from "./message.ts"
import { checkPermission } from "./permissions.ts"
import { matchRoute, normalisePath, type Match } from "./router.ts"
import type { Upload } from "./upload.ts"
import { serve } from "./workers.ts"

/** The parts of the REST API. */
export interface Api {
  readonly world: World
  readonly routes: ReadonlyMap<string, Handler>
  readonly calls: CallLog
}

/** A connection that broke before the answer. */
export class ConnectionReset extends Error {
  readonly code = "ECONNRESET"

  constructor() {
    super("socket hang up")
  }
}

const verbs = new Set(["GET", "POST", "PUT", "DELETE"])

interface Target {
  readonly verb: string
  /** `json`, `extjs` or `htmljs`; others are refused. */
  readonly format: string
  readonly path: string
  readonly query: string
}

/** Answers one request; rejects only with a `ConnectionReset` that a fault requests. */
export const handle = (api: Api, request: SimRequest): Promise<SimResponse> =>
  new Promise((resolve, reject) => {
    start(answer(api, request), resolve, reject)
  })

function* answer(api: Api, request: SimRequest): Routine<SimResponse> {
  const { world } = api
  const now = () => world.clock.now()
  if (!verbs.has(request.method)) return textResponse(now(), 501, `method '${request.method.slice(0, 32)}' not available`)
  const url = splitUrl(request.path)
  const target = parseTarget(request.method, url)
  if (target === undefined) return outsideApi(api, request, url.path)
  const match = matchRoute(target.verb, target.path)
  const fault = world.faults.takeRequestFault(target.verb, target.path)
  const log = (status: number) =>
    api.calls.add({ at: now(), method: target.verb, path: target.path, route: match?.method.path ?? target.path, status })
  const place = match?.parameters["node"] ?? "cluster"
  const waiting = world.inFlight.get(place) ?? { now: 0, most: 0 }
  if (place === "cluster" || world.state.nodes.has(place)) world.inFlight.set(place, waiting)
  waiting.now += 1
  waiting.most = Math.max(waiting.most, waiting.now)
  try {
    if (fault?.kind === "delay") yield* sleep(world.clock, fault.ms)
    const struck = fault !== undefined && fault.kind !== "delay" && fault.when === "before"
    const response = struck ? undefined : yield* respond(api, request, target, match)
    const final = fault === undefined || fault.kind === "delay" ? response! : strike(fault, now())
    log(final.status)
    return final
  } catch (error) {
    log(0)
    throw error
  } finally {
    waiting.now -= 1
  }
}

const strike = (fault: Exclude<RequestFault, { kind: "delay" }>, now: number): SimResponse => {
  switch (fault.kind) {
    case "drop":
      throw new ConnectionReset()
    case "garbage":
      return { ...jsonResponse(now, 200, "", null), body: fault.body ?? '<html>{"data": tru' }
    case "respond": {
      const message = fault.message ?? ""
      const bare = fault.status === 401 || fault.status === 595 || fault.status === 596
      if (bare) return textResponse(now, fault.status, message)
      const errors = fault.errors === undefined ? {} : { errors: fault.errors }
      return jsonResponse(now, fault.status, message, { data: null, message: `${message}\n`, ...errors })
    }
  }
}

function* respond(api: Api, request: SimRequest, target: Target, match: Match | undefined): Routine<SimResponse> {
  const { world } = api
  try {
    const { data, beside } = yield* perform(api, request, target, match)
    const envelope = target.format === "json" ? {} : { success: 1 }
    return inFormat(target.format, jsonResponse(world.clock.now(), 200, "", { ...envelope, data: data ?? null, ...beside }))
  } catch (error) {
    const failure = error instanceof PveError ? error : new PveError(500, `internal error: ${String(error)}`)
    if (failure.status === 401) yield* sleep(world.clock, world.timing.authenticationFailure)
    return failureResponse(world.clock.now(), target.format, failure)
  }
}

/** Answers without a text in the body: authentication failures and unreachable nodes. */
const isSilent = (status: number): boolean => status === 401 || status === 595 || status === 596

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => entities[char]!)

/** `htmljs` is `extjs` in an HTML page, for forms that upload a file. */
const inFormat = (format: string, response: SimResponse): SimResponse =>
  format === "htmljs"
    ? {
        ...response,
        headers: { ...response.headers, "content-type": "text/html;charset=UTF-8" },
        body: escapeHtml(response.body),
      }
    : response

const failureResponse = (now: number, format: Target["format"], failure: PveError): SimResponse => {
  const reason = failure.message.split("\n")[0]!
  if (!failure.body) return textResponse(now, failure.status, reason, isSilent(failure.status) ? "" : failure.message)
  const errors = failure.errors === undefined ? {} : { errors: failure.errors }
  // only the message for an unknown route has no newline
  const message = failure.status === 501 ? failure.message : `${failure.message}\n`
  if (format !== "json" && failure.status !== 401) {
    const envelope = { success: 0, status: failure.status, message, data: null, ...errors }
    return inFormat(format, jsonResponse(now, 200, "", envelope))
  }
  return jsonResponse(now, failure.status, reason, { data: null, message, ...errors })
}

interface Outcome {
  readonly data: unknown
  readonly beside: Record<string, unknown>
}

/**
 * Makes the checks in the server's order (authentication, route, contradictions, token, rights, node, parameters), then the call itself.
 */
function* perform(api: Api, request: SimRequest, target: Target, match: Match | undefined): Routine<Outcome> {
  const { world } = api
  const headers = request.headers ?? {}
  refuseEncoding(headers)
  // a browser's form cannot send the CSRF token that other changes need
  const identity =
    match?.method.user === "world" ? anonymous : authenticate(world, request.upload === undefined ? target.verb : "GET", headers)
  refuseContent(request)
  if (!formats.has(target.format))
    throw new PveError(501, `no formatter for uri ${target.path}, format ${target.format}`, { body: false })
  const handler = match === undefined ? undefined : api.routes.get(match.key)
  if (match === undefined || handler === undefined)
    throw new PveError(501, `Method '${target.verb} ${target.path}' not implemented`)
  const given = gather(request, target, match)
  if (
    !match.method.allowToken &&
    (identity.tokenid !== undefined || headers["authorization"]?.startsWith("PVEAPIToken=") === true)
  ) {
    throw new PveError(403, `Permission check failed (URI '${target.path}' not available with API token, need proper ticket.)`)
  }
  checkPermission(world, identity, match.method, given)
  const upload = request.upload === undefined ? undefined : yield* until(request.upload())
  if (upload !== undefined) addUpload(given, upload)
  const node = match.method.proxyToNode ? asText(given["node"]) : undefined
  if (node !== undefined) yield* reachNode(world, node)
  return yield* serve(world, match.method, node, function* (): Routine<Outcome> {
    const parameters = validateParameters(match.method, given)
    if (target.verb !== "GET" && needsQuorum(match.method.path) && !hasQuorum(world))
      throw new PveError(500, "cluster not ready - no quorum?")
    return yield* invoke(handler, { world, identity, parameters, beside: {}, ...(upload === undefined ? {} : { upload }) })
  })
}

/** The fields of a form are parameters, and so is the name of its file. */
const addUpload = (given: Parameters, { fields, filename }: Upload): void => {
  for (const [name, value] of Object.entries({ ...fields, filename })) {
    if (given[name] !== undefined && asText(given[name]) !== value)
      throw badParameter({ [name]: "duplicate parameter (already defined in URI) with conflicting values!" })
    given[name] = value
  }
}

function* invoke(handler: Handler, call: Call): Routine<Outcome> {
  const result = handler(call)
  const data = isRoutine(result) ? yield* result : result
  return { data, beside: call.beside }
}

/** Makes a call without a request, for commands on a node, which use the API as root@pam. Returns the value of `data`. */
export function* performAs(
  api: Api,
  identity: Identity,
  verb: string,
  path: string,
  parameters: Readonly<Record<string, unknown>>,
): Routine<unknown> {
  const { world } = api
  const normal = normalisePath(path)
  const match = matchRoute(verb, normal)
  const handler = match === undefined ? undefined : api.routes.get(match.key)
  if (match === undefined || handler === undefined) throw new PveError(500, `No '${verb}' handler defined for '${normal}'`)
  const given: Parameters = Object.assign(Object.create(null), parameters, match.parameters)
  if (match.method.proxyToNode) yield* reachNode(world, asText(given["node"]))
  const { data } = yield* invoke(handler, { world, identity, parameters: validateParameters(match.method, given), beside: {} })
  return data
}

/** Calls that work without quorum, because they write nothing that the cluster shares. */
const needsQuorum = (path: string): boolean => path !== "/access/ticket" && !path.includes("/agent")

const anonymous: Identity = { user: "", tokenid: undefined, authId: "", isRoot: false }

/** Path and query of the target in a request line, which may be an absolute URI. */
const splitUrl = (url: string): { readonly path: string; readonly query: string } => {
  const [, path = "", query = ""] = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/iu.exec(url) ?? []
  return { path: path === "" ? "/" : path, query }
}

const formats = new Set(["json", "extjs", "htmljs"])

const parseTarget = (verb: string, { path, query }: ReturnType<typeof splitUrl>): Target | undefined => {
  const [, format, rest = "/"] = /^\/+api2\/+([a-z][a-z0-9]+)(\/.*)?$/u.exec(path) ?? []
  return format === undefined ? undefined : { verb, format, path: normalisePath(rest), query }
}

/** Answers requests outside of the API: only `/` has a page, which says where the API is. */
const outsideApi = ({ world }: Api, request: SimRequest, path: string): SimResponse => {
  const now = world.clock.now()
  try {
    refuseEncoding(request.headers ?? {})
    if (/^\/api2(?:\/|$)/u.test(path)) throw new PveError(501, "no such uri")
    refuseContent(request)
    if (request.method !== "GET" || path !== "/") throw new PveError(501, `no such file '${path.slice(0, 200)}'\n`)
  } catch (error) {
    const { status, message } = error as PveError
    return textResponse(now, status, message.split("\n")[0]!, message)
  }
  const [node = ""] = world.state.nodes.keys()
  const page = `<!DOCTYPE html><title>${escapeHtml(node)} - Proxmox Virtual Environment</title><p>This is a simulated API without a web interface.</p>\n`
  const response = textResponse(now, 200, "", page)
  return { ...response, headers: { ...response.headers, "content-type": "text/html; charset=utf-8" } }
}

const hasBody = (request: SimRequest): boolean =>
  request.upload === undefined && request.body !== undefined && request.body.length > 0

const refuseEncoding = (headers: Readonly<Record<string, string | undefined>>): void => {
  const encoding = headers["transfer-encoding"]
  if (encoding === undefined) return
  const text =
    encoding.toLowerCase() === "chunked"
      ? "chunked transfer encoding not supported"
      : `Unknown transfer encoding '${encoding.slice(0, 100)}'`
  throw new PveError(501, text, { body: false })
}

const refuseContent = (request: SimRequest): void => {
  if (hasBody(request) && (request.method === "GET" || request.method === "DELETE")) {
    throw new PveError(501, `Unexpected content for method '${request.method}'`, { body: false })
  }
}

/** All parameters of a request; the query wins over the body, and neither may contradict the path. */
const gather = (request: SimRequest, target: Target, match: Match): Parameters => {
  const isJson = request.headers?.["content-type"]?.includes("json") === true
  const body = hasBody(request) || (isJson && request.method !== "GET" && request.method !== "DELETE")
  const given: Parameters = body ? parseBody(request.headers?.["content-type"], request.body ?? "") : Object.create(null)
  if (target.query !== "") Object.assign(given, parseForm(target.query))
  delete given["_dc"]
  for (const [name, value] of Object.entries(match.parameters)) {
    if (given[name] !== undefined && asText(given[name]) !== value) {
      throw badParameter({ [name]: "duplicate parameter (already defined in URI) with conflicting values!" })
    }
    given[name] = value
  }
  return given
}

/** Forwards a call to the node in its path. */
function* reachNode(world: World, name: string): Routine<void> {
  if (!world.state.nodes.has(name)) {
    if (!/^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/.test(name)) return
    throw new PveError(
      500,
      `hostname lookup '${name}' failed - failed to get address info for: ${name}: Name or service not known`,
    )
  }
  if (!world.faults.isNodeDown(name)) return
  yield* sleep(world.clock, world.timing.nodeDown)
  throw new PveError(595, "No route to host", { body: false })
}
