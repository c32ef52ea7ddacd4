import type { SourceAnswer, SyncAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { linkTo } from "../../links.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Dialog, Empty, Field, Head, Loading, Outcome, Text, Time, useDoing } from "../../parts/parts.tsx"
import { submitted } from "../../parts/form.ts"
import { t } from "../../texts.ts"
import { ofSources } from "./live.ts"
import { nameOf, SourceState, Where } from "./source-parts.tsx"

export const SourcesPage = () => {
  const sources = useRead<readonly SourceAnswer[]>("/sources", {}, ofSources)
  const doing = useDoing()
  const adding = useSignal(false)
  const data = sources.data.value
  const add = (event: SubmitEvent): void => {
    const url = submitted(event).text("url").trim()
    adding.value = false
    void doing.run(async () => {
      await change("POST", "/sources", {}, { type: "git", url })
      return t.sources.added
    })
  }
  return (
    <>
      <Head title={t.sources.title} lead={t.sources.intro}>
        <button type="button" onClick={() => (adding.value = true)}>
          {t.sources.add}
        </button>
      </Head>
      <Outcome doing={doing} />
      {doing.busy ? <Loading /> : null}
      <Unread of={sources} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={t.sources.empty} />
      ) : (
        <CardTable columns={[...Object.values(t.sources.columns), t.range.columns.actions]}>
          {data.map((source) => (
            <tr key={source.id}>
              <th scope="row">
                <a href={linkTo("sources", source.sourceID)}>
                  <Text>{nameOf(source)}</Text>
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
                  onClick={() =>
                    void doing.run(async () => {
                      await change<SyncAnswer>("POST", "/sources/{sourceID}/sync", { sourceID: source.sourceID })
                      return t.sources.synced
                    })
                  }
                >
                  {t.sources.sync}
                </button>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <Dialog title={t.sources.add} open={adding.value} onClose={() => (adding.value = false)}>
        <form onSubmit={add}>
          <Field label={t.sources.url} hint={t.sources.urlHint}>
            {(ids) => <input {...ids} name="url" type="url" required pattern="https://.+" autocomplete="off" />}
          </Field>
          <div class="actions end">
            <button type="button" onClick={() => (adding.value = false)}>
              {t.cancel}
            </button>
            <button type="submit" class="primary">
              {t.sources.add}
            </button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
