import { signal } from "@preact/signals"
import { base } from "./links.ts"

export interface Place {
  /** Below `/ui`, starts with a slash. */
  readonly path: string
  readonly query: URLSearchParams
  readonly mark: string
  /** What the change that led here did. Not in the address: a link must not be able to claim anything. */
  readonly told?: string | undefined
}

const here = (told?: string): Place => ({
  told,
  path: location.pathname.startsWith(base) ? location.pathname.slice(base.length) || "/" : "/",
  query: new URLSearchParams(location.search),
  mark: location.hash.slice(1),
})

export const place = signal<Place>(here())

interface Step {
  readonly replace?: boolean
  /** Shown on that page until somebody closes it or leaves the page. */
  readonly told?: string | undefined
}

export const navigate = (to: string, { replace = false, told }: Step = {}): void => {
  if (replace) history.replaceState(null, "", `${base}${to}`)
  else history.pushState(null, "", `${base}${to}`)
  place.value = here(told)
}

/** Changes the view's parameters in the address without adding to the browser's history. */
export const setQuery = (changes: Readonly<Record<string, string | undefined>>): void => {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  history.replaceState(null, "", `${location.pathname}${text === "" ? "" : `?${text}`}${location.hash}`)
  place.value = here(place.peek().told)
}

/** Says this on the page that is shown; without a text, takes down what was said. */
export const tell = (told?: string): void => {
  place.value = here(told)
}

/** Follows links to our own pages without loading a new document. */
export const followLinks = (): void => {
  addEventListener("popstate", () => (place.value = here()))
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
