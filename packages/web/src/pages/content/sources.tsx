import type { SourceAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useRead } from "../../api/resource.ts"
import { linkTo } from "../../links.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Empty, Head, Outcome, Text, Time, useDoing } from "../../parts/parts.tsx"
import { t } from "../../texts.ts"
import { ofSources } from "./live.ts"
import { AddSource } from "./source-form.tsx"
import { SourceState, Where } from "./source-parts.tsx"
import { sourceName } from "../../run/subject.ts"
import { fetchNow } from "./told.ts"

export const SourcesPage = () => {
  const sources = useRead<readonly SourceAnswer[]>("/sources", {}, ofSources)
  const doing = useDoing()
  const adding = useSignal(false)
  const data = sources.data.value
  return (
    <>
      <Head title={t.sources.title} lead={t.sources.intro}>
        <button type="button" onClick={() => (adding.value = true)}>
          {t.sources.add}
        </button>
      </Head>
      <Outcome doing={doing} />
      <Unread of={sources} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={t.sources.empty} />
      ) : (
        <CardTable columns={[...Object.values(t.sources.columns), t.range.columns.actions]}>
          {data.map((source) => (
            <tr key={source.id}>
              <th scope="row">
                <a href={linkTo("sources", source.sourceID)}>
                  <Text>{sourceName(source)}</Text>
                </a>
                <span class="sub">
                  <Text>{source.description ?? source.sourceID}</Text>
                </span>
              </th>
              <td data-label={t.sources.columns.where}>
                <Where source={source} />
              </td>
              <td data-label={t.sources.columns.state}>
                <SourceState source={source} />
                {source.lastSyncError === undefined ? null : (
                  <span class="sub bad lines">
                    <Text>{source.lastSyncError}</Text>
                  </span>
                )}
              </td>
              <td data-label={t.sources.columns.fetched}>
                <Time at={source.lastSyncedAt} />
              </td>
              <td class="row-actions">
                <button
                  type="button"
                  class="small"
                  disabled={doing.busy}
                  aria-label={`${t.sources.sync}: ${source.name}`}
                  onClick={() => void doing.run(() => fetchNow(source.sourceID))}
                >
                  {t.sources.sync}
                </button>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <AddSource open={adding.value} onClose={() => (adding.value = false)} doing={doing} />
    </>
  )
}
