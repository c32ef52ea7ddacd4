import type { BlueprintAnswer, BlueprintItem, BulkAnswer, GroupAnswer, SyncAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change, changeText, Refusal } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { base, httpsAddress, linkTo } from "../../links.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import {
  Confirm,
  Dialog,
  Empty,
  Field,
  FormEnd,
  Head,
  Loading,
  Outcome,
  Refused,
  State,
  Text,
  Time,
  useDoing,
  useQuestion,
} from "../../parts/parts.tsx"
import { capabilities, managed, me } from "../../me.ts"
import { place } from "../../router.ts"
import { useRanges } from "../../range/ranges.ts"
import { submitted } from "../../parts/form.ts"
import { plain } from "../../parts/format.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { toldOf } from "./told.ts"

const texts = content.blueprint

/** Below the page's own address. IDs have slashes. */
const pathOf = (blueprintID: string): string => `/blueprints?id=${encodeURIComponent(blueprintID)}`

const RangeField = () => {
  const ranges = useRanges()
  return (
    <Field label={t.blueprints.range}>
      {(ids) => (
        <select {...ids} name="range" required>
          {(ranges.data.value ?? []).map(({ rangeID, name }) => (
            <option key={rangeID} value={rangeID}>
              {plain(`${rangeID} – ${name}`)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

const Apply = ({ id, open, onClose }: { readonly id: string; readonly open: boolean; readonly onClose: () => void }) => {
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
        <RangeField />
        <FormEnd doing={doing} action={t.blueprints.apply} cancel={chosen.value === "" ? t.cancel : t.close} onClose={onClose}>
          {chosen.value === "" ? null : (
            <a class="button" href={linkTo("ranges", chosen.value, "plan")}>
              {t.plan.title}
            </a>
          )}
        </FormEnd>
      </form>
    </Dialog>
  )
}

const Create = ({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    const blueprintID = text("id").trim()
    const body = { blueprintID, name: text("name").trim(), rangeID: text("range") }
    void doing.run(async () => {
      await change("POST", "/blueprints/from-range", {}, body)
      return undefined
    }, pathOf(blueprintID))
  }
  return (
    <Dialog title={texts.createTitle} open={open} onClose={onClose}>
      <p>{texts.createText}</p>
      <form onSubmit={submit}>
        <RangeField />
        <Field label={texts.id} hint={texts.idHint}>
          {(ids) => <input {...ids} name="id" required autocapitalize="none" autocomplete="off" spellcheck={false} />}
        </Field>
        <Field label={texts.name}>{(ids) => <input {...ids} name="name" required maxLength={100} autocomplete="off" />}</Field>
        <FormEnd doing={doing} action={texts.createTitle} onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** With whom it is shared, and for who manages groups the way to change that. */
const Shared = ({ item }: { readonly item: BlueprintItem }) => {
  const { blueprintID, sharedUsers = [], sharedGroups = [] } = item
  const isAdmin = me.value?.isAdmin === true
  const all = useRead<readonly GroupAnswer[]>(isAdmin ? "/groups" : undefined)
  const groups = isAdmin ? (all.data.value ?? []).map(({ name }) => name) : managed.value
  const doing = useDoing()
  const send = (method: "POST" | "DELETE", group: string, done: (name: string) => string) =>
    doing.run(async () => {
      const body = { groupNames: [group] }
      const { errors = [] } = await change<BulkAnswer>(method, "/blueprints/{blueprintID}/share/groups", { blueprintID }, body)
      const [refused] = errors
      if (refused !== undefined) throw new Refusal(200, refused.reason)
      return done(group)
    })
  const others = groups.filter((name) => !sharedGroups.includes(name))
  return (
    <section class="card" aria-labelledby="shared">
      <h2 id="shared">{texts.shared}</h2>
      <p class="muted">{texts.sharedText}</p>
      {sharedUsers.length + sharedGroups.length === 0 ? <p>{texts.notShared}</p> : null}
      <ul class="plain lines">
        {sharedGroups.map((name) => (
          <li key={`group ${name}`}>
            <Text>{name}</Text>
            {groups.includes(name) ? (
              <button
                type="button"
                class="small"
                disabled={doing.busy}
                aria-label={content.catalog.of(texts.unshare, name)}
                onClick={() => void send("DELETE", name, texts.noLongerShared)}
              >
                {texts.unshare}
              </button>
            ) : null}
          </li>
        ))}
        {sharedUsers.map((name) => (
          <li key={`user ${name}`}>
            <Text>{name}</Text>
          </li>
        ))}
      </ul>
      {others.length === 0 ? null : (
        <form onSubmit={(event) => void send("POST", submitted(event).text("group"), texts.sharedWith)}>
          <Field label={texts.group}>
            {(ids) => (
              <select {...ids} name="group" required>
                {others.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <button type="submit" disabled={doing.busy}>
            {texts.share}
          </button>
        </form>
      )}
      <Outcome doing={doing} />
    </section>
  )
}

const Detail = ({ id }: { readonly id: string }) => {
  const blueprint = useRead<BlueprintAnswer>("/blueprints/{blueprintID}", { blueprintID: id })
  const config = useRead<{ readonly result: string }>("/blueprints/{blueprintID}/config", { blueprintID: id })
  const items = useRead<readonly BlueprintItem[]>("/blueprints")
  const applying = useSignal(false)
  const doing = useDoing()
  const question = useQuestion()
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
        {item?.accessType === "owner" || item?.accessType === "admin" ? (
          <button
            type="button"
            class="danger"
            disabled={doing.busy}
            onClick={() =>
              (question.value = {
                title: texts.deleteTitle(data.name),
                text: texts.deleteText,
                action: texts.delete,
                danger: true,
                act: () => void remove(),
              })
            }
          >
            {texts.delete}
          </button>
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
            <State tone="warn">{t.blueprints.missingTemplates}</State> <Text>{templates.map(({ name }) => name).join(", ")}</Text>
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
        {config.data.value === undefined ? null : (
          <pre tabIndex={0} role="group" aria-label={t.blueprints.config}>
            {config.data.value.result}
          </pre>
        )}
      </section>
      {item === undefined ? null : <Shared item={item} />}
      <Apply id={id} open={applying.value} onClose={() => (applying.value = false)} />
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}

const List = () => {
  const blueprints = useRead<readonly BlueprintItem[]>("/blueprints")
  const creating = useSignal(false)
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
      </Head>
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
                <a href={`${base}${pathOf(blueprintID)}`}>
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
      <Create open={creating.value} onClose={() => (creating.value = false)} />
    </>
  )
}

export const BlueprintsPage = () => {
  const id = place.value.query.get("id")
  return id === null ? <List /> : <Detail key={id} id={id} />
}
