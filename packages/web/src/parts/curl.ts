/** A change as it was requested from the service. */
export interface Asked {
  readonly method: string
  /** On this origin, with its query. */
  readonly address: string
  /** JSON, or the values of a form; without secrets. */
  readonly body: string | readonly (readonly [name: string, value: FormDataEntryValue])[]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Values that must neither stay in memory nor end up in a shell's history. */
const isSecret = (name: string): boolean => /password|secret|token|key/iu.test(name)

const without = (name: string, value: unknown): unknown => (typeof value === "string" && isSecret(name) ? "…" : value)

/** The body of a request without the secrets in it. */
export const bodyOf = (body: RequestInit["body"]): Asked["body"] =>
  body instanceof FormData
    ? [...body].map(([name, value]) => [name, without(name, value) as FormDataEntryValue])
    : typeof body === "string"
      ? JSON.stringify(JSON.parse(body), without)
      : "{}"

/** A value that starts with `@` must not be taken for a file name. */
const partOf = ([name, value]: readonly [name: string, value: FormDataEntryValue]): string =>
  typeof value === "string" ? `--form-string ${quoted(`${name}=${value}`)}` : `-F ${quoted(`${name}=@${value.name}`)}`

/** The same change as a curl command, with the user's key from the environment. */
export const curlOf = ({ method, address, body }: Asked, origin: string): string =>
  [
    "curl",
    `-X ${method}`,
    `-H "X-API-KEY: $RANGEWRIGHT_API_KEY"`,
    ...(typeof body !== "string"
      ? body.map(partOf)
      : body === "{}"
        ? []
        : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
    quoted(`${origin}${address}`),
  ].join(" ")
