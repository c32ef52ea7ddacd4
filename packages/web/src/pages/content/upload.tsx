import { changeText } from "../../api/client.ts"
import { me } from "../../me.ts"
import { Dialog, type Doing, Field, FormEnd } from "../../parts/parts.tsx"
import { content } from "../../texts/content.ts"

const kinds = { role: "/ansible/role/fromtar", template: "/templates" } as const
const texts = content.upload

/** Uploads an archive of the folder of one role or template. */
export const Upload = ({
  kind,
  open,
  onClose,
  doing,
}: {
  readonly kind: keyof typeof kinds
  readonly open: boolean
  readonly onClose: () => void
  readonly doing: Doing
}) => {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const body = new FormData(event.currentTarget as HTMLFormElement)
    body.set("force", String(body.has("force")))
    void doing.run(() => changeText("PUT", kinds[kind], {}, body)).then((done) => done && onClose())
  }
  return (
    <Dialog title={texts[kind].title} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={texts.file} hint={texts[kind].hint}>
          {(ids) => <input {...ids} name="file" type="file" accept=".tar,.gz,.tgz" required />}
        </Field>
        <label class="check">
          <input type="checkbox" name="force" /> {texts[kind].replace}
        </label>
        {kind === "role" && me.value?.isAdmin === true ? (
          <label class="check">
            <input type="checkbox" name="global" value="true" /> {content.roles.global}
          </label>
        ) : null}
        <FormEnd doing={doing} action={texts.action} onClose={onClose} />
      </form>
    </Dialog>
  )
}
