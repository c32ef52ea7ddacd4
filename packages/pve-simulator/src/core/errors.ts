/** A failure as the API words it: a status, a sentence, and for a 400 the complaints by parameter. */
export class PveError extends Error {
  readonly status: number
  readonly errors: Readonly<Record<string, string>> | undefined
  /** False for answers that carry no JSON body (authentication, unreachable nodes). */
  readonly body: boolean

  constructor(status: number, message: string, options: { errors?: Readonly<Record<string, string>>; body?: boolean } = {}) {
    super(message)
    this.name = "PveError"
    this.status = status
    this.errors = options.errors
    this.body = options.body ?? true
  }
}

/** A logical failure: 500 with a sentence. */
export const failure = (message: string): PveError => new PveError(500, message)

/** 400 with one complaint for one parameter (or several). */
export const badParameter = (errors: Readonly<Record<string, string>>): PveError =>
  new PveError(400, "Parameter verification failed.", { errors })

/** 403; `what` is what stands in the parentheses. */
export const forbidden = (what: string): PveError => new PveError(403, `Permission check failed (${what})`)

/** A 400 raised inside a locked section arrives as a 500 that quotes it; refusals stay what they are. */
export const wrapped = (prefix: string, error: unknown): PveError => {
  if (error instanceof PveError && error.status !== 400 && error.status !== 500) return error
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof PveError) || error.status !== 400) return failure(`${prefix}: ${message}`)
  const lines = Object.entries(error.errors ?? {}).map(([name, text]) => `\n${name}: ${text}`)
  return failure(`${prefix}: 400 ${message}${lines.toSorted().join("")}`)
}
