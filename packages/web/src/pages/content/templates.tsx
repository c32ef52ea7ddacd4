import { useSignal } from "@preact/signals"
import { changeText } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import { type Doing, Empty, Head, Outcome, State, Text, type Tone, useDoing } from "../../parts/parts.tsx"
import { linkTo } from "../../links.ts"
import { capabilities } from "../../me.ts"
import { place } from "../../router.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { ofTemplates } from "./live.ts"
import { Upload } from "./upload.tsx"

export interface Template {
  readonly name: string
  readonly built: boolean
  readonly status: string
  readonly os: string
  readonly description?: string
  readonly thumbnailUrl?: string
}

const tones: Readonly<Record<string, Tone>> = { built: "ok", building: "busy", not_built: "quiet" }

export const TemplateState = ({ status }: { readonly status: string }) => (
  <State tone={tones[status] ?? "quiet"}>{t.templates.states[status] ?? status}</State>
)

export const BuildButton = ({ name, status, doing }: Pick<Template, "name" | "status"> & { readonly doing: Doing }) =>
  status !== "not_built" || capabilities.value?.rights.buildsTemplates !== true ? null : (
    <button
      type="button"
      class="small"
      disabled={doing.busy}
      aria-label={`${t.templates.build} ${name}`}
      onClick={() => void doing.run(() => changeText("POST", "/templates", {}, { templates: [name] }))}
    >
      {t.templates.build}
    </button>
  )

export const TemplatesPage = () => {
  const templates = useRead<readonly Template[]>("/templates", {}, ofTemplates)
  const doing = useDoing()
  const uploading = useSignal(false)
  const query = place.value.query.get("q") ?? ""
  const data = templates.data.value
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())) ?? []
  return (
    <>
      <Head title={t.templates.title} lead={t.templates.intro}>
        {capabilities.value?.rights.buildsTemplates === true ? (
          <button type="button" onClick={() => (uploading.value = true)}>
            {content.upload.open}
          </button>
        ) : null}
      </Head>
      <div class="filters">
        <Search label={t.templates.filter} />
      </div>
      <Outcome doing={doing} />
      <Unread of={templates} />
      {data === undefined ? null : shown.length === 0 ? (
        <Empty title={data.length === 0 ? t.templates.empty : t.templates.noMatch} />
      ) : (
        <CardTable columns={Object.values(t.templates.columns)}>
          {shown.map(({ name, status, os, description }) => (
            <tr key={name}>
              <th scope="row">
                <a href={linkTo("templates", name)}>
                  <Text>{name}</Text>
                </a>
                {description === undefined ? null : (
                  <span class="sub">
                    <Text>{description}</Text>
                  </span>
                )}
              </th>
              <td data-label={t.templates.columns.state}>
                <TemplateState status={status} />
              </td>
              <td data-label={t.templates.columns.os}>{os}</td>
              <td class="row-actions">
                <BuildButton name={name} status={status} doing={doing} />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <Upload kind="template" open={uploading.value} onClose={() => (uploading.value = false)} doing={doing} />
    </>
  )
}
