/** A change as it was asked of the service. */
export interface Asked {
  readonly method: string
  /** On this origin, with its query. */
  readonly address: string
  /** JSON, or what a form had. */
  readonly body: string | readonly (readonly [name: string, value: FormDataEntryValue])[]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** What nobody should find in a shell's history. */
const isSecret = (name: string): boolean => /password|secret|token|key/iu.test(name)

const withoutSecrets = (body: string): string =>
  JSON.stringify(JSON.parse(body), (name, value: unknown) => (typeof value === "string" && isSecret(name) ? "…" : value))

/** A text that begins with `@` is not taken as a file's name. */
const partOf = ([name, value]: readonly [name: string, value: FormDataEntryValue]): string =>
  typeof value === "string"
    ? `--form-string ${quoted(`${name}=${isSecret(name) ? "…" : value}`)}`
    : `-F ${quoted(`${name}=@${value.name}`)}`

/** The same change for a shell, by the user's key, which it takes from the environment. */
export const curlOf = ({ method, address, body }: Asked, origin: string): string =>
  [
    "curl",
    `-X ${method}`,
    `-H "X-API-KEY: $RANGEWRIGHT_API_KEY"`,
    ...(typeof body !== "string"
      ? body.map(partOf)
      : body === "{}"
        ? []
        : ["-H 'Content-Type: application/json'", `-d ${quoted(withoutSecrets(body))}`]),
    quoted(`${origin}${address}`),
  ].join(" ")
