import { signal } from "@preact/signals"
import type { ComponentChildren, FunctionComponent } from "preact"
import { useEffect } from "preact/hooks"
import { ask } from "./api/client.ts"
import { isOver, signedOut } from "./api/session.ts"
import { awaySince } from "./live/live.ts"
import { capabilities, managed, me } from "./me.ts"
import { shortTime } from "./parts/format.ts"
import { isTyping, mayCommand } from "./parts/keys.ts"
import { Icon, type IconName } from "./parts/icon.tsx"
import { Dialog, WithWays } from "./parts/parts.tsx"
import { Notices } from "./notices.tsx"
import type { Target } from "./palette.tsx"
import { navigate, place, tell, untell } from "./router.ts"
import { t } from "./texts.ts"

interface Link {
  readonly path: string
  readonly text: string
  readonly icon: IconName
  readonly key: string
  /** Absent when shown to everybody. */
  readonly isShown?: () => boolean
}

const isAdmin = (): boolean => me.value?.isAdmin === true

const links: readonly Link[] = [
  { path: "/ranges", text: t.nav.ranges, icon: "ranges", key: "r" },
  { path: "/runs", text: t.nav.runs, icon: "runs", key: "u" },
  { path: "/classes", text: t.nav.classes, icon: "classes", key: "c", isShown: () => isAdmin() || managed.value.length > 0 },
  { path: "/blueprints", text: t.nav.blueprints, icon: "blueprints", key: "b" },
  { path: "/templates", text: t.nav.templates, icon: "templates", key: "t" },
  { path: "/roles", text: t.nav.roles, icon: "roles", key: "l" },
  { path: "/catalog", text: t.nav.catalog, icon: "catalog", key: "k" },
  { path: "/sources", text: t.nav.sources, icon: "sources", key: "s" },
  { path: "/admin", text: t.nav.admin, icon: "admin", key: "o", isShown: isAdmin },
]

const shownLinks = (): readonly Link[] => links.filter(({ isShown }) => isShown?.() ?? true)

const menuOpen = signal(false)
const keysOpen = signal(false)

const signOut = async (): Promise<void> => {
  try {
    await ask("DELETE", "/ui/session")
    isOver.value = false
    signedOut()
  } catch (error) {
    // the cookie is still good for whoever uses this browser next
    tell(t.notSignedOut(error instanceof Error ? error.message : String(error)), true)
  }
}

const palette = signal<FunctionComponent<{ readonly pages: readonly Target[]; readonly onClose: () => void }> | undefined>(
  undefined,
)
const openPalette = async (): Promise<void> => {
  try {
    palette.value = (await import("./palette.tsx")).Palette
  } catch {
    tell(`${t.notLoaded} ${t.notLoadedHint}`, true)
  }
}

const pagesOf = (shown: readonly Link[]): readonly Target[] => [
  ...shown.map(({ path, text }): Target => ({ kind: "page", text, more: "", path })),
  { kind: "page", text: t.nav.me, more: "", path: "/me" },
]

/** Moves from row to row, or selects the focused row; true if it did. */
const moveInTable = (key: string): boolean => {
  const row = document.activeElement?.closest("main tbody tr")
  if (key === "x") {
    const box = row?.querySelector("input[type=checkbox]")
    if (box instanceof HTMLInputElement) box.click()
    return box instanceof HTMLInputElement
  }
  const by = { j: 1, k: -1 }[key]
  if (by === undefined) return false
  const rows = [...document.querySelectorAll("main tbody tr")]
  const at = row === undefined || row === null ? (by === 1 ? 0 : rows.length - 1) : rows.indexOf(row) + by
  // a checkbox may stand before the link that Enter opens
  const next = rows[at]?.querySelector("th a") ?? rows[at]?.querySelector("a, th input, button")
  if (!(next instanceof HTMLElement)) return false
  next.focus()
  return true
}

