/**
 * The session is a cookie that scripts cannot read. All tabs of a browser share it, so a tab that signs out, or learns that the session is
 * over, tells the others; each then replaces its page, with everything that it shows, by a new document.
 */
import { signal } from "@preact/signals"

/** Remembers that somebody signed in here. Not a secret: it only tells whether to ask the service who. */
const kept = "rangewright-signed-in"

let channel: BroadcastChannel | undefined
const login = "/ui/login"

/** A message from another tab and a refused read can arrive together, and a second navigation would abort the first. */
let leaving = false

/** Whether this page shows what must not be lost. */
let held = false

/** Whether the session is over, and the user stayed on the page because of what is not saved on it. */
export const isOver = signal(false)

/** Why the user has to sign in again, if the page that follows should say it. */
type Because = "password"

/** Not in the address, which anybody may have written. */
const keptBecause = "rangewright-signed-out"

/** Whether this tab was signed out because of a new password, and nobody has signed in since. */
export const hasNewPassword = (): boolean => sessionStorage.getItem(keptBecause) === "password"

const leave = (because?: Because): void => {
  const { pathname, search, hash } = location
  if (held || leaving || isOver.peek() || pathname === login) return
  leaving = true
  // the browser lets people stay on a page with unsaved changes: then the page says what to do, and does not ask again
  setTimeout(() => {
    leaving = false
    isOver.value = true
  }, 1_000)
  if (because !== undefined) sessionStorage.setItem(keptBecause, because)
  const next = pathname === "/ui/" ? "" : `?next=${encodeURIComponent(`${pathname}${search}${hash}`)}`
  location.replace(`${login}${next}`)
}

/** Goes to the page that the user wanted to see before they had to sign in. */
const goOn = (next: string | null | undefined): void => location.replace(ownPath(next ?? undefined) ?? "/ui/")

/** Somebody signed in again in another tab: what is not saved can be saved if it is the same user. */
const comeBack = async (before: string | undefined): Promise<void> => {
  const answer = await fetch("/ui/session", { headers: { "X-Rangewright": "1" } })
  if (!answer.ok) return
  const { userID } = (await answer.json()) as { readonly userID?: string }
  if (userID === before) isOver.value = false
  else location.reload()
}

/** Starts listening to other tabs. `userShown`: the ID of the user whose data this page shows. */
export const startSession = (userShown: () => string | undefined): void => {
  channel = new BroadcastChannel("rangewright-session")
  channel.addEventListener("message", ({ data }) => {
    if (data === "over") leave()
    if (data !== "begun" || held) return
    if (isOver.peek()) return void comeBack(userShown()).catch(() => undefined)
    // another user may have signed in: nothing of the previous one may remain
    if (location.pathname === login) goOn(new URLSearchParams(location.search).get("next"))
    else location.reload()
  })
  // a page restored from the browser's cache must not show anything of a session that is over
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload()
  })
}

export const mayBeSignedIn = (): boolean => localStorage.getItem(kept) !== null

export const signedOut = (because?: Because): void => {
  // the next refusal after `release` says it again
  if (held || isOver.peek()) return
  localStorage.removeItem(kept)
  channel?.postMessage("over")
  leave(because)
}

export const signedIn = (next: string | undefined): void => {
  localStorage.setItem(kept, "yes")
  sessionStorage.removeItem(keptBecause)
  channel?.postMessage("begun")
  goOn(next)
}

/** Keeps the user on this page until `release`, even if the session ends meanwhile. */
export const hold = (): void => {
  held = true
}

export const release = (): void => {
  held = false
}

/** The session was replaced by a new one; another tab may have learned meanwhile that the old one is over. */
export const renewed = (): void => localStorage.setItem(kept, "yes")

/** A path of this page, or undefined: anybody may have written the address. */
export const ownPath = (next: string | undefined): string | undefined => {
  if (next === undefined) return undefined
  try {
    const url = new URL(next, location.origin)
    return url.origin === location.origin && url.pathname.startsWith("/ui/") && url.pathname !== login
      ? `${url.pathname}${url.search}${url.hash}`
      : undefined
  } catch {
    return undefined
  }
}
