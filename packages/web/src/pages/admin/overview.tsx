import type { DoctorAnswer, NodesAnswer, QuotaOfUser, RunHead, SourceAnswer, UserItem } from "@rangewright/application/wire"
import { useRead } from "../../api/resource.ts"
import type { LiveEvent } from "../../live/live.ts"
import { Unread } from "../../parts/list.tsx"
import { Empty, Loading, State, Text, Time } from "../../parts/parts.tsx"
import { useRanges } from "../../range/ranges.ts"
import { kindOf, poweredOn, runTone } from "../../range/sentence.ts"
import { linkTo } from "../../links.ts"
import { subjectName } from "../../run/subject.ts"
import { admin } from "../../texts/admin.ts"
import { t } from "../../texts.ts"
import { AdminHead } from "./admin-head.tsx"
import { Nodes } from "./nodes.tsx"
import { needsOf, type PendingAccess } from "./needs.ts"

const texts = admin.overview
const ofRanges = ({ topic }: LiveEvent): boolean => topic === "range" || topic === "machine"
const ofRuns = ({ topic }: LiveEvent): boolean => topic === "run"
const most = 200

const Running = ({
  runs,
  sources,
}: {
  readonly runs: readonly RunHead[] | undefined
  readonly sources: readonly SourceAnswer[]
}) => {
  const running = runs?.filter(({ status }) => status === "running")
  return (
    <section class="card" aria-labelledby="running">
      <h2 id="running">{texts.running}</h2>
      {running?.length === 0 ? <p class="muted">{texts.noRuns}</p> : null}
      <ul class="plain lines">
        {running?.map((run) => (
          <li key={run.id}>
            <a href={linkTo("runs", run.id)}>
              <Text>{t.run.title(kindOf(run.kind), subjectName(run.subject, sources))}</Text>
            </a>
            <State tone={runTone(run.status)}>{t.runStatus[run.status]}</State>
            <span class="muted">
              <Time at={run.startedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const OverviewPage = () => {
  const ranges = useRanges()
  const runs = useRead<readonly RunHead[]>("/runs", { limit: most }, ofRuns)
  const sources = useRead<readonly SourceAnswer[]>("/sources", {}, ofRuns)
  const access = useRead<PendingAccess>("/access")
  const quotas = useRead<readonly QuotaOfUser[]>("/user/quotas/all")
  const nodes = useRead<NodesAnswer>("/nodes", {}, ofRanges)
  const checks = useRead<DoctorAnswer>("/doctor")
  const users = useRead<readonly UserItem[]>("/user/all")
  const all = ranges.data.value ?? []
  const allRuns = runs.data.value
  const machines = all.flatMap(({ VMs }) => VMs)
  const today = new Date().toDateString()
  const runsToday = allRuns?.filter(({ startedAt }) => new Date(startedAt).toDateString() === today).length
  // what is not read yet, or cannot be, is not zero
  const numbers: readonly (readonly [text: string, value: string | number | undefined])[] = [
    [texts.numbers.ranges, ranges.data.value?.length],
    [texts.numbers.on, ranges.data.value && texts.onOf(poweredOn(machines), machines.length)],
    [texts.numbers.users, users.data.value?.length],
    [texts.numbers.runs, runsToday === most ? texts.atLeast(most) : runsToday],
  ]
  const asked = [ranges, runs, sources, access, quotas, nodes, checks]
  const isRead = asked.every(({ data }) => data.value !== undefined)
  const isRefused = asked.some(({ refusal }) => refusal.value !== undefined)
  const needs = needsOf({
    ranges: all,
    runs: allRuns ?? [],
    sources: sources.data.value ?? [],
    access: access.data.value,
    quotas: quotas.data.value ?? [],
    nodes: nodes.data.value?.nodes ?? [],
    findings: checks.data.value?.findings ?? [],
  })
  return (
    <>
      <AdminHead title={texts.title} />
      <dl class="numbers">
        {numbers.map(([text, value]) => (
          <div key={text}>
            <dt>{text}</dt>
            <dd>{value ?? "–"}</dd>
          </div>
        ))}
      </dl>
      <div class="columns">
        <section aria-labelledby="needs">
          <h2 id="needs">{texts.needs}</h2>
          {[ranges, runs, sources, access, quotas, checks].map((one, at) =>
            one.refusal.value === undefined ? null : <Unread key={at} of={one} />,
          )}
          {!isRead ? isRefused ? null : <Loading /> : needs.length === 0 ? <Empty title={texts.nothing} /> : null}
          <ul class="plain needs">
            {needs.map(({ tone, title, text, href }) => (
              <li key={title} class={`note ${tone}`}>
                <a href={href}>
                  <Text>{title}</Text>
                </a>
                {text === undefined ? null : (
                  <span class="sub lines">
                    <Text>{text}</Text>
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
        <aside>
          <Running runs={allRuns} sources={sources.data.value ?? []} />
        </aside>
      </div>
      <Nodes nodes={nodes} ranges={all} />
    </>
  )
}
