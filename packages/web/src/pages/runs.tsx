import type { RunHead } from "@rangewright/application/wire"
import { useRead } from "../api/resource.ts"
import type { LiveEvent } from "../live/live.ts"
import { duration, secondsBetween } from "../parts/format.ts"
import { Empty, Head, Loading, Refused, State, Text, Time } from "../parts/parts.tsx"
import { kindOf, runTone } from "../range/sentence.ts"
import { linkTo, place, setQuery } from "../router.ts"
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
      {runs.refusal.value === undefined ? null : <Refused refusal={runs.refusal.value} retry={() => void runs.reload()} />}
      <div class="filters">
        <input
          type="search"
          aria-label={t.runs.filter}
          placeholder={t.runs.filter}
          value={query}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
        <select
          aria-label={t.runs.status}
          value={status}
          onChange={({ currentTarget }) => setQuery({ status: currentTarget.value })}
        >
          <option value="">{t.runs.any}</option>
          {Object.entries(t.runStatus).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
        {data?.length === most ? <span class="muted">{t.runs.newest(most)}</span> : null}
      </div>
      {data === undefined ? (
        runs.refusal.value === undefined ? (
          <Loading />
        ) : null
      ) : shown.length === 0 ? (
        <Empty title={data.length === 0 ? t.runs.empty : t.runs.noMatch} />
      ) : (
        <table class="cards">
          <thead>
            <tr>
              {Object.values(t.runs.columns).map((text) => (
                <th key={text} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      )}
    </>
  )
}
