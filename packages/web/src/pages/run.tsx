import type { Plan, Run } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import type { LiveEvent } from "../live/live.ts"
import { LogView } from "../log/log-view.tsx"
import { duration, secondsBetween } from "../parts/format.ts"
import { CardTable } from "../parts/list.tsx"
import {
  Confirm,
  ConfirmButton,
  type Doing,
  type Done,
  Head,
  Loading,
  Note,
  Outcome,
  Refused,
  State,
  Tabs,
  Text,
  Time,
  useDoing,
  useQuestion,
  WithWays,
} from "../parts/parts.tsx"
import { kindOf, runTone, shortName } from "../range/sentence.ts"
import { linkTo } from "../links.ts"
import { place } from "../router.ts"
import { useSubjectName } from "../run/subject.ts"
import { useFresh } from "../run/use-fresh.ts"
import { ProgressBar } from "../run/progress-bar.tsx"
import { stepTones } from "../run/step-tones.ts"
import { TimelineView } from "../run/timeline-view.tsx"
import { t } from "../texts.ts"

/** The current time, updated while a run is in progress. */
const useNow = (isRunning: boolean): number => {
  const now = useSignal(Date.now())
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => (now.value = Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isRunning])
  return now.value
}

const leadOf = (run: Run, now: number): string => {
  const { done, total, remaining } = run.progress
  const parts: string[] = [t.run.sentences[run.status]]
  const seconds = secondsBetween(run.startedAt, run.endedAt, now) ?? 0
  if (run.status === "running") {
    if (total > 0) parts.push(`${t.run.steps(done, total)}${remaining === undefined ? "" : `, ${remaining}`}.`)
  } else parts.push(t.run.tookAll(t.run.steps(done, total), duration(seconds)))
  return parts.join(" ")
}

/** The essentials of a failed run: which step, where, why, and what to do. */
const Cause = ({ run }: { readonly run: Run }) => {
  const failed = run.steps.filter(({ phase, failure }) => phase === "failed" && failure !== undefined)
  const first = failed.toSorted((a, b) => ((a.endedAt ?? "") < (b.endedAt ?? "") ? -1 : 1))[0]
  if (first?.failure === undefined)
    return run.status === "failure" && run.message !== "" ? (
      <Note tone="bad" title={t.run.cause}>
        <p class="lines">
          <Text>{run.message}</Text>
        </p>
      </Note>
    ) : null
  return (
    <Note tone="bad" title={t.run.cause}>
      <p>
        <strong>
          <Text>{first.title}</Text>
        </strong>
      </p>
      <p class="lines">
        <Text>{first.failure.message}</Text>
      </p>
      {first.failure.hint === undefined ? null : (
        <p class="lines">
          <WithWays>{first.failure.hint}</WithWays>
        </p>
      )}
      <p>
        <a href={`${linkTo("runs", run.id)}?view=log&at=error`}>{t.run.toLog}</a>
        {failed.length > 1 ? <span class="muted"> · {t.run.also(failed.length - 1)}</span> : null}
      </p>
    </Note>
  )
}

interface Resumed {
  readonly result: string
  readonly runID?: string
  readonly plan?: Plan
}

/** Names shown of each kind, so that the question fits the window. */
const mostNamed = 20

/** What a plan removes or replaces, a line for each of the two; empty: nothing. */
const losses = ({ changes }: Plan): string =>
  (["remove", "replace"] as const)
    .flatMap((kind) => {
      const names = changes.filter((change) => change.kind === kind).map(({ object }) => object)
      const more = names.length > mostNamed ? [t.range.fold(names.length - mostNamed)] : []
      return names.length === 0 ? [] : [`${t.plan.kinds[kind]}: ${[...names.slice(0, mostNamed), ...more].join(", ")}`]
    })
    .join("\n")

