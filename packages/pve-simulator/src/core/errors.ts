/** A failure in the API's words: a status, a message, and for a 400 the errors by parameter. */
export class PveError extends Error {
  readonly status: number
  readonly errors: Readonly<Record<string, string>> | undefined
  /** False for answers without a JSON body (authentication, unreachable nodes). */
  readonly body: boolean

  constructor(status: number, message: string, options: { errors?: Readonly<Record<string, string>>; body?: boolean } = {}) {
    super(message)
    this.name = "PveError"
    this.status = status
    this.errors = options.errors
    this.body = options.body ?? true
  }
}

/** A logical failure: 500 with a message. */
export const failure = (message: string): PveError => new PveError(500, message)

/** 400 with an error for one or more parameters. */
export const badParameter = (errors: Readonly<Record<string, string>>): PveError =>
  new PveError(400, "Parameter verification failed.", { errors })

/** 403; `what` is the text in parentheses. */
export const forbidden = (what: string): PveError => new PveError(403, `Permission check failed (${what})`)

/** A 400 raised inside a locked section becomes a 500 that quotes it; a 403 stays a 403. */
export const wrapped = (prefix: string, error: unknown): PveError => {
  if (error instanceof PveError && error.status !== 400 && error.status !== 500) return error
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof PveError) || error.status !== 400) return failure(`${prefix}: ${message}`)
  const lines = Object.entries(error.errors ?? {}).map(([name, text]) => `\n${name}: ${text}`)
  return failure(`${prefix}: 400 ${message}${lines.toSorted().join("")}`)
}
