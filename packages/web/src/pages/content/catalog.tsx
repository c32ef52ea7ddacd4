import type { CatalogAnswer } from "@rangewright/application/wire"
import { useRead } from "../../api/resource.ts"
import { Choice, Search, Unread } from "../../parts/list.tsx"
import { Empty, Head, Note, Outcome, Text, useDoing } from "../../parts/parts.tsx"
import { place } from "../../router.ts"
import { content } from "../../texts/content.ts"
import { CatalogItems, type Item, useGlobal } from "./catalog-items.tsx"
import { ofSources } from "./live.ts"

const texts = content.catalog

const matches = (item: Item): boolean => {
  const { query } = place.value
  const wanted = (name: string, value: string): boolean => (query.get(name) || value) === value
  const text = `${item.name} ${item.description ?? ""}`.toLowerCase()
  return (
    wanted("kind", item.kind) &&
    wanted("state", item.state) &&
    wanted("source", item.sourceID) &&
    (query.get("q") ?? "")
      .toLowerCase()
      .split(/\s+/u)
      .every((word) => text.includes(word))
  )
}

/** The items of all sources. */
export const CatalogPage = () => {
  const catalog = useRead<CatalogAnswer>("/catalog", {}, ofSources)
  const doing = useDoing()
  const { isGlobal, choice } = useGlobal()
  const data = catalog.data.value
  const sources = new Map(data?.sources.map((source) => [source.sourceID, source]))
  const shown = data?.items.filter(matches) ?? []
  return (
    <>
      <Head title={texts.title} lead={texts.intro} />
      <Outcome doing={doing} />
      <Unread of={catalog} />
      {data?.sources.map(({ sourceID, sourceName, error }) =>
        error === undefined ? null : (
          <Note key={sourceID} tone="warn">
            <Text>{texts.broken(sourceName === "" ? sourceID : sourceName, error)}</Text>
          </Note>
        ),
      )}
      {data === undefined ? null : data.items.length === 0 ? (
        <Empty title={texts.empty}>
          <p class="muted">{texts.emptyText}</p>
        </Empty>
      ) : (
        <>
          <div class="filters">
            <Search label={texts.filter} />
            <Choice name="kind" label={texts.kind} any={texts.anyKind} values={Object.entries(texts.kinds)} />
            <Choice name="state" label={texts.state} any={texts.anyState} values={Object.entries(texts.states)} />
            <Choice
              name="source"
              label={texts.source}
              any={texts.anySource}
              values={[...sources.values()].map(({ sourceID, sourceName }) => [sourceID, sourceName || sourceID] as const)}
            />
            {choice}
            <span class="muted" role="status">
              {texts.count(shown.length, data.items.length)}
            </span>
          </div>
          {shown.length === 0 ? (
            <Empty title={texts.noMatch} />
          ) : (
            <CatalogItems items={shown} sources={sources} doing={doing} isGlobal={isGlobal} />
          )}
        </>
      )}
    </>
  )
}
