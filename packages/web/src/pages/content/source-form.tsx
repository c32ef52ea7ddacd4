import type { SourceAnswer, SyncAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { me } from "../../me.ts"
import { Dialog, type Doing, Field, FormEnd } from "../../parts/parts.tsx"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { notesOf, toldOf } from "./told.ts"

const texts = content.sourceForm

type Type = SourceAnswer["type"]

const plainText = { autocapitalize: "none", autocomplete: "off", spellcheck: false } as const

/** The credentials of a private repository. `kept`: the label for stored ones. */
const Access = ({ kept }: { readonly kept: string | undefined }) => {
  const access = useSignal(kept === undefined ? "none" : "")
  return (
    <>
      <Field label={texts.access}>
        {(ids) => (
          <select
            {...ids}
            name="access"
            value={access.value}
            onChange={({ currentTarget }) => (access.value = currentTarget.value)}
          >
            {kept === undefined ? null : <option value="">{kept}</option>}
            {Object.entries(texts.accesses).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      {access.value === "token" ? (
        <>
          <Field label={texts.username} hint={texts.usernameHint}>
            {(ids) => <input {...ids} {...plainText} name="username" />}
          </Field>
          <Field label={texts.token} hint={texts.kept}>
            {(ids) => <input {...ids} name="token" type="password" autocomplete="off" required />}
          </Field>
        </>
      ) : null}
      {access.value === "ssh-key" ? (
        <>
          <Field label={texts.sshKey} hint={texts.sshKeyHint}>
            {(ids) => <textarea {...ids} {...plainText} name="sshKey" rows={5} required />}
          </Field>
          <Field label={texts.hostKey} hint={texts.hostKeyHint}>
            {(ids) => <input {...ids} {...plainText} name="hostKey" required pattern="SHA256:.+" />}
          </Field>
        </>
      ) : null}
    </>
  )
}

const Schedule = ({ now = "off" }: { readonly now?: string | undefined }) => (
  <Field label={texts.schedule}>
    {(ids) => (
      <select {...ids} name="schedule">
        {Object.entries({ ...(now in texts.schedules ? {} : { [now]: texts.every(now) }), ...texts.schedules }).map(
          ([value, text]) => (
            <option key={value} value={value} selected={value === now}>
              {text}
            </option>
          ),
        )}
      </select>
    )}
  </Field>
)

/** Fields for the origin of a source of this type. `source`: its current values. */
const Origin = ({ type, source }: { readonly type: Type; readonly source?: SourceAnswer }) =>
  type === "upload" ? (
    <Field label={texts.archive} hint={source === undefined ? texts.archiveHint : texts.newArchiveHint}>
      {(ids) => <input {...ids} name="archive" type="file" accept=".zip,.tar,.gz,.tgz" required />}
    </Field>
  ) : type === "folder" ? (
    <>
      <Field label={texts.path} hint={texts.pathHint}>
        {(ids) => <input {...ids} {...plainText} name="path" required pattern="/.*" defaultValue={source?.path ?? ""} />}
      </Field>
      <Schedule now={source?.schedule} />
    </>
  ) : (
    <>
      <Field label={t.sources.url} hint={source === undefined ? t.sources.urlHint : texts.urlHint}>
        {(ids) => <input {...ids} {...plainText} name="url" required defaultValue={source?.url ?? ""} />}
      </Field>
      <Field label={texts.ref} hint={texts.refHint}>
        {(ids) => <input {...ids} {...plainText} name="ref" defaultValue={source?.ref ?? ""} />}
      </Field>
      <Schedule now={source?.schedule} />
      <Access kept={source === undefined ? undefined : texts.asItIs} />
    </>
  )

/** The form's values under the service's names: as a form if there is a file, else as JSON. */
const bodyOf = (event: SubmitEvent): unknown => {
  event.preventDefault()
  const all = new FormData(event.currentTarget as HTMLFormElement)
  const filled = [...all].filter(([, value]) => typeof value !== "string" || value.trim() !== "")
  if (!all.has("archive")) return Object.fromEntries(filled)
  const form = new FormData()
  for (const [name, value] of filled) form.set(name, value)
  return form
}

interface Form {
  readonly open: boolean
  readonly onClose: () => void
  readonly doing: Doing
}

export const AddSource = ({ open, onClose, doing }: Form) => {
  const type = useSignal<Type>("git")
  const types = Object.entries(texts.types).filter(([value]) => value !== "folder" || me.value?.isAdmin === true)
  const submit = async (event: SubmitEvent): Promise<void> => {
    const body = bodyOf(event)
    const done = await doing.run(async () =>
      [t.sources.added, ...notesOf(await change<Partial<SyncAnswer>>("POST", "/sources", {}, body))].join("\n"),
    )
    if (done) onClose()
  }
  return (
    <Dialog title={t.sources.add} open={open} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <Field label={texts.type}>
          {(ids) => (
            <select
              {...ids}
              name="type"
              value={type.value}
              onChange={({ currentTarget }) => (type.value = currentTarget.value as Type)}
            >
              {types.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Origin type={type.value} />
        <Field label={texts.id} hint={texts.idHint}>
          {(ids) => <input {...ids} {...plainText} name="id" pattern="[A-Za-z][A-Za-z0-9_\-]*" />}
        </Field>
        <FormEnd doing={doing} action={t.sources.add} onClose={onClose} />
      </form>
    </Dialog>
  )
}

export const ChangeSource = ({ source, open, onClose, doing }: Form & { readonly source: SourceAnswer }) => {
  const { sourceID, type } = source
  const submit = async (event: SubmitEvent): Promise<void> => {
    const body = bodyOf(event)
    const done = await doing.run(async () => {
      const answer = await change<SourceAnswer | SyncAnswer>("PATCH", "/sources/{sourceID}", { sourceID }, body)
      return "blueprintResults" in answer ? toldOf(answer) : texts.changed
    })
    if (done) onClose()
  }
  return (
    <Dialog title={texts.change} open={open} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <Origin type={type} source={source} />
        <FormEnd doing={doing} action={texts.save} onClose={onClose} />
      </form>
    </Dialog>
  )
}
