import type { Range } from "@rangewright/application/wire"
import type { Resource } from "../../api/resource.ts"
import { CardTable, Search, Unread } from "../../parts/list.tsx"
import { Empty, State, Time } from "../../parts/parts.tsx"
import { type Selection, useSelection } from "../../parts/selection.tsx"
import { BulkBar } from "../../range/bulk-bar.tsx"
import { RangeName } from "../../range/range-name.tsx"
import { poweredOn, rangeTone, rangeWord, shortName } from "../../range/sentence.ts"
import { place, setQuery } from "../../router.ts"
import { classes as texts } from "../../texts/classes.ts"
import { t } from "../../texts.ts"

/** Whether somebody must look into it: the last change failed, or the state is not known for certain. */
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
      <RangeName rangeID={rangeID} name={name} selection={selection} />
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

export const ClassRanges = ({ ranges }: { readonly ranges: Resource<readonly Range[]> }) => {
  const selection = useSelection()
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
  return (
    <>
      <Unread of={ranges} />
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
          <BulkBar ids={ids} selection={selection} />
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
    </>
  )
}
