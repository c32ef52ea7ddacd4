import type { RunHead } from "@rangewright/application/wire"
import { useRead } from "../api/resource.ts"
import type { LiveEvent } from "../live/live.ts"
import { duration, secondsBetween } from "../parts/format.ts"
import { CardTable, Choice, Search, Unread } from "../parts/list.tsx"
import { Empty, Head, State, Text, Time } from "../parts/parts.tsx"
import { kindOf, runTone } from "../range/sentence.ts"
import { linkTo } from "../links.ts"
import { place } from "../router.ts"
import { t } from "../texts.ts"

const touched = ({ topic }: LiveEvent): boolean => topic === "run"
const most = 200

const took = (run: RunHead): string => {
  const seconds = run.endedAt === undefined ? undefined : secondsBetween(run.startedAt, run.endedAt, 0)
  return seconds === undefined ? "" : duration(seconds)
}

const matches = (run: RunHead, words: readonly string[], status: string): boolean =>
  (status === "" || run.status === status) &&
  words.every((word) => `${run.subject.id} ${kindOf(run.kind)} ${run.kind} ${run.by} ${run.id}`.toLowerCase().includes(word))

export const RunsPage = () => {
  const runs = useRead<readonly RunHead[]>("/runs", { limit: most }, touched)
  const query = place.value.query.get("q") ?? ""
  const status = place.value.query.get("status") ?? ""
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean)
  const data = runs.data.value
  const shown = data?.filter((run) => matches(run, words, status)) ?? []
  return (
    <>
      <Head title={t.runs.title} />
      <Unread of={runs} />
      <div class="filters">
        <Search label={t.runs.filter} />
        <Choice name="status" label={t.runs.status} any={t.runs.any} values={Object.entries(t.runStatus)} />
        {data?.length === most ? <span class="muted">{t.runs.newest(most)}</span> : null}
      </div>
      {data === undefined ? null : shown.length === 0 ? (
        <Empty title={data.length === 0 ? t.runs.empty : t.runs.noMatch} />
      ) : (
        <CardTable columns={Object.values(t.runs.columns)}>
          {shown.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <a href={linkTo("runs", run.id)}>{kindOf(run.kind)}</a>
              </th>
              <td data-label={t.runs.columns.subject}>
                {run.rangeID === undefined ? (
                  <Text>{run.subject.id === "" ? run.subject.type : run.subject.id}</Text>
                ) : (
                  <a href={linkTo("ranges", run.rangeID)}>
                    <Text>{run.rangeID}</Text>
                  </a>
                )}
              </td>
              <td data-label={t.runs.columns.status}>
                <State tone={runTone(run.status)}>{t.runStatus[run.status]}</State>
              </td>
              <td data-label={t.runs.columns.by}>
                <Text>{run.by}</Text>
              </td>
              <td data-label={t.runs.columns.began}>
                <Time at={run.startedAt} />
              </td>
              <td data-label={t.runs.columns.took} class="muted">
                {took(run)}
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </>
  )
}
