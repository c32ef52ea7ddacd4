import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks"
import { lastChange, Refusal } from "../api/client.ts"
import { forget, refresh } from "../api/resource.ts"
import { me } from "../me.ts"
import { navigate, pageOf, place, tell, untell } from "../router.ts"
import { t } from "../texts.ts"
import { type Asked, curlOf } from "./curl.ts"
import { memo } from "./memo.ts"
import { dateOf, longTime, plain, shortTime } from "./format.ts"
import { withWays } from "./ways.ts"

export type Tone = "ok" | "warn" | "bad" | "busy" | "quiet"

const marks: Readonly<Record<Tone, string>> = {
  ok: "M3 8.5l3.5 3.5L13 5",
  warn: "M8 3.5v6M8 12v.5",
  bad: "M4 4l8 8M12 4l-8 8",
  busy: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
  quiet: "M4 8h8",
}

/** A state: a colour, an icon with its own shape, and a word. */
export const State = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`state ${tone}`}>
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={marks[tone]} />
    </svg>
    {children}
  </span>
)

export const Text = ({ children }: { readonly children: string }) => <bdi>{plain(children)}</bdi>

export const Time = memo(({ at }: { readonly at: string | undefined }) => {
  const date = dateOf(at)
  return date === undefined ? (
    <span class="muted">{t.never}</span>
  ) : (
    <time dateTime={date.toISOString()} title={longTime(date)}>
      {shortTime(date)}
    </time>
  )
})

export const Note = ({
  tone,
  title,
  children,
  alert = false,
}: {
  readonly tone: Tone
  readonly title?: string
  readonly children: ComponentChildren
  readonly alert?: boolean
}) => (
  <div class={`note ${tone}`} role={alert ? "alert" : undefined}>
    {title === undefined ? null : <strong>{title}</strong>}
    <div>{children}</div>
  </div>
)

/** A hint or an answer of the service, with links to the pages that do what it says. */
export const WithWays = ({ children }: { readonly children: string }) => (
  <>
    {withWays(children, me.value?.isAdmin === true).map((part, at) =>
      typeof part === "string" ? (
        <Text key={at}>{part}</Text>
      ) : (
        <a key={at} href={part.href}>
          <Text>{part.text}</Text>
        </a>
      ),
    )}
  </>
)

export const Refused = ({ refusal, retry }: { readonly refusal: Refusal; readonly retry?: () => void }) => (
  <Note tone="bad" alert>
    <p class="lines">
      <Text>{refusal.message}</Text>
    </p>
    {refusal.hint === undefined ? null : (
      <p class="lines muted">
        <WithWays>{refusal.hint}</WithWays>
      </p>
    )}
    {retry === undefined ? null : (
      <button type="button" onClick={retry}>
        {t.retry}
      </button>
    )}
  </Note>
)

export const Loading = () => <p class="muted loading">{t.loading}</p>

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p>{title}</p>
    {children}
  </div>
)

export const Field = ({
  label,
  hint,
  children,
}: {
  readonly label: string
  readonly hint?: string
  readonly children: (ids: { readonly id: string; readonly "aria-describedby"?: string }) => ComponentChildren
}) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(hint === undefined ? { id } : { id, "aria-describedby": `${id}-hint` })}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** What a change did, and the page to show afterwards if only the answer tells it. */
export type Done = string | undefined | { readonly told: string; readonly to?: string | undefined }

/** The result of a change: shown where it was requested, and announced to screen readers. */
export interface Doing {
  readonly busy: boolean
  readonly said: string | undefined
  readonly refusal: Refusal | undefined
  /** The request that was sent for it. */
  readonly asked: Asked | undefined
  /**
   * `to`: the page to show afterwards, which then says what was done. If the user has left the page, or closed the window with the form,
   * the message appears above the page where they are.
   */
  readonly run: (change: () => Promise<Done>, to?: string) => Promise<boolean>
  /** Clears the last result. */
  readonly clear: () => void
  /** Says that the result is shown somewhere, until the returned function is called. */
  readonly shows: () => () => void
}

export const useDoing = (): Doing => {
  const busy = useSignal(false)
  const said = useSignal<string | undefined>(undefined)
  const refusal = useSignal<Refusal | undefined>(undefined)
  const asked = useSignal<Asked | undefined>(undefined)
  const places = useRef(0)
  const clear = (): void => {
    said.value = undefined
    refusal.value = undefined
    asked.value = undefined
  }
  return {
    clear,
    shows: () => {
      places.current += 1
      return () => (places.current -= 1)
    },
    busy: busy.value,
    asked: asked.value,
    said: said.value,
    refusal: refusal.value,
    run: async (change, to) => {
      if (busy.peek()) return false
      busy.value = true
      clear()
      untell()
      lastChange.value = undefined
      const from = pageOf(place.peek())
      const isHere = (): boolean => pageOf(place.peek()) === from
      const isShown = (): boolean => isHere() && places.current > 0
      try {
        const done = await change()
        const { told, to: next = to } = typeof done === "object" ? done : { told: done }
        if (isHere() && next !== undefined) {
          forget()
          navigate(next, { told })
          return true
        }
        if (isShown()) said.value = told
        else tell(told)
        refresh()
        return true
      } catch (error) {
        const why = error instanceof Refusal ? error : new Refusal(0, error instanceof Error ? error.message : String(error))
        if (isShown()) refusal.value = why
        else tell(why.hint === undefined ? why.message : `${why.message}\n${why.hint}`, true)
        refresh()
        return false
      } finally {
        asked.value = lastChange.peek()
        busy.value = false
      }
    },
  }
}

