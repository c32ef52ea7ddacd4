import type { BlueprintItem } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useRead } from "../../api/resource.ts"
import { base, blueprintPath } from "../../links.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import { Empty, Head, Outcome, Text, Time, useDoing } from "../../parts/parts.tsx"
import { place } from "../../router.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { Detail } from "./blueprint.tsx"
import { CreateBlueprint, ImportBlueprint } from "./blueprint-forms.tsx"

const texts = content.blueprint

const List = () => {
  const blueprints = useRead<readonly BlueprintItem[]>("/blueprints")
  const creating = useSignal(false)
  const importing = useSignal(false)
  const doing = useDoing()
  const query = place.value.query.get("q") ?? ""
  const data = blueprints.data.value
  const shown =
    data?.filter(({ name, blueprintID, tags = [] }) =>
      `${name} ${blueprintID} ${tags.join(" ")}`.toLowerCase().includes(query.toLowerCase()),
    ) ?? []
  return (
    <>
      <Head title={t.blueprints.title} lead={t.blueprints.intro}>
        <button type="button" onClick={() => (creating.value = true)}>
          {texts.create}
        </button>
        <button type="button" onClick={() => (importing.value = true)}>
          {texts.import}…
        </button>
      </Head>
      <Outcome doing={doing} />
      <div class="filters">
        <Search label={t.blueprints.filter} />
      </div>
      <Unread of={blueprints} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={t.blueprints.empty}>
          <p class="muted">{t.blueprints.emptyText}</p>
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title={t.blueprints.noMatch} />
      ) : (
        <CardTable columns={Object.values(t.blueprints.columns)}>
          {shown.map(({ blueprintID, name, description, ownerUserID, tags = [], updated }) => (
            <tr key={blueprintID}>
              <th scope="row">
                <a href={`${base}${blueprintPath(blueprintID)}`}>
                  <Text>{name}</Text>
                </a>
                {tags.map((tag) => (
                  <span key={tag} class="tag">
                    <Text>{tag}</Text>
                  </span>
                ))}
                <span class="sub">
                  <Text>{description ?? blueprintID}</Text>
                </span>
              </th>
              <td data-label={t.blueprints.columns.owner}>
                <Text>{ownerUserID}</Text>
              </td>
              <td data-label={t.blueprints.columns.changed}>
                <Time at={updated} />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <CreateBlueprint open={creating.value} onClose={() => (creating.value = false)} />
      <ImportBlueprint open={importing.value} onClose={() => (importing.value = false)} doing={doing} />
    </>
  )
}

export const BlueprintsPage = () => {
  const id = place.value.query.get("id")
  return id === null ? <List /> : <Detail key={id} id={id} />
}
