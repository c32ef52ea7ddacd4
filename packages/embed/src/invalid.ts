/** What was given cannot be used; the message says what, where, and what to do. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError"
}

export const invalid = (message: string): never => {
  throw new InvalidInputError(message)
}
