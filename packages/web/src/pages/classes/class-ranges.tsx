import type { Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import type { Resource } from "../../api/resource.ts"
import { BulkReport, useBulk } from "../../parts/bulk.tsx"
import { submitted } from "../../parts/form.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import { Dialog, Empty, Field, State, Text, Time } from "../../parts/parts.tsx"
import { Tick, type Selection, useSelection } from "../../parts/selection.tsx"
import { poweredOn, rangeTone, rangeWord, shortName } from "../../range/sentence.ts"
import { linkTo } from "../../links.ts"
import { place, setQuery } from "../../router.ts"
import { classes as texts } from "../../texts/classes.ts"
import { t } from "../../texts.ts"
import { doToMany, namesSnapshot, type Verb, verbs } from "./actions.ts"

/** Somebody has to look: the last change failed, or what was there is not. */
export const needsHelp = ({ rangeState, VMs, awaySince, doubt }: Range): boolean =>
  rangeState === "ERROR" ||
  rangeState === "ABORTED" ||
  awaySince !== undefined ||
  doubt !== undefined ||
  VMs.some(({ missingSince }) => missingSince !== undefined)

const Row = ({ range, selection }: { readonly range: Range; readonly selection: Selection }) => {
  const { rangeID, name, VMs, lastDeployment } = range
  const missing = VMs.filter(({ missingSince }) => missingSince !== undefined).length
  return (
    <tr>
      <th scope="row">
        <Tick selection={selection} keys={[rangeID]} label={texts.select(rangeID)} />
        <a href={linkTo("ranges", rangeID)}>
          <Text>{rangeID}</Text>
        </a>
        <span class="sub">
          <Text>{name}</Text>
        </span>
      </th>
      <td data-label={texts.rangeColumns.state}>
        <State tone={rangeTone(range)}>{rangeWord(range)}</State>
        {missing === 0 ? null : <span class="sub bad">{texts.missing(missing)}</span>}
      </td>
      <td data-label={texts.rangeColumns.machines}>
        <span class="dots" role="img" aria-label={t.ranges.on(poweredOn(VMs), VMs.length)}>
          {VMs.map((machine) => (
            <span
              key={machine.proxmoxID}
              class={machine.missingSince === undefined ? (machine.poweredOn ? "dot on" : "dot") : "dot missing"}
              title={`${shortName(rangeID, machine.name)}: ${machine.poweredOn ? t.power.on : t.power.off}`}
            />
          ))}
        </span>{" "}
        <span class="muted">{VMs.length === 0 ? t.none : t.ranges.on(poweredOn(VMs), VMs.length)}</span>
      </td>
      <td data-label={texts.rangeColumns.snapshot}>
        <Time at={lastDeployment} />
      </td>
    </tr>
  )
}

const Ask = ({
  verb,
  count,
  onClose,
  act,
}: {
  readonly verb: Verb | undefined
  readonly count: number
  readonly onClose: () => void
  readonly act: (verb: Verb, name: string) => void
}) => (
  <Dialog title={verb === undefined ? "" : texts.titles[verb](count)} open={verb !== undefined} onClose={onClose}>
    {verb === undefined ? null : (
      <form
        onSubmit={(event) => {
          const name = submitted(event).text("name").trim()
          onClose()
          act(verb, name)
        }}
      >
        <p>{texts.explain[verb]}</p>
        {namesSnapshot(verb) ? (
          <Field label={texts.snapshotName} hint={texts.snapshotHint}>
            {(ids) => (
              <input {...ids} name="name" required maxLength={40} autocomplete="off" autocapitalize="none" spellcheck={false} />
            )}
          </Field>
        ) : null}
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

export const ClassRanges = ({ ranges }: { readonly ranges: Resource<readonly Range[]> }) => {
  const selection = useSelection()
  const asked = useSignal<Verb | undefined>(undefined)
  const done = useSignal<Verb>("poweron")
  // each only waits for its run to be told of
  const bulk = useBulk(Number.POSITIVE_INFINITY)
  const { query } = place.value
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/u).filter(Boolean)
  const onlyHelp = query.get("help") === "1"
  const data = ranges.data.value
  const shown =
    data?.filter((range) => {
      const text = [range.rangeID, range.name, ...range.VMs.map(({ name }) => name)].join("\n").toLowerCase()
      return words.every((word) => text.includes(word)) && (!onlyHelp || needsHelp(range))
    }) ?? []
  const ids = shown.map(({ rangeID }) => rangeID)
  const chosen = selection.of(ids)
  const act = (verb: Verb, name: string): void => {
    done.value = verb
    const doTo = doToMany(verb, name)
    void bulk.start(chosen.map((key) => ({ key, act: (say) => doTo(key, say) })))
  }
  return (
    <>
      <Unread of={ranges} />
      <BulkReport bulk={bulk} title={texts.reports[done.value]} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={texts.noRanges}>
          <p class="muted">{texts.noRangesText}</p>
        </Empty>
      ) : (
        <>
          <div class="filters">
            <Search label={texts.filter} />
            <label class="check">
              <input
                type="checkbox"
                checked={onlyHelp}
                onChange={({ currentTarget }) => setQuery({ help: currentTarget.checked ? "1" : undefined })}
              />
              {texts.only}
            </label>
          </div>
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
          {shown.length === 0 ? (
            <Empty title={texts.noMatch} />
          ) : (
            <CardTable columns={Object.values(texts.rangeColumns)}>
              {shown.map((range) => (
                <Row key={range.rangeID} range={range} selection={selection} />
              ))}
            </CardTable>
          )}
        </>
      )}
      <Ask verb={asked.value} count={chosen.length} onClose={() => (asked.value = undefined)} act={act} />
    </>
  )
}
