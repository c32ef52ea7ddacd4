import type { BlueprintAnswer, BlueprintItem, SyncAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change, changeText, fetchFile, save } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { httpsAddress, linkTo } from "../../links.ts"
import { capabilities } from "../../me.ts"
import { plain } from "../../parts/format.ts"
import { Unread } from "../../parts/list.tsx"
import { ConfirmButton, Head, Loading, Outcome, Refused, State, Text, useDoing } from "../../parts/parts.tsx"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { ApplyBlueprint, CopyBlueprint } from "./blueprint-forms.tsx"
import { Shared } from "./blueprint-shared.tsx"
import { toldOf } from "./told.ts"

const texts = content.blueprint

/** A blueprint: its requirements, its configuration, and with whom it is shared. */
export const Detail = ({ id }: { readonly id: string }) => {
  const blueprint = useRead<BlueprintAnswer>("/blueprints/{blueprintID}", { blueprintID: id })
  const config = useRead<{ readonly result: string }>("/blueprints/{blueprintID}/config", { blueprintID: id })
  const items = useRead<readonly BlueprintItem[]>("/blueprints")
  const applying = useSignal(false)
  const copying = useSignal(false)
  const doing = useDoing()
  const data = blueprint.data.value
  const item = items.data.value?.find(({ blueprintID }) => blueprintID === id)
  const remove = async (): Promise<void> => {
    await doing.run(() => changeText("DELETE", "/blueprints/{blueprintID}", { blueprintID: id }), "/blueprints")
  }
  const install = () =>
    doing.run(async () => {
      const { ansibleResults } = await change<Pick<SyncAnswer["blueprintResults"], "ansibleResults">>(
        "POST",
        "/blueprints/{blueprintID}/install",
        { blueprintID: id },
      )
      return toldOf({ blueprintResults: { ansibleResults } })
    })
  const download = () =>
    doing.run(async () => {
      await save(`${id.replaceAll("/", "-")}.tar.gz`, await fetchFile("/blueprints/{blueprintID}/export", { blueprintID: id }))
      return undefined
    })
  if (data === undefined)
    return (
      <>
        <Head title={<Text>{id}</Text>} />
        {blueprint.refusal.value === undefined ? <Loading /> : <Refused refusal={blueprint.refusal.value} />}
      </>
    )
  const templates = data.templateStatus.filter(({ built }) => !built)
  const roles = data.roleStatus.filter(({ installed }) => !installed)
  const homepage = httpsAddress(data.homepage)
  return (
    <>
      <Head title={<Text>{data.name}</Text>} lead={<Text>{data.description}</Text>}>
        <a class="button" href="/ui/blueprints">
          {t.back}
        </a>
        <button type="button" class="primary" onClick={() => (applying.value = true)}>
          {t.blueprints.apply}
        </button>
        {item === undefined ? null : (
          <button type="button" onClick={() => (copying.value = true)}>
            {texts.copy}…
          </button>
        )}
        <button type="button" disabled={doing.busy} onClick={() => void download()}>
          {texts.export}
        </button>
        {item?.accessType === "owner" || item?.accessType === "admin" ? (
          <ConfirmButton
            class="danger"
            disabled={doing.busy}
            question={{
              title: texts.deleteTitle(data.name),
              text: texts.deleteText,
              action: texts.delete,
              danger: true,
              act: () => void remove(),
            }}
          >
            {texts.delete}
          </ConfirmButton>
        ) : null}
      </Head>
      <Outcome doing={doing} />
      <p>
        <span class="mono">
          <Text>{id}</Text>
        </span>
        {data.tags.map((tag) => (
          <span key={tag} class="tag">
            <Text>{tag}</Text>
          </span>
        ))}
        {homepage === undefined ? null : (
          <a href={homepage} rel="noopener noreferrer" target="_blank">
            <Text>{homepage}</Text>
          </a>
        )}
      </p>
      <section aria-labelledby="needs">
        <h2 id="needs">{t.blueprints.needs}</h2>
        {templates.length === 0 && roles.length === 0 ? <State tone="ok">{t.blueprints.ready}</State> : null}
        {templates.length === 0 ? null : (
          <p>
            <State tone="warn">{t.blueprints.missingTemplates}</State>{" "}
            {templates.map(({ name }, at) => (
              <span key={name}>
                {at === 0 ? null : ", "}
                <a href={linkTo("templates", name)}>
                  <Text>{name}</Text>
                </a>
              </span>
            ))}
          </p>
        )}
        {roles.length === 0 ? null : (
          <p>
            <State tone="warn">{t.blueprints.missingRoles}</State> <Text>{roles.map(({ name }) => name).join(", ")}</Text>{" "}
            {capabilities.value?.rights.installsRoles === true ? (
              <button type="button" class="small" disabled={doing.busy} onClick={() => void install()}>
                {texts.install}
              </button>
            ) : null}
          </p>
        )}
      </section>
      <section aria-labelledby="config">
        <h2 id="config">{t.blueprints.config}</h2>
        <Unread of={config} />
        {config.data.value === undefined ? null : (
          <pre tabIndex={0} role="group" aria-label={t.blueprints.config}>
            {plain(config.data.value.result)}
          </pre>
        )}
      </section>
      {item === undefined ? null : (
        <>
          <Shared item={item} />
          <CopyBlueprint item={item} open={copying.value} onClose={() => (copying.value = false)} />
        </>
      )}
      <ApplyBlueprint id={id} open={applying.value} onClose={() => (applying.value = false)} />
    </>
  )
}
