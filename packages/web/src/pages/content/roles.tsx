import type { SubscriptionRoleAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change, changeText, Refusal } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { capabilities, me } from "../../me.ts"
import { submitted } from "../../parts/form.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import {
  Confirm,
  Dialog,
  type Doing,
  Empty,
  Field,
  FormEnd,
  Head,
  Outcome,
  Text,
  useDoing,
  useQuestion,
} from "../../parts/parts.tsx"
import { place } from "../../router.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { useGlobal } from "./catalog-items.tsx"
import { Upload } from "./upload.tsx"

const texts = content.roles

interface Installed {
  readonly name: string
  readonly version?: string
  readonly type: "role" | "collection"
  readonly global?: boolean
}

const mayInstall = (): boolean => capabilities.value?.rights.installsRoles === true

/** Installs or removes a role or a collection. */
const send = (kind: Installed["type"], name: string, more: Readonly<Record<string, unknown>>): Promise<string> =>
  kind === "role"
    ? changeText("POST", "/ansible/role", {}, { role: name, ...more })
    : changeText("POST", "/ansible/collection", {}, { collection: name, ...more })

const Install = ({ open, onClose, doing }: { readonly open: boolean; readonly onClose: () => void; readonly doing: Doing }) => {
  const submit = (event: SubmitEvent): void => {
    const { text, has } = submitted(event)
    const version = text("version").trim()
    const more = { action: "install", global: has("global"), ...(version === "" ? {} : { version }) }
    const kind = text("kind") === "collection" ? "collection" : "role"
    void doing.run(() => send(kind, text("name").trim(), more)).then((done) => done && onClose())
  }
  return (
    <Dialog title={texts.installTitle} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={texts.columns.kind}>
          {(ids) => (
            <select {...ids} name="kind">
              {Object.entries(texts.kinds).map(([kind, text]) => (
                <option key={kind} value={kind}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={texts.name} hint={texts.nameHint}>
          {(ids) => (
            <input
              {...ids}
              name="name"
              required
              pattern="[A-Za-z0-9_\-]+\.[A-Za-z0-9_.\-]+|https://.+"
              autocapitalize="none"
              autocomplete="off"
              spellcheck={false}
            />
          )}
        </Field>
        <Field label={texts.version} hint={texts.versionHint}>
          {(ids) => <input {...ids} name="version" autocomplete="off" spellcheck={false} />}
        </Field>
        {me.value?.isAdmin === true ? (
          <label class="check">
            <input type="checkbox" name="global" /> {texts.global}
          </label>
        ) : null}
        <FormEnd doing={doing} action={content.catalog.install} onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** Roles included in a licence. */
const Offered = ({ doing }: { readonly doing: Doing }) => {
  const offered = useRead<readonly SubscriptionRoleAnswer[]>("/ansible/subscription-roles")
  const { isGlobal, choice } = useGlobal()
  const install = (role: string) => () =>
    doing.run(async () => {
      const { success, errors } = await change<{
        readonly success: readonly string[]
        readonly errors: readonly { readonly role: string; readonly reason: string }[]
      }>("POST", "/ansible/subscription-roles", {}, { roles: [role], global: isGlobal })
      const [failed] = errors
      if (failed !== undefined) throw new Refusal(200, content.catalog.failed(failed.role, failed.reason))
      return content.catalog.done(success)
    })
  if (offered.data.value?.length === 0) return null
  return (
    <section aria-labelledby="offered">
      <h2 id="offered">{texts.offered}</h2>
      <p class="muted">{texts.offeredText}</p>
      <div class="filters">{choice}</div>
      <Unread of={offered} />
      <ul class="plain lines">
        {offered.data.value?.map(({ role, version, description }) => (
          <li key={role}>
            <span>
              <strong>
                <Text>{role}</Text>
              </strong>{" "}
              <span class="mono">
                <Text>{version}</Text>
              </span>
            </span>
            {mayInstall() ? (
              <button
                type="button"
                class="small"
                disabled={doing.busy}
                aria-label={content.catalog.of(content.catalog.install, role)}
                onClick={() => void install(role)()}
              >
                {content.catalog.install}
              </button>
            ) : null}
            <span class="sub">
              <Text>{description}</Text>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const RolesPage = () => {
  const installed = useRead<readonly Installed[]>("/ansible")
  const doing = useDoing()
  const question = useQuestion()
  const installing = useSignal(false)
  const uploading = useSignal(false)
  const data = installed.data.value
  const query = (place.value.query.get("q") ?? "").toLowerCase()
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(query)) ?? []
  const remove = ({ name, type, global = false }: Installed) => {
    question.value = {
      title: texts.removeTitle(name),
      text: texts.removeText,
      action: texts.remove,
      danger: true,
      act: () => void doing.run(() => send(type, name, { action: "remove", global })),
    }
  }
  return (
    <>
      <Head title={texts.title} lead={texts.intro}>
        {mayInstall() ? (
          <>
            <button type="button" onClick={() => (installing.value = true)}>
              {texts.install}
            </button>
            <button type="button" onClick={() => (uploading.value = true)}>
              {content.upload.open}
            </button>
          </>
        ) : null}
      </Head>
      <Outcome doing={doing} />
      <Unread of={installed} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={texts.empty} />
      ) : (
        <section aria-label={texts.title}>
          <div class="filters">
            <Search label={texts.filter} />
          </div>
          {shown.length === 0 ? (
            <Empty title={texts.noMatch} />
          ) : (
            <CardTable columns={[...Object.values(texts.columns), t.range.columns.actions]}>
              {shown.map((one) => {
                const { name, version, type, global } = one
                return (
                  <tr key={`${type} ${name} ${String(global)}`}>
                    <th scope="row">
                      <Text>{name}</Text>
                    </th>
                    <td data-label={texts.columns.kind}>{texts.kinds[type]}</td>
                    <td data-label={texts.columns.version} class="mono">
                      <Text>{version ?? t.none}</Text>
                    </td>
                    <td data-label={texts.columns.whose}>{global === true ? texts.everybody : texts.you}</td>
                    <td class="row-actions">
                      {mayInstall() && (global !== true || me.value?.isAdmin === true) ? (
                        <button
                          type="button"
                          class="small"
                          disabled={doing.busy}
                          aria-label={content.catalog.of(texts.remove, name)}
                          onClick={() => remove(one)}
                        >
                          {texts.remove}
                        </button>
                      ) : null}
                    </td>
                  </tr>
                )
              })}
            </CardTable>
          )}
        </section>
      )}
      {capabilities.value?.features.subscriptionRoles === true ? <Offered doing={doing} /> : null}
      <Upload kind="role" open={uploading.value} onClose={() => (uploading.value = false)} doing={doing} />
      <Install open={installing.value} onClose={() => (installing.value = false)} doing={doing} />
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
