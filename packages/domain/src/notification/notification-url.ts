import { webUrl } from "./web.ts"

/** The parts of a notification URL (`service://user:password@host:port/path?parameters#fragment`), decoded. */
export interface NotificationUrl {
  readonly scheme: string
  readonly user: string
  readonly password: string
  /** As written: services keep tokens here, whose case counts. */
  readonly host: string
  /** Host and port. */
  readonly authority: string
  readonly port: number | undefined
  /** Segments of the path that are not empty. */
  readonly path: readonly string[]
  /** Empty when absent. The case of the name does not count. */
  readonly parameter: (...names: readonly string[]) => string
  /** The parts of a parameter that are separated by commas. */
  readonly parameters: (...names: readonly string[]) => readonly string[]
  readonly fragment: string
  /** The URL without login and fragment. */
  readonly plain: string
}

/** The parts of a URL; undefined: it is not one. */
export const parseNotificationUrl = (text: string): NotificationUrl | undefined => {
  const url = webUrl(text)
  if (url === undefined) return undefined
  try {
    const query = new Map([...url.searchParams].map(([name, value]) => [name.toLowerCase(), value]))
    const parameter = (...names: readonly string[]): string =>
      names.map((name) => query.get(name) ?? "").find((value) => value !== "") ?? ""
    return {
      scheme: url.protocol.slice(0, -1),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      host: url.hostname,
      authority: url.host,
      port: url.port === "" ? undefined : Number(url.port),
      path: url.pathname
        .split("/")
        .filter((part) => part !== "")
        .map(decodeURIComponent),
      parameter,
      parameters: (...names) =>
        parameter(...names)
          .split(",")
          .map((part) => part.trim())
          .filter((part) => part !== ""),
      fragment: decodeURIComponent(url.hash.slice(1)),
      plain: Object.assign(url, { username: "", password: "", hash: "" }).href,
    }
  } catch {
    // a % that encodes nothing
    return undefined
  }
}
