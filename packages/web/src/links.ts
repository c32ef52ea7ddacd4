export const base = "/ui"

/** The address of a page of this application. */
export const linkTo = (...parts: readonly string[]): string => `${base}/${parts.map(encodeURIComponent).join("/")}`

/** The address of a link written by somebody else: `https:` only. Anything else is shown as text. */
export const httpsAddress = (text: string | undefined): string | undefined => {
  if (text === undefined || !/^https:\/\//iu.test(text)) return undefined
  try {
    const url = new URL(text)
    return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined
  } catch {
    return undefined
  }
}
