import type { Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { changeText } from "../api/client.ts"
import { ConfirmButton, Dialog, type Doing, Field, FormEnd, useDoing } from "../parts/parts.tsx"
import { removal as texts } from "../texts/removal.ts"
import { t } from "../texts.ts"

/** Deletes the range with everything in it, once its ID was typed. */
const DeleteRange = ({
  range,
  open,
  onClose,
}: {
  readonly range: Range
  readonly open: boolean
  readonly onClose: () => void
}) => {
  const { rangeID, VMs } = range
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    void doing.run(() => changeText("DELETE", "/range", { rangeID, force: VMs.length > 0 }), "/ranges")
  }
  return (
    <Dialog title={texts.rangeTitle(rangeID)} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.rangeText(VMs.length === 0 ? undefined : t.range.machineCount(VMs.length))}</p>
        <Field label={texts.type(rangeID)}>
          {(ids) => (
            // the characters of an ID have no special meaning in a pattern
            <input {...ids} required pattern={rangeID} autocapitalize="none" autocomplete="off" spellcheck={false} />
          )}
        </Field>
        <FormEnd doing={doing} action={texts.range} danger onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** Deletes the machines of a range, or the range itself. */
export const Removal = ({ range, doing }: { readonly range: Range; readonly doing: Doing }) => {
  const { rangeID, VMs } = range
  const deleting = useSignal(false)
  const deleteMachines = (): void => void doing.run(() => changeText("DELETE", "/range/{rangeID}/vms", { rangeID }))
  return (
    <section class="card" aria-labelledby="removal">
      <h2 id="removal">{texts.title}</h2>
      <div class="actions">
        {VMs.length === 0 ? null : (
          <ConfirmButton
            class="small danger"
            disabled={doing.busy}
            question={{
              title: texts.machinesTitle(rangeID),
              text: texts.machinesText(t.range.machineCount(VMs.length)),
              action: texts.machines,
              danger: true,
              act: deleteMachines,
            }}
          >
            {texts.machines}…
          </ConfirmButton>
        )}
        <button type="button" class="small danger" disabled={doing.busy} onClick={() => (deleting.value = true)}>
          {texts.range}…
        </button>
      </div>
      <DeleteRange range={range} open={deleting.value} onClose={() => (deleting.value = false)} />
    </section>
  )
}
