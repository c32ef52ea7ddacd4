import type { ConfigIssueAnswer, Plan } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { addressOf, ask, read, Refusal } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { draftOf, keepDraft } from "../editor/drafts.ts"
import type { Editor, Knowledge } from "../editor/editor.ts"
import type { Schema } from "../editor/schema.ts"
import { Dialog, Loading, Outcome, Refused, State, Text, useDoing } from "../parts/parts.tsx"
import { plain } from "../parts/format.ts"
import { planSummary } from "../range/plan-summary.ts"
import { RangeHead, useRange } from "../range/range-head.tsx"
import { linkTo } from "../links.ts"
import { config as texts } from "../texts/config.ts"
import { t } from "../texts.ts"

const upload = (text: string): FormData => {
  const form = new FormData()
  form.set("file", new File([text], "range.yml", { type: "application/yaml" }))
  return form
}

const addressFor = (path: string, rangeID: string): string => `/api/v2${addressOf(path, { rangeID })}`

const validate = async (rangeID: string, text: string): Promise<readonly ConfigIssueAnswer[]> => {
  const answer = await ask("POST", addressFor("/range/config/validate", rangeID), { body: upload(text) })
  return ((await answer.json()) as { readonly issues: readonly ConfigIssueAnswer[] }).issues
}

/** The stored configuration and its version; empty and null when there is none. */
const readStored = async (rangeID: string): Promise<{ readonly text: string; readonly version: string | null }> => {
  try {
    const answer = await ask("GET", addressFor("/range/config", rangeID), { headers: { Accept: "application/json" } })
    return { text: ((await answer.json()) as { readonly result: string }).result, version: answer.headers.get("ETag") }
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return { text: "", version: null }
    throw error
  }
}

/** Replaces this text by another; returns the stored text instead if somebody else has changed it. */
const replaceStored = async (rangeID: string, before: string, now: string): Promise<string | undefined> => {
  const there = await readStored(rangeID)
  if (there.text !== before) return there.text
  try {
    await ask("PUT", addressFor("/range/config", rangeID), {
      body: upload(now),
      headers: there.version === null ? {} : { "If-Match": there.version },
    })
    return undefined
  } catch (error) {
    const { text } = await readStored(rangeID)
    if (text !== before) return text
    throw error
  }
}

const readExample = async (): Promise<string> => (await read<{ readonly result: string }>("/range/config/example")).result

/** As the configuration of a new user's range: nothing to lose, and nothing to begin with. */
const hasNoMachine = (text: string): boolean => ["", "ludus:", "ludus:[]"].includes(text.replaceAll(/\s+/gu, ""))

const readKnowledge = async (): Promise<Knowledge> => {
  const [schema, templates] = await Promise.all([
    read<Schema>("/range/config/schema"),
    read<readonly { readonly name: string }[]>("/templates"),
  ])
  return { schema, values: { template: templates.map(({ name }) => name) } }
}

