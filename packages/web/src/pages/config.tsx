import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { addressOf, ask, Refusal } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { Loading, Outcome, Refused, State, Text, useDoing } from "../parts/parts.tsx"
import { RangeHead, useRange } from "../range/range-head.tsx"
import { linkTo } from "../router.ts"
import { t } from "../texts.ts"

interface Issue {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly message: string
  readonly allowed?: string
  readonly severity: "error" | "warning"
}

const upload = (text: string): FormData => {
  const form = new FormData()
  form.set("file", new File([text], "range.yml", { type: "application/yaml" }))
  return form
}

const send = async <A,>(method: "POST" | "PUT", path: string, rangeID: string, text: string, signal?: AbortSignal): Promise<A> =>
  (await (
    await ask(method, `/api/v2${addressOf(path, { rangeID })}`, {
      body: upload(text),
      ...(signal === undefined ? {} : { signal }),
    })
  ).json()) as A

/** Where a line of the text begins. */
const offsetOf = (text: string, line: number): number => {
  let at = 0
  for (let n = 1; n < line; n++) {
    const next = text.indexOf("\n", at)
    if (next < 0) return at
    at = next + 1
  }
  return at
}

const Editor = ({ id, stored }: { readonly id: string; readonly stored: string }) => {
  const text = useSignal(stored)
  const saved = useSignal(stored)
  const issues = useSignal<readonly Issue[] | undefined>(undefined)
  const doing = useDoing()
  const field = useRef<HTMLTextAreaElement>(null)
  const isChanged = text.value !== saved.value
  useEffect(() => {
    const gone = new AbortController()
    const timer = setTimeout(() => {
      send<{ readonly issues: readonly Issue[] }>("POST", "/range/config/validate", id, text.value, gone.signal).then(
        (report) => (issues.value = report.issues),
        (error: unknown) => {
          if (!gone.signal.aborted && error instanceof Refusal)
            issues.value = [{ path: "", line: 1, column: 1, message: error.message, severity: "error" }]
        },
      )
    }, 300)
    return () => {
      clearTimeout(timer)
      gone.abort()
    }
  }, [text.value])
  useEffect(() => {
    if (!isChanged) return
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener("beforeunload", ask)
    return () => removeEventListener("beforeunload", ask)
  }, [isChanged])
  const goTo = ({ line, column }: Issue): void => {
    const element = field.current
    if (element === null) return
    const at = offsetOf(text.peek(), line) + column - 1
    element.focus()
    element.setSelectionRange(at, at)
    element.scrollTop = Math.max(0, (line - 4) * 20)
  }
  const found = issues.value
  const errors = found?.filter(({ severity }) => severity === "error").length ?? 0
  return (
    <>
      <p class="muted">{t.config.intro}</p>
      <div class="editor">
        <textarea
          ref={field}
          aria-label={t.config.label}
          spellcheck={false}
          autocapitalize="none"
          autocomplete="off"
          wrap="off"
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
            issues.value = undefined
          }}
        />
        <div class="problems" role="status">
          {found === undefined ? (
            <p class="muted">{t.config.checking}</p>
          ) : found.length === 0 ? (
            <State tone="ok">{t.config.good}</State>
          ) : (
            <>
              <State tone={errors > 0 ? "bad" : "warn"}>{t.config.problems(found.length)}</State>
              <ul class="plain">
                {found.slice(0, 100).map((issue) => (
                  <li key={`${issue.line} ${issue.column} ${issue.path} ${issue.message}`}>
                    <button type="button" class="as-link" onClick={() => goTo(issue)}>
                      {t.config.line(issue.line)}
                    </button>{" "}
                    <span class="mono">
                      <Text>{issue.path}</Text>
                    </span>{" "}
                    <Text>{issue.message}</Text>
                    {issue.allowed === undefined ? null : (
                      <span class="muted">
                        {" "}
                        <Text>{issue.allowed}</Text>
                      </span>
                    )}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      </div>
      <Outcome doing={doing} />
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={!isChanged || errors > 0 || doing.busy}
          onClick={() =>
            void doing.run(async () => {
              const now = text.peek()
              await send("PUT", "/range/config", id, now)
              saved.value = now
              return t.config.saved
            })
          }
        >
          {t.config.save}
        </button>
        <a class="button" href={linkTo("ranges", id, "plan")}>
          {t.plan.title}
        </a>
        {isChanged ? <span class="tag warn">{t.config.unsaved}</span> : null}
      </div>
    </>
  )
}

export const ConfigPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const view = useRange(id)
  const config = useRead<{ readonly result: string }>("/range/config", { rangeID: id })
  const { data, refusal } = config
  return (
    <>
      <RangeHead id={id} view={view} />
      {data.value !== undefined ? (
        <Editor key={id} id={id} stored={data.value.result} />
      ) : refusal.value === undefined ? (
        <Loading />
      ) : refusal.value.status === 404 ? (
        <Editor key={id} id={id} stored="" />
      ) : (
        <Refused refusal={refusal.value} retry={() => void config.reload()} />
      )}
    </>
  )
}
