import * as Result from "effect/Result"
import ipaddr from "ipaddr.js"
import { withoutTrailing } from "../text.ts"

export type GitScheme = "https" | "http" | "ssh" | "git" | "file"

/** A validated repository URL. `remote` is the only text passed to git, so that what was checked is what is used. */
export interface GitUrl {
  readonly scheme: GitScheme
  /** Lower case; IPv6 in brackets; empty for `file`. */
  readonly host: string
  readonly port: number
  /** The `ssh` user name. */
  readonly user: string | undefined
  /** With a leading `/`, except in the form `host:path`, which is relative to the user's home. */
  readonly path: string
  readonly remote: string
}

/** Why a text is not an acceptable repository URL. `rule` is for programs, `detail` for people; neither repeats a secret. */
export interface GitUrlProblem {
  readonly rule: "url-form" | "url-option" | "url-transport" | "url-credentials"
  readonly detail: string
}

const ports: Record<GitScheme, number> = { https: 443, http: 80, ssh: 22, git: 9418, file: 0 }
/** Whether it is a git transport that can be allowed. */
export const isGitScheme = (text: string): text is GitScheme => Object.hasOwn(ports, text)

const maxLength = 2048
const word = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/u
const scpForm = /^(?:(?<user>[^@/:]+)@)?(?<host>[^@/:[\]]+):(?!\/\/)(?<path>.+)$/u

const problem = (rule: GitUrlProblem["rule"], detail: string) => Result.fail<GitUrlProblem>({ rule, detail })

/** A path that starts with `-` would be taken as an option by the remote program. */
const pathProblem = (path: string): Result.Result<never, GitUrlProblem> | undefined => {
  if (/^\/*-/u.test(path)) return problem("url-option", "its path begins with -")
  if (/%(?:[01][0-9a-f]|7f)/iu.test(path)) return problem("url-form", "its path contains an encoded control character")
  return undefined
}

const parseScp = (text: string): Result.Result<GitUrl, GitUrlProblem> => {
  const { user, host = "", path = "" } = scpForm.exec(text)?.groups ?? {}
  if (host === "") return problem("url-form", "it is neither scheme://host/path nor user@host:path")
  if (host.startsWith("-") || user?.startsWith("-") === true)
    return problem("url-option", "a part of it begins with - and would be taken for an option")
  if (!word.test(host) || (user !== undefined && !word.test(user)))
    return problem("url-form", "its host or login contains characters that are not allowed")
  const wrong = pathProblem(path)
  if (wrong !== undefined) return wrong
  return Result.succeed({ scheme: "ssh", host: host.toLowerCase(), port: ports.ssh, user, path, remote: text })
}

const urlForm =
  /^(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):\/\/(?:(?<login>[^/@]*)@)?(?<host>\[[0-9A-Fa-f:.]+\]|[^/@:[\]?#]*)(?::(?<port>\d{1,5}))?(?<path>\/[^?#]*)?(?<rest>[?#].*)?$/u

/**
 * Whether it is a host name or a plain address. Forms that some programs take for an address and others for a name (`0x7f.1`) are rejected.
 */
const isHost = (host: string): boolean => {
  if (host.startsWith("[")) return ipaddr.IPv6.isValid(host.slice(1, -1))
  const numeric = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/u.test(host)
  return numeric ? ipaddr.IPv4.isValidFourPartDecimal(host) : /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?$/u.test(host)
}

const parseUrl = (text: string): Result.Result<GitUrl, GitUrlProblem> => {
  const parts = urlForm.exec(text)?.groups
  if (parts === undefined) return problem("url-form", "it is not a valid URL")
  const { login, path = "/", rest, port } = parts
  const [scheme = "", host = ""] = [parts["scheme"]?.toLowerCase(), parts["host"]?.toLowerCase()]
  if (!isGitScheme(scheme)) return problem("url-transport", `${scheme} is not a supported git transport`)
  if (login !== undefined && (scheme !== "ssh" || login.includes(":")))
    return problem("url-credentials", "it contains credentials, which would show up in lists, logs and process tables")
  if (rest !== undefined) return problem("url-form", "it has a query or a fragment")
  if (host.startsWith("-") || login?.startsWith("-") === true)
    return problem("url-option", "a part of it begins with - and would be taken for an option")
  if (scheme === "file" ? host !== "" || port !== undefined : !isHost(host))
    return problem("url-form", "its host is not valid for its scheme")
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return problem("url-form", "its port is not valid")
  if (login !== undefined && !word.test(login)) return problem("url-form", "its login contains characters that are not allowed")
  const wrong = pathProblem(path)
  if (wrong !== undefined) return wrong
  const number = port === undefined ? ports[scheme] : Number(port)
  const at = `${login === undefined ? "" : `${login}@`}${host}${number === ports[scheme] ? "" : `:${number}`}`
  return Result.succeed({ scheme, host, port: number, user: login, path, remote: `${scheme}://${at}${path}` })
}

/**
 * Parses a repository URL: `scheme://…` or `user@host:path`. Refuses everything that git or ssh could take for an option, another transport
 * (`ext::`), a local path or several lines, and also credentials, which are passed separately.
 */
export const parseGitUrl = (text: string): Result.Result<GitUrl, GitUrlProblem> => {
  if (text === "" || text.length > maxLength) return problem("url-form", `it must have 1 to ${maxLength} characters`)
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\s\u0000-\u001f\u007f\\]/u.test(text))
    return problem("url-form", "it contains white space, a control character or a backslash")
  if (text.startsWith("-")) return problem("url-option", "it begins with - and would be taken for an option")
  if (/^[A-Za-z0-9+.-]*::/u.test(text)) return problem("url-transport", "transport helpers run programs")
  return text.includes("://") ? parseUrl(text) : parseScp(text)
}

/** Parses the URL of a submodule: absolute, or relative to its parent (`../other.git`). */
export const parseSubmoduleUrl = (parent: GitUrl, text: string): Result.Result<GitUrl, GitUrlProblem> => {
  if (!/^\.\.?\//u.test(text)) return parseGitUrl(text)
  const path = withoutTrailing(parent.path.replace(/^\/+/u, ""), "/").split("/")
  for (const segment of text.split("/")) {
    if (segment === "..") {
      if (path.pop() === undefined) return problem("url-form", "it leaves the root of its parent's host")
    } else if (segment !== "." && segment !== "") path.push(segment)
  }
  // the parent's text ends with its path; the part before it is kept as checked
  const base = parent.remote.slice(0, parent.remote.length - parent.path.length)
  return parseGitUrl(`${base}${parent.path.startsWith("/") ? "/" : ""}${path.join("/")}`)
}

/** A URL, valid or not, for messages: credentials masked, control characters escaped, shortened. */
export const showGitUrl = (text: string): string =>
  JSON.stringify(text.slice(0, 300).replace(/\/\/[^/]*@/gu, "//***@")).slice(1, -1)

/** Whether both are on the same server, so that credentials for one may be sent to the other. */
export const sameServer = (a: GitUrl, b: GitUrl): boolean =>
  a.scheme === b.scheme && a.host === b.host && a.port === b.port && a.user === b.user
