import { signal } from "@preact/signals"
import { base } from "./links.ts"

export interface Told {
  readonly text: string
  /** Whether it is why a change was refused. */
  readonly isBad: boolean
}

export interface Place {
  /** Below `/ui`, starts with a slash. */
  readonly path: string
  readonly query: URLSearchParams
  readonly mark: string
  /** What a change did that led here or ended here. Not in the address: a link must not be able to claim anything. */
  readonly told?: Told | undefined
  /** How far the page was scrolled when it was left, if the browser's history leads back to it. */
  readonly scrolled?: number
}

const here = (told?: Told): Place => ({
  told,
  path: location.pathname.startsWith(base) ? location.pathname.slice(base.length) || "/" : "/",
  query: new URLSearchParams(location.search),
  mark: location.hash.slice(1),
})

export const place = signal<Place>(here())

/** What the browser keeps of a page in its history. */
interface Kept {
  readonly scrolled: number
}

const toldOf = (text = "", isBad = false): Told | undefined => (text === "" ? undefined : { text, isBad })

interface Step {
  readonly replace?: boolean
  /** Shown on that page until somebody closes it, begins a change or leaves the page. */
  readonly told?: string | undefined
}

export const navigate = (to: string, { replace = false, told }: Step = {}): void => {
  if (replace) history.replaceState(null, "", `${base}${to}`)
  else history.pushState(null, "", `${base}${to}`)
  place.value = here(toldOf(told))
}

/** Changes the view's parameters in the address without adding to the browser's history. */
export const setQuery = (changes: Readonly<Record<string, string | undefined>>): void => {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  history.replaceState(history.state, "", `${location.pathname}${text === "" ? "" : `?${text}`}${location.hash}`)
  place.value = here(place.peek().told)
}

/** Says this on the page that is shown. Without a text, what was said before stays. */
export const tell = (text: string | undefined, isBad = false): void => {
  const told = toldOf(text, isBad)
  if (told !== undefined) place.value = here(told)
}

/** Takes down what was said. */
export const untell = (): void => {
  if (place.peek().told !== undefined) place.value = here()
}

/** Which page this is: all blueprints have the same path. */
export const pageOf = ({ path, query }: Place): string => `${path}?id=${query.get("id") ?? ""}`

/** Follows links to our own pages without loading a new document. */
export const followLinks = (): void => {
  addEventListener(
    "popstate",
    ({ state }) => (place.value = { ...here(), scrolled: Number((state as Kept | null)?.scrolled ?? 0) }),
  )
  addEventListener("scrollend", () => history.replaceState({ scrolled: scrollY } satisfies Kept, ""))
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest("a")
    if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.hasAttribute("download")) return
    const url = new URL(link.href)
    if (url.origin !== location.origin || !url.pathname.startsWith(`${base}/`)) return
    if (url.pathname === location.pathname && url.search === location.search && url.hash !== "") return
    event.preventDefault()
    navigate(`${url.pathname.slice(base.length)}${url.search}${url.hash}`)
  })
}
