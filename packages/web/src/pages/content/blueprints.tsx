import type { BlueprintAnswer, BlueprintItem, Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { httpsAddress, linkTo } from "../../links.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import { Dialog, Empty, Field, Head, Loading, Outcome, Refused, State, Text, Time, useDoing } from "../../parts/parts.tsx"
import { place } from "../../router.ts"
import { submitted } from "../../parts/form.ts"
import { t } from "../../texts.ts"

const Apply = ({ id, open, onClose }: { readonly id: string; readonly open: boolean; readonly onClose: () => void }) => {
  const ranges = useRead<readonly Range[]>(open ? "/range/all" : undefined)
  const doing = useDoing()
  const chosen = useSignal("")
  const submit = (event: SubmitEvent): void => {
    const rangeID = submitted(event).text("range")
    void doing.run(async () => {
      const { result } = await change<{ readonly result: string }>(
        "POST",
        "/blueprints/{blueprintID}/apply",
        { blueprintID: id },
        { rangeID },
      )
      chosen.value = rangeID
      return result
    })
  }
  return (
    <Dialog title={t.blueprints.applyTitle(id)} open={open} onClose={onClose}>
      <p>{t.blueprints.applyText}</p>
      <form onSubmit={submit}>
        <Field label={t.blueprints.range}>
          {(ids) => (
            <select {...ids} name="range" required>
              {(ranges.data.value ?? []).map(({ rangeID, name }) => (
                <option key={rangeID} value={rangeID}>
                  {rangeID} – {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Outcome doing={doing} />
        <div class="actions end">
          {chosen.value === "" ? null : (
            <a class="button" href={linkTo("ranges", chosen.value, "plan")}>
              {t.plan.title}
            </a>
          )}
          <button type="button" onClick={onClose}>
            {chosen.value === "" ? t.cancel : t.close}
          </button>
          <button type="submit" class="primary" disabled={doing.busy}>
            {t.blueprints.apply}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const Detail = ({ id }: { readonly id: string }) => {
  const blueprint = useRead<BlueprintAnswer>("/blueprints/{blueprintID}", { blueprintID: id })
  const config = useRead<{ readonly result: string }>("/blueprints/{blueprintID}/config", { blueprintID: id })
  const applying = useSignal(false)
  const data = blueprint.data.value
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
      </Head>
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
            <State tone="warn">{t.blueprints.missingTemplates}</State> <Text>{templates.map(({ name }) => name).join(", ")}</Text>
          </p>
        )}
        {roles.length === 0 ? null : (
          <p>
            <State tone="warn">{t.blueprints.missingRoles}</State> <Text>{roles.map(({ name }) => name).join(", ")}</Text>
          </p>
        )}
      </section>
      <section aria-labelledby="config">
        <h2 id="config">{t.blueprints.config}</h2>
        {config.data.value === undefined ? null : (
          <pre tabIndex={0} role="region" aria-label={t.blueprints.config}>
            {config.data.value.result}
          </pre>
        )}
      </section>
      <Apply id={id} open={applying.value} onClose={() => (applying.value = false)} />
    </>
  )
}

const List = () => {
  const blueprints = useRead<readonly BlueprintItem[]>("/blueprints")
  const query = place.value.query.get("q") ?? ""
  const data = blueprints.data.value
  const shown =
    data?.filter(({ name, blueprintID, tags = [] }) =>
      `${name} ${blueprintID} ${tags.join(" ")}`.toLowerCase().includes(query.toLowerCase()),
    ) ?? []
  return (
    <>
      <Head title={t.blueprints.title} lead={t.blueprints.intro} />
      <div class="filters">
        <Search label={t.blueprints.filter} />
      </div>
      <Unread of={blueprints} />
      {data === undefined ? null : shown.length === 0 ? (
        <Empty title={t.blueprints.empty}>
          <p class="muted">{t.blueprints.emptyText}</p>
        </Empty>
      ) : (
        <CardTable columns={Object.values(t.blueprints.columns)}>
          {shown.map(({ blueprintID, name, description, ownerUserID, tags = [], updated }) => (
            <tr key={blueprintID}>
              <th scope="row">
                <a href={`/ui/blueprints?id=${encodeURIComponent(blueprintID)}`}>
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
    </>
  )
}

export const BlueprintsPage = () => {
  const id = place.value.query.get("id")
  return id === null ? <List /> : <Detail key={id} id={id} />
}
