import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { CardTable, Search, Unread } from "../parts/list.tsx"
import { Empty, Head, Outcome, State, Text, type Tone, useDoing } from "../parts/parts.tsx"
import { place } from "../router.ts"
import { t } from "../texts.ts"

interface Template {
  readonly name: string
  readonly built: boolean
  readonly status: string
  readonly os: string
  readonly description?: string
}

const tones: Readonly<Record<string, Tone>> = { built: "ok", building: "busy", not_built: "quiet" }

export const TemplatesPage = () => {
  const templates = useRead<readonly Template[]>("/templates", {}, ({ topic, data }) => {
    const subject = data["subject"] as { readonly type?: unknown } | undefined
    return topic === "run" && subject?.type === "template"
  })
  const doing = useDoing()
  const query = place.value.query.get("q") ?? ""
  const data = templates.data.value
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())) ?? []
  return (
    <>
      <Head title={t.templates.title} lead={t.templates.intro} />
      <div class="filters">
        <Search label={t.templates.filter} />
      </div>
      <Outcome doing={doing} />
      <Unread of={templates} />
      {data === undefined ? null : shown.length === 0 ? (
        <Empty title={t.templates.empty} />
      ) : (
        <CardTable columns={Object.values(t.templates.columns)}>
          {shown.map(({ name, status, os, description }) => (
            <tr key={name}>
              <th scope="row">
                <Text>{name}</Text>
                {description === undefined ? null : (
                  <span class="sub">
                    <Text>{description}</Text>
                  </span>
                )}
              </th>
              <td data-label={t.templates.columns.state}>
                <State tone={tones[status] ?? "quiet"}>{t.templates.states[status] ?? status}</State>
              </td>
              <td data-label={t.templates.columns.os}>{os}</td>
              <td class="row-actions">
                {status !== "not_built" ? null : (
                  <button
                    type="button"
                    class="small"
                    disabled={doing.busy}
                    aria-label={`${t.templates.build} ${name}`}
                    onClick={() =>
                      void doing.run(
                        async () =>
                          (await change<{ readonly result: string }>("POST", "/templates", {}, { templates: [name] })).result,
                      )
                    }
                  >
                    {t.templates.build}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </>
  )
}
