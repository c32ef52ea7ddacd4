/**
 * The session is a cookie that scripts cannot read. All tabs of a browser share it, so one that signs out, or learns that the session is
 * over, tells the others; each then leaves its page, with all that it shows, for a new document.
 */
/** That somebody signed in here: no secret, only whether it is worth asking the service who. */
const kept = "rangewright-signed-in"

let channel: BroadcastChannel | undefined
const login = "/ui/login"

/** A message from another tab and a refused read can arrive together, and a second navigation would abort the first. */
let leaving = false

const leave = (): void => {
  const { pathname, search } = location
  if (leaving || pathname === login) return
  leaving = true
  // the browser lets people stay with what is not saved; the next message or refusal leads away again
  setTimeout(() => (leaving = false), 1_000)
  const next = pathname === "/ui/" ? "" : `?next=${encodeURIComponent(`${pathname}${search}`)}`
  location.replace(`${login}${next}`)
}

/** Begins to hear what other tabs tell. */
export const startSession = (): void => {
  channel = new BroadcastChannel("rangewright-session")
  channel.addEventListener("message", ({ data }) => {
    if (data === "over") leave()
    // another user may have signed in: nothing of the one before may stay
    if (data === "begun") location.reload()
  })
  // a page that the browser kept as it was shows nothing of a session that is over
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload()
  })
}

export const mayBeSignedIn = (): boolean => localStorage.getItem(kept) !== null

export const signedOut = (): void => {
  localStorage.removeItem(kept)
  channel?.postMessage("over")
  leave()
}

export const signedIn = (next: string | undefined): void => {
  localStorage.setItem(kept, "yes")
  channel?.postMessage("begun")
  location.replace(ownPath(next) ?? "/ui/")
}

/** An address of this page, or nothing: what stands in an address may come from anybody. */
export const ownPath = (next: string | undefined): string | undefined => {
  if (next === undefined) return undefined
  try {
    const url = new URL(next, location.origin)
    return url.origin === location.origin && url.pathname.startsWith("/ui/") && url.pathname !== login
      ? `${url.pathname}${url.search}`
      : undefined
  } catch {
    return undefined
  }
}
