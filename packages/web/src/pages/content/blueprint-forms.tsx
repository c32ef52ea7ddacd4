import type { BlueprintItem, BlueprintMade } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change, changeText, Refusal } from "../../api/client.ts"
import { blueprintPath, linkTo } from "../../links.ts"
import { submitted } from "../../parts/form.ts"
import { plain } from "../../parts/format.ts"
import { Dialog, type Doing, Field, FormEnd, useDoing } from "../../parts/parts.tsx"
import { useRanges } from "../../range/ranges.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"

const { blueprint: texts, catalog } = content

interface Form {
  readonly open: boolean
  readonly onClose: () => void
}

const RangeField = () => {
  const ranges = useRanges()
  const data = ranges.data.value ?? []
  return (
    <Field label={t.blueprints.range}>
      {(ids) => (
        <select {...ids} name="range" required>
          {data.length === 1 ? null : <option value="">{t.pick}</option>}
          {data.map(({ rangeID, name }) => (
            <option key={rangeID} value={rangeID}>
              {plain(`${rangeID} – ${name}`)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export const ApplyBlueprint = ({ id, open, onClose }: Form & { readonly id: string }) => {
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

const Names = ({ name = "" }: { readonly name?: string }) => (
  <>
    <Field label={texts.id} hint={texts.idHint}>
      {(ids) => <input {...ids} name="id" required autocapitalize="none" autocomplete="off" spellcheck={false} />}
    </Field>
    <Field label={texts.name}>
      {(ids) => <input {...ids} name="name" required maxLength={100} autocomplete="off" defaultValue={name} />}
    </Field>
  </>
)

export const CreateBlueprint = ({ open, onClose }: Form) => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    const blueprintID = text("id").trim()
    const body = { blueprintID, name: text("name").trim(), rangeID: text("range") }
    void doing.run(() => changeText("POST", "/blueprints/from-range", {}, body), blueprintPath(blueprintID))
  }
  return (
    <Dialog title={texts.createTitle} open={open} onClose={onClose}>
      <p>{texts.createText}</p>
      <form onSubmit={submit}>
        <RangeField />
        <Names />
        <FormEnd doing={doing} action={texts.createTitle} onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** Creates the user's own copy, which can be changed and shared. */
export const CopyBlueprint = ({ item: { blueprintID, name }, open, onClose }: Form & { readonly item: BlueprintItem }) => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    const body = { blueprintID: text("id").trim(), name: text("name").trim() }
    void doing.run(
      () => changeText("POST", "/blueprints/{blueprintID}/copy", { blueprintID }, body),
      blueprintPath(body.blueprintID),
    )
  }
  return (
    <Dialog title={texts.copyTitle(name)} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <Names name={name} />
        <FormEnd doing={doing} action={texts.copy} onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** Imports a blueprint from a file that was exported here or elsewhere. */
export const ImportBlueprint = ({ open, onClose, doing }: Form & { readonly doing: Doing }) => {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const body = new FormData(event.currentTarget as HTMLFormElement)
    void doing
      .run(async () => {
        const { result = "", ansibleResults = [] } = await change<BlueprintMade>("POST", "/blueprints/import", {}, body)
        const failed = ansibleResults.filter(({ ok }) => !ok)
        if (failed.length === 0) return result
        const reasons = failed.map(({ name, error = catalog.noReason }) => catalog.failed(name, error))
        throw new Refusal(200, [result, ...reasons].join("\n"))
      })
      .then((done) => done && onClose())
  }
  return (
    <Dialog title={texts.importTitle} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={texts.archive} hint={texts.archiveHint}>
          {(ids) => <input {...ids} name="archive" type="file" accept=".gz,.tgz" required />}
        </Field>
        <FormEnd doing={doing} action={texts.import} onClose={onClose} />
      </form>
    </Dialog>
  )
}
