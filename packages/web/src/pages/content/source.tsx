import type { CatalogAnswer, DeletedSource, InstallAnswer, SourceAnswer, SyncAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { Unread } from "../../parts/list.tsx"
import { ConfirmButton, Dialog, Empty, Head, Note, Outcome, Text, Time, useDoing } from "../../parts/parts.tsx"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { CatalogItems, useGlobal } from "./catalog-items.tsx"
import { ofSources } from "./live.ts"
import { ChangeSource } from "./source-form.tsx"
import { SourceState, Where } from "./source-parts.tsx"
import { sourceName } from "../../run/subject.ts"
import { fetchNow, toldOf } from "./told.ts"

const texts = content.source

const Facts = ({ source }: { readonly source: SourceAnswer }) => {
  const { ownerUserID, lastSyncedAt, nextSyncAt, snapshot, license } = source
  return (
    <section class="card" aria-labelledby="about">
      <h2 id="about">{t.range.facts}</h2>
      <dl class="facts">
        <dt>{texts.from}</dt>
        <dd>
          <Where source={source} />
        </dd>
        <dt>{t.sources.columns.state}</dt>
        <dd>
          <SourceState source={source} />
        </dd>
        <dt>{texts.fetched}</dt>
        <dd>
          <Time at={lastSyncedAt} />
        </dd>
        {nextSyncAt === undefined ? null : (
          <>
            <dt>{texts.next}</dt>
            <dd>
              <Time at={nextSyncAt} />
            </dd>
          </>
        )}
        {snapshot === undefined ? null : (
          <>
            <dt>{texts.commit}</dt>
            <dd class="mono">
              <Text>{snapshot.slice(0, 12)}</Text>
            </dd>
          </>
        )}
        {license === undefined ? null : (
          <>
            <dt>{texts.license}</dt>
            <dd>
              <Text>{license}</Text>
            </dd>
          </>
        )}
        <dt>{texts.owner}</dt>
        <dd>
          <Text>{ownerUserID}</Text>
        </dd>
      </dl>
    </section>
  )
}

/** A source: its origin and its items. */
export const SourcePage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const sourceID = values["id"] ?? ""
  const read = useRead<SourceAnswer>("/sources/{sourceID}", { sourceID }, ofSources)
  const catalog = useRead<CatalogAnswer>("/catalog", {}, ofSources)
  const doing = useDoing()
  const changing = useSignal(false)
  const planned = useSignal<NonNullable<InstallAnswer["items"]> | undefined>(undefined)
  const { isGlobal, choice } = useGlobal()
  const source = read.data.value
  if (source === undefined)
    return (
      <>
        <Head title={<Text>{sourceID}</Text>} />
        <Unread of={read} />
      </>
    )
  const name = sourceName(source)
  const items = catalog.data.value?.items.filter((item) => item.sourceID === sourceID) ?? []
  const broken = catalog.data.value?.sources.find((one) => one.sourceID === sourceID)?.error
  const plan = () =>
    doing.run(async () => {
      const body = { global: isGlobal, dryRun: true }
      planned.value = (await change<InstallAnswer>("POST", "/sources/{sourceID}/install", { sourceID }, body)).items ?? []
      return undefined
    })
  const install = () =>
    doing.run(async () =>
      toldOf(await change<SyncAnswer>("POST", "/sources/{sourceID}/install", { sourceID }, { global: isGlobal })),
    )
  const remove = async (): Promise<void> => {
    await doing.run(async () => {
      const { result } = await change<DeletedSource>("DELETE", "/sources/{sourceID}", { sourceID })
      return result ?? texts.deleted
    }, "/sources")
  }
  return (
    <>
      <Head title={<Text>{name}</Text>} lead={source.description === undefined ? undefined : <Text>{source.description}</Text>}>
        <button type="button" disabled={doing.busy} onClick={() => void doing.run(() => fetchNow(sourceID))}>
          {t.sources.sync}
        </button>
        <button type="button" disabled={doing.busy} onClick={() => (changing.value = true)}>
          {texts.change}
        </button>
        <ConfirmButton
          class="danger"
          disabled={doing.busy}
          question={{
            title: texts.deleteTitle(name),
            text: texts.deleteText,
            action: texts.delete,
            danger: true,
            act: () => void remove(),
          }}
        >
          {texts.delete}
        </ConfirmButton>
      </Head>
      <Outcome doing={doing} />
      {source.lastSyncError === undefined ? null : (
        <Note tone={source.lastSyncStatus === "partial" ? "warn" : "bad"}>
          <span class="lines">
            <Text>{source.lastSyncError}</Text>
          </span>
        </Note>
      )}
      <div class="columns">
        <section aria-labelledby="ships">
          <h2 id="ships">{texts.ships}</h2>
          <Unread of={catalog} />
          {broken === undefined ? null : (
            <Note tone="bad">
              <Text>{broken}</Text>
            </Note>
          )}
          {catalog.data.value === undefined || broken !== undefined ? null : items.length === 0 ? (
            <Empty title={content.catalog.empty} />
          ) : (
            <>
              <div class="filters">
                <button type="button" class="primary" disabled={doing.busy} onClick={() => void plan()}>
                  {texts.installAll}
                </button>
                {choice}
              </div>
              <CatalogItems items={items} doing={doing} isGlobal={isGlobal} />
            </>
          )}
        </section>
        <aside>
          <Facts source={source} />
        </aside>
      </div>
      <Dialog title={texts.planTitle} open={planned.value !== undefined} onClose={() => (planned.value = undefined)}>
        {planned.value?.length === 0 ? <p>{texts.planNothing}</p> : null}
        <ul class="plain lines">
          {planned.value?.map(({ kind, name: item, version, change: what, reason }) => (
            <li key={`${kind} ${item}`}>
              <span>
                <strong>
                  <Text>{item}</Text>
                </strong>{" "}
                <Text>{version ?? ""}</Text>
              </span>
              <span class="muted">{texts.changes[what]}</span>
              {reason === undefined ? null : (
                <span class="sub lines">
                  <Text>{reason}</Text>
                </span>
              )}
            </li>
          ))}
        </ul>
        <div class="actions end">
          <button type="button" onClick={() => (planned.value = undefined)}>
            {t.cancel}
          </button>
          <button
            type="button"
            class="primary"
            onClick={() => {
              planned.value = undefined
              void install()
            }}
          >
            {content.catalog.install}
          </button>
        </div>
      </Dialog>
      <ChangeSource source={source} open={changing.value} onClose={() => (changing.value = false)} doing={doing} />
    </>
  )
}
