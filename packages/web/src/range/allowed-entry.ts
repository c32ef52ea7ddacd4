/** What was allowed, as it was asked for: a domain is returned with the address that it resolves to. */
export const nameOf = (entry: string): string => entry.replace(/ \(.*\)$/u, "")

/** Whether this is an address or a network. A domain may consist of hexadecimal digits, but not of decimal ones alone. */
export const isAddress = (text: string): boolean =>
  /^[\d./]+$/u.test(text) || (text.includes(":") && /^[\da-f.:/]+$/iu.test(text))
