/**
 * The session is a cookie that scripts cannot read. All tabs of a browser share it, so one that signs out, or learns that the session is
 * over, tells the others; each then leaves its page, with all that it shows, for a new document.
 */
let channel: BroadcastChannel | undefined
const login = "/ui/login"

const leave = (): void => {
  const { pathname, search } = location
  if (pathname === login) return
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

export const signedOut = (): void => {
  channel?.postMessage("over")
  leave()
}

export const signedIn = (next: string | undefined): void => {
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
