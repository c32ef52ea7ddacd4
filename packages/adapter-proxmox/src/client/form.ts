/**
 * A parameter: booleans are sent as 0 and 1, a list as a repeated key (only where the schema says `array`; the caller joins `-list`
 * strings).
 */
export type Param = string | number | boolean | readonly string[] | undefined
export type Params = Readonly<Record<string, Param>>

/** Percent-encodes one value. A space becomes `%20`, which is right in forms, queries and paths alike; `+` would not be. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/gu, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** Keys whose values the server expects to be percent-encoded themselves, so they are encoded twice. */
const encodedTwice: ReadonlySet<string> = new Set(["sshkeys"])

const plain = (key: string, value: string | number | boolean): string => {
  const text = typeof value === "boolean" ? (value ? "1" : "0") : String(value)
  return `${encode(key)}=${encode(encodedTwice.has(key) ? encode(text) : text)}`
}

/** `application/x-www-form-urlencoded` as PVE's parser reads it; undefined parameters are left out. */
export const encodeForm = (params: Params): string =>
  Object.entries(params)
    .flatMap(([key, value]) => {
      if (value === undefined) return []
      return typeof value === "object" ? value.map((item) => plain(key, item)) : [plain(key, value)]
    })
    .join("&")

/**
 * A path whose values are percent-encoded, so that none can change the route: path`/nodes/${node}/qemu/${vmid}`. A value that a server
 * could read as a parent folder or as empty is a programming error here: values are checked where they enter.
 */
export const path = (parts: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  parts.reduce((made, part, index) => {
    const value = String(values[index - 1])
    if (value === "" || value === "." || value === "..") throw new RangeError(`"${value}" cannot be part of a path`)
    return `${made}${encode(value)}${part}`
  })