const CopyCurl = ({ asked }: { readonly asked: Asked | undefined }) => {
  const copied = useSignal<Asked | undefined>(undefined)
  if (asked === undefined) return null
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(curlOf(asked, location.origin))
    copied.value = asked
  }
  return (
    <button type="button" class="as-link curl" onClick={() => void copy()}>
      {copied.value === asked ? t.copied : t.curl}
    </button>
  )
}

export const Outcome = ({ doing: { busy, said, refusal, asked, shows } }: { readonly doing: Doing }) => {
  useLayoutEffect(() => shows(), [])
  return (
    <div class="outcome" role="status" aria-live="polite">
      {busy ? (
        <p class="working">
          <State tone="busy">{t.working}</State>
        </p>
      ) : null}
      {said === undefined || said === "" ? null : (
        <Note tone="ok">
          <p class="lines">
            <WithWays>{said}</WithWays>
          </p>
          <CopyCurl asked={asked} />
        </Note>
      )}
      {refusal === undefined ? null : (
        <>
          <Refused refusal={refusal} />
          <CopyCurl asked={asked} />
        </>
      )}
    </div>
  )
}

export const Dialog = ({
  title,
  open,
  stays = false,
  onClose,
  wide = false,
  children,
}: {
  readonly title: string
  readonly open: boolean
  /** Esc does not close it. */
  readonly stays?: boolean
  readonly onClose: () => void
  readonly wide?: boolean
  readonly children: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    if (element === null || element.open === open) return
    if (open) element.showModal()
    else element.close()
  }, [open])
  return (
    <dialog
      ref={dialog}
      class={wide ? "wide" : undefined}
      aria-labelledby={id}
      // browsers close it at the second Esc, whatever the page says
      onCancel={(event) => stays && event.preventDefault()}
      onClose={() => (stays ? dialog.current?.showModal() : onClose())}
    >
      {open ? (
        <>
          <h2 id={id}>
            <Text>{title}</Text>
          </h2>
          {children}
        </>
      ) : null}
    </dialog>
  )
}

/** The end of a form in a dialog: the result, and two buttons. */
export const FormEnd = ({
  doing,
  action,
  cancel = t.cancel,
  danger = false,
  onClose,
  children,
}: {
  readonly doing: Doing
  readonly action: string
  readonly cancel?: string
  readonly danger?: boolean
  readonly onClose: () => void
  readonly children?: ComponentChildren
}) => {
  // earlier results do not belong to this form
  useLayoutEffect(() => doing.clear(), [])
  return (
    <>
      <Outcome doing={doing} />
      <div class="actions end">
        {children}
        <button type="button" onClick={onClose}>
          {cancel}
        </button>
        <button type="submit" class={danger ? "danger" : "primary"} disabled={doing.busy}>
          {action}
        </button>
      </div>
    </>
  )
}

export interface Question {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly danger?: boolean
  readonly act: () => void
}

export const useQuestion = () => useSignal<Question | undefined>(undefined)

/** Asks for confirmation before something that cannot be undone. */
export const Confirm = ({ question, onClose }: { readonly question: Question | undefined; readonly onClose: () => void }) => (
  <Dialog title={question?.title ?? ""} open={question !== undefined} onClose={onClose}>
    <p class="lines">
      <Text>{question?.text ?? ""}</Text>
    </p>
    <div class="actions end">
      <button type="button" onClick={onClose}>
        {t.cancel}
      </button>
      <button
        type="button"
        class={question?.danger === true ? "danger" : "primary"}
        onClick={() => {
          onClose()
          question?.act()
        }}
      >
        {question?.action}
      </button>
    </div>
  </Dialog>
)

/** A button that asks for confirmation. Rows of a table share one question instead. */
export const ConfirmButton = ({
  question,
  children,
  ...button
}: {
  readonly class?: string
  readonly disabled?: boolean
  readonly question: Question
  readonly children: ComponentChildren
}) => {
  const asked = useQuestion()
  return (
    <>
      <button type="button" {...button} onClick={() => (asked.value = question)}>
        {children}
      </button>
      <Confirm question={asked.value} onClose={() => (asked.value = undefined)} />
    </>
  )
}

interface Tab {
  readonly href: string
  readonly text: string
  /** What a mark beside the text means; undefined: there is none. */
  readonly mark?: string | undefined
  readonly current: boolean
}

export const Tabs = ({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) => {
  const nav = useRef<HTMLElement>(null)
  const at = tabs.find(({ current }) => current)?.href
  // where they are wider than the window, the current one is not left beside it
  useLayoutEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [at])
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map(({ href, text, mark, current }) => (
        <a key={href} href={href} aria-current={current ? "page" : undefined}>
          {text}
          {mark === undefined ? null : (
            <>
              {" "}
              <span class="dot" role="img" aria-label={mark} title={mark} />
            </>
          )}
        </a>
      ))}
    </nav>
  )
}

/** Names the window after the title of the page, without states in it, and the tab that is open. */
export const useWindowTitle = () => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const parts = [...(title.current?.childNodes ?? [])].filter(
      (node) => !(node instanceof Element && node.matches(".state, .tag")),
    )
    const text = parts.map(({ textContent }) => textContent).join("")
    const tab = document.querySelector("main .tabs [aria-current]")?.textContent ?? text
    document.title = [...new Set([text, tab, t.product])].join(" · ")
  })
  return title
}

/** The head of a page: its subject, the state in one sentence, and the actions. */
export const Head = ({
  title,
  lead,
  children,
}: {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  readonly children?: ComponentChildren
}) => {
  const heading = useWindowTitle()
  return (
    <header class="head">
      <div>
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {lead === undefined ? null : <p class="lead">{lead}</p>}
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </header>
  )
}
