import type { KeptByBrowser, Operation } from "@rangewright/application"
import { Forbidden } from "@rangewright/domain"
import type { Context } from "koa"
import type { IncomingMessage } from "node:http"
import type { HeaderList } from "./request-state.ts"

/** Browsers take cookies of such names only from us, over a safe connection, for every path. */
const names = { session: "__Host-rangewright", signIn: "__Host-rangewright-sign-in" } as const
type Kept = keyof typeof names
const attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
/** Seconds, as long as each lasts at most; the service decides when it ends. */
const maxAge: Readonly<Record<Kept, number>> = { session: 7 * 24 * 60 * 60, signIn: 10 * 60 }
const form: Readonly<Record<Kept, RegExp>> = {
  session: /^[0-9A-Za-z]{43}$/u,
  signIn: /^[0-9A-Za-z]{43}\.[0-9a-z]{1,9}(?:~[0-9a-f]{64})?$/u,
}

const cookieHeader = (kept: Kept, value: string | undefined): string =>
  value === undefined
    ? `${names[kept]}=; Max-Age=0; ${attributes}`
    : `${names[kept]}=${value}; Max-Age=${maxAge[kept]}; ${attributes}`

/** The headers that give a browser what it is to keep, or take it. */
export const cookieHeaders = (cookies: KeptByBrowser): HeaderList =>
  (["session", "signIn"] as const).flatMap((kept) => (kept in cookies ? ["Set-Cookie", cookieHeader(kept, cookies[kept])] : []))

/** A cookie as it was sent; undefined: there is none that could be one of ours, or two that contradict each other. */
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

/** A host as browsers and programs write it, without the port that both protocols have by themselves. */
const bareHost = (host: string): string => host.toLowerCase().replace(/:(?:80|443)$/u, "")

/** Whether a page of this origin is one of the service's own, as far as the request's host tells. */
export const isOwnOrigin = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && bareHost(new URL(origin).host) === bareHost(host ?? "")

/**
 * Whether the browser says that a page of ours asks; undefined: it says nothing. `Sec-Fetch-Site` cannot be set by pages. Over TLS, a page
 * that came over plain HTTP is not ours: anybody on the way can be its author.
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
/** What a key or a token does not help with. */
const refusedOther = refused(`${needed}: do this on the page.`)

/** What of the request's cookie counts, for operations that take one. */
export interface SessionSent {
  readonly secret: string | undefined
  /** What the browser keeps of a sign-in that it has begun; only for operations that may end it. */
  readonly signIn: string | undefined
  /** Why the request is not looked at. */
  readonly refusal: Forbidden | undefined
}

const none: SessionSent = { secret: undefined, signIn: undefined, refusal: undefined }

/**
 * The session that the request was sent with. It counts where neither a key nor a token is sent. With one, only pages of ours may ask: a
 * read that a browser says another page makes is refused, and so is every change that no browser vouches for, also by GET: a browser can be
 * led to any address by a link. What begins or ends a session is held to the same, or another page could sign somebody in as somebody else.
 */
export const sessionSent = (ctx: Context, base: string, operation?: Operation): SessionSent => {
  const output = operation?.output
  const { req, method } = ctx
  if (base === "/") return none
  const hasOther = req.headers["x-api-key"] !== undefined || req.headers.authorization !== undefined
  const secret = hasOther ? undefined : sentCookie(req, "session")
  if (secret === undefined && output?.type !== "session") return none
  const own = asksFromOwnPage(ctx)
  // what a person types into the address bar comes from no page
  const mayRead = own !== false || (req.headers["sec-fetch-site"] === "none" && req.headers.origin === undefined)
  // what anybody may call asks for no session: a ticket opens a console, and a browser sends no headers of ours with that
  const isChange = !isRead(method) || (operation?.mutates === true && operation.access !== "anonymous")
  const may = !isChange ? mayRead : own === true && req.headers["x-rangewright"] === "1"
  if (!may) return { ...none, refusal: hasOther ? refusedOther : refusedSession }
  return { secret, signIn: output?.type === "session" ? sentCookie(req, "signIn") : undefined, refusal: undefined }
}
