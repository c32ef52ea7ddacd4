import { isAudited, type KeptByBrowser, type Operation } from "@rangewright/application"
import { Forbidden } from "@rangewright/domain"
import type { Context } from "koa"
import type { IncomingMessage } from "node:http"
import type { HeaderList } from "./request-state.ts"

/** Browsers accept cookies with this prefix only from this host, over a secure connection, for every path. */
const names = { session: "__Host-rangewright", signIn: "__Host-rangewright-sign-in" } as const
type Kept = keyof typeof names
const attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
/** Upper bound in seconds; the service decides when each ends. */
const maxAge: Readonly<Record<Kept, number>> = { session: 7 * 24 * 60 * 60, signIn: 10 * 60 }
const form: Readonly<Record<Kept, RegExp>> = {
  session: /^[0-9A-Za-z]{43}$/u,
  signIn: /^[0-9A-Za-z]{43}\.[0-9a-z]{1,9}(?:~[0-9a-f]{64})?$/u,
}

const cookieHeader = (kept: Kept, value: string | undefined): string =>
  value === undefined
    ? `${names[kept]}=; Max-Age=0; ${attributes}`
    : `${names[kept]}=${value}; Max-Age=${maxAge[kept]}; ${attributes}`

/** The headers that set or clear the browser's cookies. */
export const cookieHeaders = (cookies: KeptByBrowser): HeaderList =>
  (["session", "signIn"] as const).flatMap((kept) => (kept in cookies ? ["Set-Cookie", cookieHeader(kept, cookies[kept])] : []))

/** A cookie as sent; undefined when none could be ours, or two contradict each other. */
const sentCookie = ({ headers: { cookie } }: IncomingMessage, kept: Kept): string | undefined => {
  if (cookie === undefined) return undefined
  const values = cookie
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${names[kept]}=`))
    .map((pair) => pair.slice(names[kept].length + 1))
    .filter((value) => form[kept].test(value))
  return new Set(values).size === 1 ? values[0] : undefined
}

/** A host in lower case, without the default port of either protocol. */
const bareHost = (host: string): string => host.toLowerCase().replace(/:(?:80|443)$/u, "")

/** Whether an origin is the service's own, judging by the request's host. */
export const isOwnOrigin = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && bareHost(new URL(origin).host) === bareHost(host ?? "")

/**
 * Whether the browser says that a page of ours sends the request; undefined when it does not say. Pages cannot set `Sec-Fetch-Site`. Over
 * TLS, a page loaded over plain HTTP is not ours: anybody on the network path could have written it.
 */
const asksFromOwnPage = ({ headers, secure }: Context): boolean | undefined => {
  const site = headers["sec-fetch-site"]
  const { origin, host } = headers
  if (origin !== undefined && !isOwnOrigin(origin, host)) return false
  if (origin !== undefined && secure && new URL(origin).protocol !== "https:") return false
  if (site !== undefined) return site === "same-origin"
  return origin === undefined ? undefined : true
}

const isRead = (method: string): boolean => method === "GET" || method === "HEAD"

const needed = "With a session, changes and downloads of secrets need the header X-Rangewright: 1 and a page of the same origin"
const refused = (hint: string) => new Forbidden({ reason: "The request does not come from a page of the service", hint })
const refusedSession = refused(`${needed}; programs should send an API key (X-API-KEY) instead.`)
/** The refusal of operations that no key or token helps with. */
const refusedOther = refused(`${needed}: do this on the page.`)

/** The parts of a request's cookies that count, for operations that accept one. */
export interface SessionSent {
  readonly secret: string | undefined
  /** State of a sign-in that the browser has begun; only for operations that may finish it. */
  readonly signIn: string | undefined
  /** Why the request is refused. */
  readonly refusal: Forbidden | undefined
}

const none: SessionSent = { secret: undefined, signIn: undefined, refusal: undefined }

/**
 * The session that the request was sent with. It counts only if neither a key nor a token is sent. With a session, only pages of ours may
 * send requests: reads that the browser attributes to another page are refused, and so are all changes that the browser does not attribute
 * to ours, even by GET, since a link can lead a browser to any address. Operations that begin or end a session follow the same rules, or
 * another page could sign somebody in as somebody else.
 */
export const sessionSent = (ctx: Context, base: string, operation?: Operation): SessionSent => {
  const output = operation?.output
  const { req, method } = ctx
  if (base === "/") return none
  const hasOther = req.headers["x-api-key"] !== undefined || req.headers.authorization !== undefined
  const secret = hasOther ? undefined : sentCookie(req, "session")
  if (secret === undefined && output?.type !== "session") return none
  const own = asksFromOwnPage(ctx)
  // an address typed into the address bar comes from no page
  const mayRead = own !== false || (req.headers["sec-fetch-site"] === "none" && req.headers.origin === undefined)
  // anonymous operations need no session: consoles are opened with a ticket, and browsers cannot send custom headers with a WebSocket
  const isChange = !isRead(method) || (operation !== undefined && isAudited(operation))
  const may = !isChange ? mayRead : own === true && req.headers["x-rangewright"] === "1"
  if (!may) return { ...none, refusal: hasOther ? refusedOther : refusedSession }
  return { secret, signIn: output?.type === "session" ? sentCookie(req, "signIn") : undefined, refusal: undefined }
}
