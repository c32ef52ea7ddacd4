import type { Change, Plan } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { hasDraft } from "../editor/drafts.ts"
import { CardTable, Word } from "../parts/list.tsx"
import { Confirm, Loading, Note, Outcome, Refused, Text, useDoing, useQuestion } from "../parts/parts.tsx"
import { planSummary } from "../range/plan-summary.ts"
import { RangeHead, type RangeView, useRange } from "../range/range-head.tsx"
import { linkTo } from "../links.ts"
import { place, setQuery } from "../router.ts"
import { plan as texts } from "../texts/plan.ts"
import { t } from "../texts.ts"

const order: readonly Change["kind"][] = ["remove", "replace", "create", "change", "keep"]

const Changes = ({ plan }: { readonly plan: Plan }) => {
  const changes = plan.changes
    .filter(({ kind }) => kind !== "none")
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
  const unchanged = plan.changes.length - changes.length
  return (
    <>
      {changes.length === 0 ? null : (
        <CardTable columns={Object.values(t.plan.columns)}>
          {changes.map(({ kind, object, reasons }) => (
            <tr key={`${kind} ${object}`}>
              <td data-label={t.plan.columns.change}>
                <span class={`tag kind ${kind}`}>{t.plan.kinds[kind]}</span>
              </td>
              <th scope="row">
                <Text>{object}</Text>
              </th>
              <td data-label={t.plan.columns.why}>
                <Text>{reasons.join("; ")}</Text>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      {unchanged === 0 ? null : <p class="muted">{t.plan.unchanged(unchanged)}</p>}
    </>
  )
}

const Planned = ({
  id,
  plan,
  view,
  again,
}: {
  readonly id: string
  readonly plan: Plan
  readonly view: RangeView
  readonly again: () => void
}) => {
  const doing = useDoing()
  const question = useQuestion()
  const losing = plan.changes.filter(({ kind }) => kind === "replace" || kind === "remove").length
  const isNothing = plan.steps.length === 0
  const deploy = (): void =>
    void doing.run(async () => {
      const body = plan.confirm === undefined ? {} : { confirm: plan.confirm }
      const { result, runID } = await change<{ readonly result: string; readonly runID?: string }>(
        "POST",
        "/range/deploy",
        { rangeID: id },
        body,
      )
      return { told: result, to: runID === undefined ? undefined : `/runs/${encodeURIComponent(runID)}` }
    })
  return (
    <>
      <div class="summary">
        <p class="lead">{isNothing ? t.plan.nothing : planSummary(plan)}</p>
        <div class="actions">
          <button type="button" onClick={again}>
            {t.plan.again}
          </button>
          <button
            type="button"
            class={losing > 0 ? "danger" : "primary"}
            disabled={isNothing || doing.busy || view.run.data.value?.status === "running"}
            onClick={() => {
              if (losing === 0) return deploy()
              question.value = {
                title: t.plan.confirmTitle,
                text: t.plan.confirmText(losing),
                action: t.plan.deploy,
                danger: true,
                act: deploy,
              }
            }}
          >
            {t.plan.deploy}
          </button>
        </div>
      </div>
      <Outcome doing={doing} />
      {losing > 0 ? <Note tone="bad">{t.plan.replaces}</Note> : null}
      {plan.notes.map((note) => (
        <Note key={note} tone="warn">
          <Text>{note}</Text>
        </Note>
      ))}
      <Changes plan={plan} />
      {plan.placements.length === 0 || isNothing ? null : (
        <details class="fold">
          <summary>{t.plan.where}</summary>
          <ul class="plain">
            {plan.placements.map(({ machine, node, reason }) => (
              <li key={machine}>
                <Text>{`${machine} → ${node}`}</Text>{" "}
                <span class="muted">
                  <Text>{reason}</Text>
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}

/** The planned part, and whether testing mode is ignored, according to the address. */
const askedFor = (): Readonly<Record<string, string>> =>
  Object.fromEntries([...place.value.query].filter(([name]) => ["limit", "tags", "only_roles", "force"].includes(name)))

/** Restricts a deploy to some machines, one part or some roles. */
const Part = ({ asked }: { readonly asked: Readonly<Record<string, string>> }) => {
  // emptying one field keeps the section open for the others
  const wasOpen = useRef(Object.keys(asked).length > 0)
  return (
    <details class="fold" open={wasOpen.current}>
      <summary>{texts.part}</summary>
      <div class="filters">
        <Word name="limit" label={texts.limit} />
        <Word name="tags" label={texts.tags} />
        <Word name="only_roles" label={texts.roles} />
        <label class="check">
          <input
            type="checkbox"
            checked={asked["force"] !== undefined}
            onChange={({ currentTarget }) => setQuery({ force: currentTarget.checked ? "true" : undefined })}
          />
          {texts.force}
        </label>
      </div>
      <p class="muted">{texts.partText}</p>
    </details>
  )
}

export const PlanPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const view = useRange(id)
  const prune = useSignal(false)
  const replace = useSignal(false)
  const asked = askedFor()
  const plan = useRead<Plan>(
    "/range/plan",
    { rangeID: id, ...asked, ...(prune.value ? { prune: true } : {}), ...(replace.value ? { replace: true } : {}) },
    ({ topic, rangeID }) => topic === "range" && rangeID === id,
  )
  const data = plan.data.value
  const keeps = prune.value || replace.value || data?.changes.some(({ kind }) => kind === "keep") === true
  return (
    <>
      <RangeHead id={id} view={view} />
      {!hasDraft(id) ? null : (
        <Note tone="warn">
          {texts.draft} <a href={linkTo("ranges", id, "config")}>{t.range.tabs.config}</a>
        </Note>
      )}
      {plan.refusal.value === undefined ? null : <Refused refusal={plan.refusal.value} retry={() => void plan.reload()} />}
      {plan.refusal.value !== undefined ? null : data === undefined ? (
        <Loading />
      ) : (
        <Planned id={id} plan={data} view={view} again={() => void plan.reload()} />
      )}
      <Part asked={asked} />
      {keeps ? (
        <fieldset>
          <legend>{t.plan.kept}</legend>
          <label class="check">
            <input
              type="checkbox"
              checked={prune.value}
              onChange={({ currentTarget }) => (prune.value = currentTarget.checked)}
            />
            {t.plan.prune}
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={replace.value}
              onChange={({ currentTarget }) => (replace.value = currentTarget.checked)}
            />
            {t.plan.replace}
          </label>
        </fieldset>
      ) : null}
    </>
  )
}
