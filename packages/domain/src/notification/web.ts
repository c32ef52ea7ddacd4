/**
 * The parts of the WHATWG URL standard that are needed here. Every runtime has them, but this package is compiled without a platform's
 * types.
 */
export interface WebUrl {
  readonly protocol: string
  readonly hostname: string
  readonly host: string
  readonly port: string
  readonly pathname: string
  readonly searchParams: Iterable<[name: string, value: string]>
  readonly href: string
  username: string
  password: string
  hash: string
}

declare const URL: new (text: string) => WebUrl
declare const URLSearchParams: new (fields: Readonly<Record<string, string>>) => { readonly toString: () => string }

/** Undefined: the text is not a URL. */
export const webUrl = (text: string): WebUrl | undefined => {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** `a=1&b=2`, encoded as in a query or a form. */
export const webQuery = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString()
