import { realMillis } from "../core/clock.ts"
import { createHmac, hash, timingSafeEqual } from "node:crypto"
import { PveError } from "../core/errors.ts"
import type { Author } from "../core/tasks.ts"
import { nowSeconds, type World } from "../core/world.ts"

/** The caller of a request. */
export interface Identity extends Author {
  /** `user@realm` or `user@realm!token`: the subject of the access list. */
  readonly authId: string
  /** True for root@pam, not for its tokens. */
  readonly isRoot: boolean
}

const TICKET_LIFE = 2 * 3600
const VNC_TICKET_LIFE = 40

/** The hash under which a password or token secret is stored. */
export const hashSecret = (salt: string, secret: string): string => hash("sha256", `${salt}:${secret}`)

const sameText = (a: string, b: string): boolean => {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

const sign = (world: World, text: string): string => createHmac("sha256", world.state.access.secret).update(text).digest("base64")

/** The identity of root@pam, which commands in a node's shell have. */
export const rootIdentity: Identity = { user: "root@pam", tokenid: undefined, authId: "root@pam", isRoot: true }

const userIdentity = (user: string): Identity => ({ user, tokenid: undefined, authId: user, isRoot: user === "root@pam" })

const hexTime = (seconds: number): string => seconds.toString(16).toUpperCase().padStart(8, "0")

/** A login ticket, valid for two hours. */
export const makeTicket = (world: World, user: string): string => {
  const plain = `PVE:${user}:${hexTime(nowSeconds(world))}`
  return `${plain}::${sign(world, plain)}`
}

/** The CSRF token that a browser session must send with every change. */
export const makeCsrfToken = (world: World, user: string): string => {
  const time = hexTime(nowSeconds(world))
  return `${time}:${sign(world, `csrf:${time}:${user}`)}`
}

/** A console ticket, valid for 40 seconds, for one user, path and port. */
export const makeVncTicket = (world: World, authId: string, path: string, port: number): string => {
  const time = hexTime(nowSeconds(world))
  return `PVEVNC:${time}::${sign(world, `vnc:${time}:${authId}:${path}:${port}`)}`
}

/** Whether a console ticket is genuine, not expired, and for this identity, path and port. */
export const isVncTicket = (world: World, ticket: string, authId: string, path: string, port: number): boolean => {
  const parts = /^(?:.{8}:)?PVEVNC:([0-9A-F]{8})::(.+)$/.exec(ticket)
  if (parts === null) return false
  if (nowSeconds(world) - Number.parseInt(parts[1]!, 16) > realMillis(world.clock, VNC_TICKET_LIFE)) return false
  return sameText(parts[2]!, sign(world, `vnc:${parts[1]}:${authId}:${path}:${port}`))
}

const isUsable = (world: World, user: string): boolean => {
  const entry = world.state.access.users.get(user)
  return entry !== undefined && entry.enabled && (entry.expire === 0 || entry.expire > nowSeconds(world))
}

/** The user of a valid ticket. */
export const ticketUser = (world: World, ticket: string): string | undefined => {
  const parts = /^(PVE:(.+):([0-9A-F]{8}))::(.+)$/.exec(ticket)
  if (parts === null || !sameText(parts[4]!, sign(world, parts[1]!))) return undefined
  const age = nowSeconds(world) - Number.parseInt(parts[3]!, 16)
  const user = parts[2]!
  return age >= -300 && age <= TICKET_LIFE && isUsable(world, user) ? user : undefined
}

const isCsrfToken = (world: World, token: string | undefined, user: string): boolean => {
  const parts = /^([0-9A-F]{8}):(.+)$/.exec(token ?? "")
  if (parts === null || !sameText(parts[2]!, sign(world, `csrf:${parts[1]}:${user}`))) return false
  const age = nowSeconds(world) - Number.parseInt(parts[1]!, 16)
  return age >= -300 && age <= TICKET_LIFE
}

/** Whether the password is that of an enabled user. */
export const isPassword = (world: World, userid: string, password: string): boolean => {
  const stored = world.state.access.users.get(userid)?.password
  return stored !== undefined && isUsable(world, userid) && sameText(stored.hash, hashSecret(stored.salt, password))
}

const unauthorised = (message: string): PveError => new PveError(401, message, { body: false })

const readToken = (world: World, header: string): Identity => {
  const parts = /^PVEAPIToken=([^\s!]+)!([^\s=]+)=(\S+)$/.exec(header)
  const [, user = "", tokenid = "", secret = ""] = parts ?? []
  const token = world.state.access.users.get(user)?.tokens.get(tokenid)
  const expired = token !== undefined && token.expire !== 0 && token.expire <= nowSeconds(world)
  if (token === undefined || expired || !isUsable(world, user) || !sameText(token.hash, hashSecret("token", secret))) {
    throw unauthorised("Authentication failed!")
  }
  return { user, tokenid, authId: `${user}!${tokenid}`, isRoot: false }
}

const cookieTicket = (cookie: string | undefined): string | undefined => {
  const found = /(?:^|;\s*)PVEAuthCookie=([^;]*)/.exec(cookie ?? "")?.[1]
  if (found === undefined) return undefined
  try {
    return decodeURIComponent(found)
  } catch {
    return found
  }
}

/** Authenticates the caller, or throws the 401 without a body. */
export const authenticate = (world: World, verb: string, headers: Readonly<Record<string, string | undefined>>): Identity => {
  const authorization = headers["authorization"]
  if (authorization?.startsWith("PVEAPIToken=") === true) return readToken(world, authorization)
  const ticket =
    cookieTicket(headers["cookie"]) ??
    (authorization?.startsWith("PVEAuthCookie=") === true ? authorization.slice(14) : undefined)
  if (ticket === undefined || ticket === "") throw unauthorised("No ticket")
  const user = ticketUser(world, ticket)
  if (user === undefined) throw unauthorised("Authentication failed!")
  if (verb !== "GET" && !isCsrfToken(world, headers["csrfpreventiontoken"], user))
    throw unauthorised("Permission denied - invalid csrf token")
  return userIdentity(user)
}