/** Resumes the run. Asks first if it is a deploy that may remove or replace machines: what is left of it is planned again. */
const Continue = ({ run: { id: runID, kind }, doing }: { readonly run: Run; readonly doing: Doing }) => {
  const question = useQuestion()
  const send = (body: { readonly dryRun?: true; readonly confirm?: string | undefined }) =>
    change<Resumed>("POST", "/runs/{runID}/resume", { runID }, body)
  const resume = async (confirm?: string): Promise<Done> => {
    const { result, runID: next } = await send({ confirm })
    return { told: result, to: next === undefined ? undefined : `/runs/${encodeURIComponent(next)}` }
  }
  const ask = async (): Promise<Done> => {
    const { plan } = kind === "deploy" ? await send({ dryRun: true }) : {}
    const lost = plan === undefined ? "" : losses(plan)
    if (lost === "") return resume(plan?.confirm)
    question.value = {
      title: t.run.resumeTitle,
      text: t.run.resumeText(lost),
      action: t.run.resume,
      danger: true,
      act: () => void doing.run(() => resume(plan?.confirm)),
    }
    return undefined
  }
  return (
    <>
      <button type="button" class="primary" title={t.run.resumeHint} disabled={doing.busy} onClick={() => void doing.run(ask)}>
        {t.run.resume}
      </button>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}

const Steps = ({ run, now }: { readonly run: Run; readonly now: number }) => (
  <CardTable columns={Object.values(t.run.columns)}>
    {run.steps.map((step) => {
      const seconds = secondsBetween(step.startedAt, step.endedAt, now)
      return (
        <tr key={step.key}>
          <th scope="row">
            <Text>{step.title}</Text>
            {step.failure === undefined ? null : (
              <span class="sub bad lines">
                <Text>{step.failure.message}</Text>
              </span>
            )}
            {step.skippedBecause === undefined ? null : (
              <span class="sub">
                <Text>{t.run.because(step.skippedBecause)}</Text>
              </span>
            )}
            {(step.warnings ?? []).map((warning) => (
              <span key={warning} class="sub">
                <Text>{warning}</Text>
              </span>
            ))}
          </th>
          <td data-label={t.run.columns.machine}>
            <Text>{step.machine === undefined ? t.run.common : shortName(run.rangeID ?? "", step.machine)}</Text>
          </td>
          <td data-label={t.run.columns.state}>
            <State tone={stepTones[step.phase]}>{t.phase[step.phase]}</State>
            {step.attempt > 1 ? <span class="tag">{t.run.attempt(step.attempt)}</span> : null}
          </td>
          <td data-label={t.run.columns.began}>{step.startedAt === undefined ? "" : <Time at={step.startedAt} />}</td>
          <td data-label={t.run.columns.took} class="muted">
            {seconds === undefined ? t.run.estimate(duration(step.estimateSeconds)) : duration(seconds)}
          </td>
        </tr>
      )
    })}
  </CardTable>
)

export const RunPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const { data, refusal, reload } = useRead<Run>(
    "/runs/{runID}",
    { runID: id },
    ({ topic, runID }: LiveEvent) => topic === "run" && (runID === undefined || runID === id),
  )
  const run = data.value
  const now = useNow(run?.status === "running")
  useFresh(run, reload)
  const doing = useDoing()
  const nameOf = useSubjectName(run === undefined ? [] : [run])
  if (run === undefined)
    return (
      <>
        <Head title={t.runs.title} />
        {refusal.value === undefined ? <Loading /> : <Refused refusal={refusal.value} retry={() => void reload()} />}
      </>
    )
  const view = place.value.query.get("view") ?? "timeline"
  const href = linkTo("runs", id)
  return (
    <>
      <Head
        title={
          <>
            <Text>{t.run.title(kindOf(run.kind), nameOf(run))}</Text>
            <State tone={runTone(run.status)}>{t.runStatus[run.status]}</State>
          </>
        }
        lead={
          <>
            {leadOf(run, now)}{" "}
            <span class="muted">
              <Text>{run.by}</Text>, <Time at={run.startedAt} />
            </span>
          </>
        }
      >
        {run.rangeID === undefined ? null : (
          <a class="button" href={linkTo("ranges", run.rangeID)}>
            <Text>{run.rangeID}</Text>
          </a>
        )}
        {run.status === "running" ? (
          <ConfirmButton
            class="danger"
            disabled={doing.busy || run.cancelRequested}
            question={{
              title: t.run.cancelTitle,
              text: t.run.cancelText,
              action: t.run.cancel,
              danger: true,
              act: () =>
                void doing.run(
                  async () => (await change<{ readonly result: string }>("POST", "/runs/{runID}/cancel", { runID: id })).result,
                ),
            }}
          >
            {t.run.cancel}
          </ConfirmButton>
        ) : null}
        {run.mayResume ? <Continue run={run} doing={doing} /> : null}
      </Head>
      {run.status === "running" ? <ProgressBar run={run} /> : null}
      <Outcome doing={doing} />
      <Cause run={run} />
      {run.status === "running" && run.waiting !== undefined ? (
        <Note tone="warn" title={t.run.waits}>
          <Text>{run.waiting}</Text>
        </Note>
      ) : null}
      {run.status === "running" && run.cancelRequested ? <Note tone="warn">{t.run.cancelled}</Note> : null}
      {run.notes.map((note) => (
        <Note key={note} tone="warn">
          <Text>{note}</Text>
        </Note>
      ))}
      {run.notified?.map(({ to, because }) =>
        because === undefined ? null : (
          <Note key={to} tone="warn">
            <Text>{t.run.notNotified(to, because)}</Text>
          </Note>
        ),
      )}
      <Tabs
        label={t.run.viewsLabel}
        tabs={Object.entries(t.run.views).map(([name, text]) => ({
          href: name === "timeline" ? href : `${href}?view=${name}`,
          text,
          current: view === name,
        }))}
      />
      {view === "log" ? (
        <LogView runId={id} />
      ) : view === "steps" ? (
        <Steps run={run} now={now} />
      ) : (
        <TimelineView run={run} now={now} />
      )}
    </>
  )
}