const keyboard = (): (() => void) => {
  let afterG = -Infinity
  const onKey = (event: KeyboardEvent): void => {
    if (
      (event.ctrlKey || event.metaKey) &&
      event.key === "k" &&
      !isTyping(event) &&
      document.querySelector("dialog[open]") === null
    ) {
      event.preventDefault()
      void openPalette()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "Escape") {
      menuOpen.value = false
      if (isTyping(event) && document.activeElement instanceof HTMLInputElement) document.activeElement.blur()
      return
    }
    if (!mayCommand(event)) return
    if (event.key === "/") {
      const field = document.querySelector("main input[type=search]")
      if (field instanceof HTMLInputElement) {
        event.preventDefault()
        field.focus()
        field.select()
      }
      return
    }
    if (event.key === "?") {
      event.preventDefault()
      keysOpen.value = true
      return
    }
    if (event.timeStamp - afterG < 1_500) {
      afterG = -Infinity
      const to = event.key === "a" ? "/me" : shownLinks().find(({ key }) => key === event.key)?.path
      if (to !== undefined) {
        event.preventDefault()
        navigate(to)
      }
      return
    }
    if (moveInTable(event.key)) return event.preventDefault()
    afterG = event.key === "g" ? event.timeStamp : -Infinity
  }
  document.addEventListener("keydown", onKey)
  return () => document.removeEventListener("keydown", onKey)
}

const NavLink = ({ path, text, icon }: { readonly path: string; readonly text: string; readonly icon: IconName }) => {
  const at = place.value.path
  const current = at === path || at.startsWith(`${path}/`) || (path === "/ranges" && at === "/")
  return (
    <a href={`/ui${path}`} aria-current={current ? "page" : undefined} onClick={() => (menuOpen.value = false)}>
      <Icon name={icon} />
      {text}
    </a>
  )
}

/** What a change did that led to this page, or that ended after the user had come here. */
const Told = () => {
  const { told } = place.value
  return (
    <div role="status">
      {told === undefined ? null : (
        <div class={told.isBad ? "notice told bad" : "notice told"}>
          <p class="lines">
            <WithWays>{told.text}</WithWays>
          </p>
          <button type="button" class="small" aria-label={t.closeTold} onClick={untell}>
            {t.close}
          </button>
        </div>
      )}
    </div>
  )
}

export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  useEffect(keyboard, [])
  const since = awaySince.value
  return (
    <>
      <a class="skip" href="#content">
        {t.skip}
      </a>
      <div class={menuOpen.value ? "shell open" : "shell"}>
        <header class="bar">
          <a class="brand" href="/ui/">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="7" />
              <path d="M16 9v5M8 22v-4h16v4" />
              <circle cx="16" cy="8" r="3" />
              <circle cx="8" cy="23" r="3" />
              <circle cx="16" cy="23" r="3" />
              <circle cx="24" cy="23" r="3" />
            </svg>
            {t.product}
          </a>
          <button
            type="button"
            class="menu"
            aria-expanded={menuOpen.value}
            aria-controls="nav"
            onClick={() => (menuOpen.value = !menuOpen.value)}
          >
            <Icon name="menu" />
            {t.menu}
          </button>
          <nav id="nav" aria-label={t.nav.label}>
            {shownLinks().map(({ path, text, icon }) => (
              <NavLink key={path} path={path} text={text} icon={icon} />
            ))}
            <span class="gap" />
            <button type="button" class="as-link keys" onClick={() => void openPalette()}>
              <Icon name="search" />
              {t.palette.title}…<kbd>Ctrl K</kbd>
            </button>
            <button type="button" class="as-link keys" onClick={() => (keysOpen.value = true)}>
              <Icon name="help" />
              {t.nav.help}
            </button>
            {capabilities.value?.simulator === true ? <p class="hint">{t.simulator}</p> : null}
            <NavLink path="/me" text={me.value?.userID ?? t.nav.me} icon="me" />
            <button type="button" class="as-link" onClick={() => void signOut()}>
              <Icon name="out" />
              {t.nav.signOut}
            </button>
          </nav>
        </header>
        <main id="content" tabIndex={-1}>
          {isOver.value ? (
            <p class="offline" role="status">
              {t.over}{" "}
              <a href="/ui/login" target="_blank">
                {t.overSignIn}
              </a>
            </p>
          ) : since === undefined ? null : (
            <p class="offline" role="status">
              {t.away(shortTime(new Date(since)))}
            </p>
          )}
          <Notices />
          <Told />
          {children}
        </main>
      </div>
      {palette.value === undefined ? null : (
        <palette.value pages={pagesOf(shownLinks())} onClose={() => (palette.value = undefined)} />
      )}
      <Dialog title={t.keys.title} open={keysOpen.value} onClose={() => (keysOpen.value = false)}>
        <p class="muted">{t.keys.intro}</p>
        <dl class="keylist">
          {t.keys.list.map(([keys, text]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <div class="actions end">
          <button type="button" onClick={() => (keysOpen.value = false)}>
            {t.close}
          </button>
        </div>
      </Dialog>
    </>
  )
}