const Problems = ({
  issues,
  goTo,
}: {
  readonly issues: readonly ConfigIssueAnswer[] | undefined
  readonly goTo: (issue: ConfigIssueAnswer) => void
}) => {
  if (issues === undefined) return <p class="muted">{texts.checking}</p>
  if (issues.length === 0) return <State tone="ok">{texts.good}</State>
  return (
    <>
      <State tone={issues.some(({ severity }) => severity === "error") ? "bad" : "warn"}>{texts.problems(issues.length)}</State>
      <ul class="plain">
        {issues.slice(0, 100).map((issue) => (
          <li key={`${issue.line} ${issue.column} ${issue.path} ${issue.message}`}>
            <button type="button" class="as-link" onClick={() => goTo(issue)}>
              {texts.line(issue.line, issue.column)}
            </button>{" "}
            <span class="mono">
              <Text>{issue.path}</Text>
            </span>{" "}
            <Text>{issue.message}</Text>
            {issue.allowed === undefined ? null : (
              <span class="sub">
                <Text>{issue.allowed}</Text>
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

/** What a deploy of the stored configuration would do. */
const WouldChange = ({
  id,
  isChanged,
  version,
}: {
  readonly id: string
  readonly isChanged: boolean
  readonly version: number
}) => {
  const plan = useRead<Plan>("/range/plan", { rangeID: id }, ({ topic, rangeID }) => topic === "range" && rangeID === id)
  useEffect(() => {
    if (version > 0) void plan.reload()
  }, [version])
  const data = plan.data.value
  return (
    <>
      {isChanged ? <p class="hint">{texts.wouldSaved}</p> : null}
      {plan.refusal.value === undefined ? null : (
        <p class="muted lines">
          <Text>{plan.refusal.value.message}</Text>
        </p>
      )}
      {data === undefined ? null : (
        <>
          <p>{data.steps.length === 0 ? t.plan.nothing : planSummary(data)}</p>
          <ul class="plain would">
            {data.changes
              .filter(({ kind }) => kind !== "none")
              .slice(0, 30)
              .map(({ kind, object }) => (
                <li key={`${kind} ${object}`}>
                  <span class={`tag kind ${kind}`}>{t.plan.kinds[kind]}</span> <Text>{object}</Text>
                </li>
              ))}
          </ul>
        </>
      )}
    </>
  )
}

const Configuration = ({ id, stored }: { readonly id: string; readonly stored: string }) => {
  const text = useSignal(draftOf(id)?.text ?? stored)
  const saved = useSignal(draftOf(id)?.from ?? stored)
  const version = useSignal(0)
  const issues = useSignal<readonly ConfigIssueAnswer[] | undefined>(undefined)
  /** A version that somebody else stored meanwhile. */
  const theirs = useSignal<string | undefined>(undefined)
  const failed = useSignal<Refusal | undefined>(undefined)
  const isOpen = useSignal(false)
  const doing = useDoing()
  const frame = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | undefined>(undefined)
  const isChanged = text.value !== saved.value

  useEffect(() => {
    let isGone = false
    const open = async (): Promise<void> => {
      try {
        const knowledge = readKnowledge()
        knowledge.catch((error: unknown) => (failed.value = error instanceof Refusal ? error : new Refusal(0, String(error))))
        const { openEditor } = await import("../editor/editor.ts")
        if (isGone || frame.current === null) return
        editor.current = openEditor({
          parent: frame.current,
          text: text.peek(),
          label: texts.label,
          texts: texts.schema,
          knowledge,
          check: async (now) => {
            try {
              const found = await validate(id, now)
              if (now === text.peek()) issues.value = found
              return found
            } catch (error) {
              failed.value = error instanceof Refusal ? error : new Refusal(0, String(error))
              return []
            }
          },
          onChange: (now) => {
            text.value = now
            issues.value = undefined
            failed.value = undefined
          },
        })
        isOpen.value = true
      } catch (error) {
        failed.value = error instanceof Refusal ? error : new Refusal(0, texts.notLoaded, String(error))
      }
    }
    void open()
    return () => {
      isGone = true
      editor.current?.close()
      editor.current = undefined
    }
  }, [])
  useEffect(() => keepDraft(id, { text: text.value, from: saved.value }), [text.value, saved.value])

  /** Stores the text unless somebody else changed the version it is based on; true on success. */
  const store = async (): Promise<boolean> => {
    const now = text.peek()
    theirs.value = await replaceStored(id, saved.peek(), now)
    if (theirs.peek() !== undefined) return false
    saved.value = now
    // the user may have left, or come back and typed more
    keepDraft(id, { text: draftOf(id)?.text ?? now, from: now })
    version.value += 1
    return true
  }
  const save = (thenPlan: boolean) => () =>
    void doing.run(async () => {
      if (!(await store())) return undefined
      return { told: texts.saved, to: thenPlan ? `/ranges/${encodeURIComponent(id)}/plan` : undefined }
    })
  const insertExample = (): void =>
    void doing.run(async () => {
      editor.current?.replace(await readExample())
      return undefined
    })
  const hasErrors = issues.value?.some(({ severity }) => severity === "error") === true
  const cannot = !isChanged || hasErrors || doing.busy
  return (
    <>
      <div class="summary">
        <p class="muted">{texts.intro}</p>
        <div class="actions">
          {isChanged ? <span class="tag warn">{t.range.unsaved}</span> : null}
          {hasNoMachine(text.value) ? (
            <button type="button" disabled={doing.busy || !isOpen.value} onClick={insertExample}>
              {texts.example}
            </button>
          ) : null}
          <button type="button" disabled={cannot} onClick={save(false)}>
            {texts.save}
          </button>
          <button type="button" class="primary" disabled={cannot} onClick={save(true)}>
            {texts.saveAndDeploy}
          </button>
        </div>
      </div>
      <Outcome doing={doing} />
      {failed.value === undefined ? null : <Refused refusal={failed.value} />}
      <div class="editor">
        <div class="frame" ref={frame}>
          {isOpen.value ? null : <Loading />}
        </div>
        <aside>
          <section class="card problems" aria-labelledby="problems">
            <h2 id="problems">{texts.findings}</h2>
            <div role="status">
              <Problems issues={issues.value} goTo={({ line, column }) => editor.current?.goTo(line, column)} />
            </div>
          </section>
          <section class="card problems" aria-labelledby="would">
            <h2 id="would">{texts.would}</h2>
            <WouldChange id={id} isChanged={isChanged} version={version.value} />
            <p>
              <a href={linkTo("ranges", id, "plan")}>{t.plan.title}</a>
            </p>
          </section>
        </aside>
      </div>
      <Dialog title={texts.changedTitle} open={theirs.value !== undefined} onClose={() => (theirs.value = undefined)} wide>
        <p>{texts.changedText}</p>
        <pre tabIndex={0} role="region" aria-label={texts.theirs}>
          {theirs.value === undefined ? "" : plain(changedLines(saved.value, theirs.value))}
        </pre>
        <div class="actions end">
          <button
            type="button"
            onClick={() => {
              const there = theirs.peek() ?? ""
              theirs.value = undefined
              saved.value = there
              editor.current?.replace(there)
            }}
          >
            {texts.takeTheirs}
          </button>
          <button
            type="button"
            onClick={() => {
              // the stored version is known now: the next save replaces it
              saved.value = theirs.peek() ?? ""
              theirs.value = undefined
            }}
          >
            {texts.keepMine}
          </button>
        </div>
      </Dialog>
    </>
  )
}

/** The removed and added lines. */
const changedLines = (before: string, after: string): string => {
  const old = before.split("\n")
  const now = after.split("\n")
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  return [
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
  ].join("\n")
}

export const ConfigPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const view = useRange(id)
  const stored = useSignal<string | undefined>(undefined)
  const refusal = useSignal<Refusal | undefined>(undefined)
  const load = (): void =>
    void readStored(id).then(
      ({ text }) => {
        stored.value = text
        refusal.value = undefined
      },
      (error: unknown) => (refusal.value = error instanceof Refusal ? error : new Refusal(0, String(error))),
    )
  useEffect(load, [id])
  return (
    <>
      <RangeHead id={id} view={view} />
      {stored.value !== undefined ? (
        <Configuration key={id} id={id} stored={stored.value} />
      ) : refusal.value === undefined ? (
        <Loading />
      ) : (
        <Refused refusal={refusal.value} retry={load} />
      )}
    </>
  )
}
