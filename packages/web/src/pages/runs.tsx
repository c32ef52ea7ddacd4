import type { RunHead } from "@rangewright/application/wire"
import { usePart } from "../api/resource.ts"
import type { LiveEvent } from "../live/live.ts"
import { duration, secondsBetween } from "../parts/format.ts"
import { CardTable, Choice, Parts, Unread, Word } from "../parts/list.tsx"
import { Empty, Head, State, Text, Time } from "../parts/parts.tsx"
import { kindOf, runTone } from "../range/sentence.ts"
import { linkTo } from "../links.ts"
import { useSubjectName } from "../run/subject.ts"
import { place } from "../router.ts"
import { t } from "../texts.ts"

const touched = ({ topic }: LiveEvent): boolean => topic === "run"
const filters = ["status", "kind", "by"] as const

const took = (run: RunHead): string => {
  const seconds = run.endedAt === undefined ? undefined : secondsBetween(run.startedAt, run.endedAt, 0)
  return seconds === undefined ? "" : duration(seconds)
}

export const RunsPage = () => {
  const { query } = place.value
  const given = (name: string): string | undefined => query.get(name) ?? undefined
  const asked = { ...Object.fromEntries(filters.map((name) => [name, given(name)])), rangeID: given("range") }
  const runs = usePart<RunHead>("/runs", { ...asked, cursor: given("cursor") }, touched)
  const data = runs.data.value
  const nameOf = useSubjectName(data?.items ?? [])
  const isNarrowed = Object.values(asked).some((value) => value !== undefined)
  return (
    <>
      <Head title={t.runs.title} />
      <div class="filters">
        <Word name="range" label={t.runs.range} />
        <Choice name="kind" label={t.runs.kind} any={t.runs.anyKind} values={Object.entries(t.kinds)} />
        <Choice name="status" label={t.runs.status} any={t.runs.any} values={Object.entries(t.runStatus)} />
        <Word name="by" label={t.runs.by} />
      </div>
      <Unread of={runs} />
      {data === undefined ? null : data.items.length === 0 ? (
        <Empty title={isNarrowed ? t.runs.noMatch : t.runs.empty} />
      ) : (
        <CardTable columns={Object.values(t.runs.columns)}>
          {data.items.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <a href={linkTo("runs", run.id)}>{kindOf(run.kind)}</a>
              </th>
              <td data-label={t.runs.columns.subject}>
                {run.rangeID === undefined ? (
                  <Text>{nameOf(run)}</Text>
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
      <Parts next={data?.next} by="cursor" />
    </>
  )
}
