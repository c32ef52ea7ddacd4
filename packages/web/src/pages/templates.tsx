import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { Empty, Head, Loading, Outcome, Refused, State, Text, type Tone, useDoing } from "../parts/parts.tsx"
import { place, setQuery } from "../router.ts"
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
        <input
          type="search"
          aria-label={t.templates.filter}
          placeholder={t.templates.filter}
          value={query}
          onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
        />
      </div>
      <Outcome doing={doing} />
      {templates.refusal.value === undefined ? null : (
        <Refused refusal={templates.refusal.value} retry={() => void templates.reload()} />
      )}
      {data === undefined ? (
        templates.refusal.value === undefined ? (
          <Loading />
        ) : null
      ) : shown.length === 0 ? (
        <Empty title={t.templates.empty} />
      ) : (
        <table class="cards">
          <thead>
            <tr>
              {Object.values(t.templates.columns).map((text) => (
                <th key={text} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      )}
    </>
  )
}
