import { useSignal } from "@preact/signals"
import { BulkReport, useBulk } from "../parts/bulk.tsx"
import { submitted } from "../parts/form.ts"
import { Dialog } from "../parts/parts.tsx"
import { type Selection, Tick } from "../parts/selection.tsx"
import { bulk as texts } from "../texts/bulk.ts"
import { t } from "../texts.ts"
import { BulkPlans } from "./bulk-plans.tsx"
import { doToMany, namesSnapshot, type Verb, verbs } from "./bulk-actions.ts"
import { SnapshotName } from "./snapshot-name.tsx"

const Ask = ({
  verb,
  chosen,
  onClose,
  act,
}: {
  readonly verb: Verb | undefined
  readonly chosen: readonly string[]
  readonly onClose: () => void
  readonly act: (verb: Verb, name: string) => void
}) => (
  <Dialog title={verb === undefined ? "" : texts.titles[verb](chosen.length)} open={verb !== undefined} onClose={onClose}>
    {verb === undefined ? null : (
      <form
        onSubmit={(event) => {
          const name = submitted(event).text("name").trim()
          onClose()
          act(verb, name)
        }}
      >
        <p>{texts.explain[verb]}</p>
        {verb === "deploy" ? <BulkPlans ids={chosen} /> : null}
        {namesSnapshot(verb) ? <SnapshotName label={texts.snapshotName} /> : null}
        <div class="actions end">
          <button type="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class={verb === "rollback" ? "danger" : "primary"}>
            {texts.actions[verb]}
          </button>
        </div>
      </form>
    )}
  </Dialog>
)

/** Actions for the selected ranges among those shown, and the result of each. */
export const BulkBar = ({ ids, selection }: { readonly ids: readonly string[]; readonly selection: Selection }) => {
  const asked = useSignal<Verb | undefined>(undefined)
  const done = useSignal<Verb>("poweron")
  // each task only waits for events about its run
  const bulk = useBulk(Number.POSITIVE_INFINITY)
  const chosen = selection.of(ids)
  const act = (verb: Verb, name: string): void => {
    done.value = verb
    const doTo = doToMany(verb, name)
    void bulk.start(chosen.map((key) => ({ key, act: (say) => doTo(key, say) })))
  }
  return (
    <>
      <BulkReport bulk={bulk} title={texts.reports[done.value]} />
      <div class="bulk-bar">
        <Tick selection={selection} keys={ids} label={texts.selectAll} />
        <span class="muted" role="status">
          {chosen.length === 0 ? texts.selectAll : texts.chosen(chosen.length)}
        </span>
        <span class="gap" />
        {verbs.map((verb) => (
          <button
            key={verb}
            type="button"
            class={verb === "rollback" ? "small danger" : "small"}
            disabled={chosen.length === 0 || bulk.isBusy}
            onClick={() => (asked.value = verb)}
          >
            {texts.actions[verb]}
          </button>
        ))}
      </div>
      <Ask verb={asked.value} chosen={chosen} onClose={() => (asked.value = undefined)} act={act} />
    </>
  )
}
