import type { Range, Run, RunHead } from "@rangewright/application/wire"
import type { ComponentChildren } from "preact"
import { changeText } from "../api/client.ts"
import { hasDraft } from "../editor/drafts.ts"
import { type Resource, useAllRead, useRead } from "../api/resource.ts"
import type { LiveEvent } from "../live/live.ts"
import { Icon } from "../parts/icon.tsx"
import { ConfirmButton, type Doing, Head, Outcome, State, Tabs, Text, useDoing } from "../parts/parts.tsx"
import { me } from "../me.ts"
import { linkTo } from "../links.ts"
import { ProgressBar } from "../run/progress-bar.tsx"
import { useFresh } from "../run/use-fresh.ts"
import { place } from "../router.ts"
import { t } from "../texts.ts"
import { patchRange } from "./patch.ts"
import { poweredOn, rangeSentence, rangeTone, rangeWord } from "./sentence.ts"

const ofRange =
  (id: string) =>
  ({ topic, rangeID }: LiveEvent): boolean =>
    topic !== "reset" && (rangeID === undefined || rangeID === id)

const ofMachines =
  (id: string) =>
  (event: LiveEvent): boolean =>
    ofRange(id)(event) && event.topic !== "run"

const ofRuns =
  (id: string) =>
  (event: LiveEvent): boolean =>
    ofRange(id)(event) && event.topic === "run"

export interface RangeView {
  readonly range: Resource<Range>
  readonly runs: Resource<readonly RunHead[]>
  /** The run that changes the range now. */
  readonly run: Resource<Run>
}

export const useRange = (id: string): RangeView => {
  const range = useRead<Range>("/range", { rangeID: id }, ofMachines(id), patchRange)
  const runs = useRead<readonly RunHead[]>("/runs", { rangeID: id, limit: 6 }, ofRuns(id))
  const active = runs.data.value?.find(({ status }) => status === "running")?.id
  const run = useRead<Run>(active === undefined ? undefined : "/runs/{runID}", { runID: active }, ofRuns(id))
  useFresh(run.data.value, run.reload)
  return { range, runs, run }
}

/** Whether a run is changing the range, or may be: its runs are not read yet. */
export const mayBeChanging = ({ runs }: RangeView): boolean => runs.data.value?.some(({ status }) => status === "running") ?? true

const Buttons = ({ range, run, doing }: { readonly range: Range; readonly run: Run | undefined; readonly doing: Doing }) => {
  const { rangeID, VMs } = range
  const on = poweredOn(VMs)
  const power = (verb: "poweron" | "shutdown") => () =>
    void doing.run(() => changeText("PUT", `/range/${verb}`, { rangeID }, { machines: ["all"] }))
  if (run?.status === "running")
    return (
      <>
        <a class="button" href={linkTo("runs", run.id)}>
          {t.run.views.timeline}
        </a>
        <ConfirmButton
          class="danger"
          disabled={doing.busy || run.cancelRequested}
          question={{
            title: t.range.abortTitle,
            text: t.range.abortText,
            action: t.range.abort,
            danger: true,
            act: () => void doing.run(() => changeText("POST", "/range/abort", { rangeID })),
          }}
        >
          {t.range.abort}
        </ConfirmButton>
      </>
    )
  const isDeployed = VMs.length > 0
  return (
    <>
      {isDeployed && on < VMs.length ? (
        <button type="button" class="primary" disabled={doing.busy} onClick={power("poweron")}>
          <Icon name="play" />
          {t.range.start}
        </button>
      ) : null}
      {on > 0 ? (
        <ConfirmButton
          disabled={doing.busy}
          question={{
            title: t.range.stopTitle(rangeID),
            text: t.range.stopText(on),
            action: t.range.stop,
            act: power("shutdown"),
          }}
        >
          <Icon name="stop" />
          {t.range.stop}
        </ConfirmButton>
      ) : null}
      <a class={isDeployed ? "button" : "button primary"} href={linkTo("ranges", rangeID, "plan")}>
        {t.range.deploy}
      </a>
    </>
  )
}

/** The head of every page of a range. */
export const RangeHead = ({
  id,
  view,
  children,
}: {
  readonly id: string
  readonly view: RangeView
  readonly children?: ComponentChildren
}) => {
  const doing = useDoing()
  const range = useAllRead(view.range, view.runs, view.run) ? view.range.data.value : undefined
  const run = view.run.data.value
  const at = place.value.path
  const shown = Object.entries(t.range.tabs).filter(([name]) => name !== "access" || me.value?.isAdmin === true)
  const tabs = shown.map(([name, text]) => {
    const href = name === "overview" ? linkTo("ranges", id) : linkTo("ranges", id, name)
    const mark = name === "config" && hasDraft(id) ? t.range.unsaved : undefined
    return { href, text, mark, current: `/ui${at}` === href }
  })
  return (
    <>
      <Head
        title={
          <>
            <Text>{id}</Text>
            {range === undefined ? null : <State tone={rangeTone(range)}>{rangeWord(range)}</State>}
          </>
        }
        lead={
          range !== undefined ? (
            <Text>{rangeSentence(range, run)}</Text>
          ) : view.range.refusal.value === undefined ? (
            t.loading
          ) : undefined
        }
      >
        {range === undefined ? undefined : (
          <>
            {run?.status === "running" ? null : children}
            <Buttons range={range} run={run} doing={doing} />
          </>
        )}
      </Head>
      {run?.status === "running" ? <ProgressBar run={run} /> : null}
      <Outcome doing={doing} />
      <Tabs label={t.range.tabsLabel} tabs={tabs} />
    </>
  )
}
