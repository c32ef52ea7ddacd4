import type { AccessibleRangeAnswer, Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { managed, me } from "../me.ts"
import { CardTable, Choice, Search, Unread, Word } from "../parts/list.tsx"
import { memo } from "../parts/memo.ts"
import { Dialog, Empty, Field, FormEnd, Head, State, Time, useDoing } from "../parts/parts.tsx"
import { BulkBar } from "../range/bulk-bar.tsx"
import { RangeName } from "../range/range-name.tsx"
import { useRanges } from "../range/ranges.ts"
import { poweredOn, rangeTone, rangeWord } from "../range/sentence.ts"
import { navigate, place, setQuery } from "../router.ts"
import { submitted } from "../parts/form.ts"
import { type Selection, useSelection } from "../parts/selection.tsx"
import { bulk } from "../texts/bulk.ts"
import { t } from "../texts.ts"

const states = ["Running", "Partly on", "Off", ...new Set(Object.values(t.rangeState))].filter((state) => state !== "Ready")

const matches = (range: Range, words: readonly string[], state: string): boolean => {
  if (state !== "" && rangeWord(range) !== state) return false
  if (words.length === 0) return true
  const text = [range.rangeID, range.name, ...range.VMs.map(({ name, ip }) => `${name} ${ip}`)].join("\n").toLowerCase()
  return words.every((word) => text.includes(word))
}

const Row = memo(({ range, selection }: { readonly range: Range; readonly selection: Selection | undefined }) => {
  const on = poweredOn(range.VMs)
  return (
    <tr>
      <RangeName rangeID={range.rangeID} name={range.name} selection={selection} />
      <td data-label={t.ranges.columns.state}>
        <State tone={rangeTone(range)}>{rangeWord(range)}</State>
        {range.testingState === "off" ? null : (
          <span class="tag warn">{range.testingState === "on" ? t.ranges.testing : t.ranges.notCutOff}</span>
        )}
      </td>
      <td data-label={t.ranges.columns.machines}>
        {range.VMs.length === 0 ? <span class="muted">{t.none}</span> : t.ranges.on(on, range.VMs.length)}
      </td>
      <td data-label={t.ranges.columns.changed}>
        <Time at={range.lastDeployment} />
      </td>
    </tr>
  )
})

const Create = ({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    const rangeID = text("rangeID").trim()
    void doing.run(
      async () => {
        await change("POST", "/ranges/create", {}, { rangeID, name: text("name").trim() })
        return t.ranges.created
      },
      `/ranges/${encodeURIComponent(rangeID)}/config`,
    )
  }
  return (
    <Dialog title={t.ranges.createTitle} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={t.ranges.id} hint={t.ranges.idHint}>
          {(ids) => (
            <input {...ids} name="rangeID" required maxLength={64} autocapitalize="none" autocomplete="off" spellcheck={false} />
          )}
        </Field>
        <Field label={t.ranges.name}>{(ids) => <input {...ids} name="name" required maxLength={100} autocomplete="off" />}</Field>
        <FormEnd doing={doing} action={t.ranges.create} onClose={onClose} />
      </form>
    </Dialog>
  )
}

const Table = ({ ranges }: { readonly ranges: readonly Range[] }) => {
  const query = place.value.query.get("q") ?? ""
  const state = place.value.query.get("state") ?? ""
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean)
  const owner = me.value?.isAdmin === true ? (place.value.query.get("owner") ?? "") : ""
  const owned = useRead<readonly AccessibleRangeAnswer[]>(
    owner === "" ? undefined : "/ranges/accessible",
    owner === "" ? {} : { userID: owner },
    ({ topic }) => topic === "range",
  )
  const own = new Set(owned.data.value?.flatMap(({ rangeID, accessType }) => (accessType === "Direct" ? [rangeID] : [])))
  const shown = ranges.filter((range) => (owner === "" || own.has(range.rangeID)) && matches(range, words, state))
  const selection = useSelection()
  const selecting = useSignal(false)
  const isSelecting = selecting.value && ranges.length > 1
  return (
    <>
      <div class="filters">
        <Search label={t.ranges.filter} />
        <Choice name="state" label={t.ranges.state} any={t.ranges.any} values={states.map((name) => [name, name] as const)} />
        {me.value?.isAdmin === true ? <Word name="owner" label={t.ranges.owner} /> : null}
        <span class="muted" role="status">
          {t.ranges.count(shown.length, ranges.length)}
        </span>
        {ranges.length < 2 ? null : (
          <label class="check">
            <input
              type="checkbox"
              checked={isSelecting}
              onChange={({ currentTarget }) => (selecting.value = currentTarget.checked)}
            />
            {bulk.several}
          </label>
        )}
      </div>
      {isSelecting ? <BulkBar ids={shown.map(({ rangeID }) => rangeID)} selection={selection} /> : null}
      {owner !== "" && owned.data.value === undefined ? (
        <Unread of={owned} />
      ) : shown.length === 0 ? (
        <Empty title={t.ranges.noMatch}>
          <button type="button" onClick={() => setQuery({ q: undefined, state: undefined, owner: undefined })}>
            {t.ranges.clear}
          </button>
        </Empty>
      ) : (
        <CardTable columns={Object.values(t.ranges.columns)}>
          {shown.map((range) => (
            <Row key={range.rangeID} range={range} selection={isSelecting ? selection : undefined} />
          ))}
        </CardTable>
      )}
    </>
  )
}

/** The start page: administrators begin at the overview, teachers at their class, users with a single range at that. */
const homeOf = (ranges: readonly Range[] | undefined): string | undefined => {
  if (me.value?.isAdmin === true) return "/admin/overview"
  const [group, ...more] = managed.value
  if (group !== undefined) return more.length > 0 ? "/classes" : `/classes/${encodeURIComponent(group)}`
  const [range, ...others] = ranges ?? []
  return range === undefined || others.length > 0 ? undefined : `/ranges/${encodeURIComponent(range.rangeID)}`
}

export const Ranges = () => {
  const ranges = useRanges()
  const creating = useSignal(false)
  const data = ranges.data.value
  const home = place.value.path === "/" ? homeOf(data) : undefined
  useEffect(() => {
    if (home !== undefined) navigate(home, { replace: true })
  }, [home])
  return (
    <>
      <Head title={t.ranges.title}>
        <button type="button" onClick={() => (creating.value = true)}>
          {t.ranges.create}
        </button>
      </Head>
      <Unread of={ranges} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={t.ranges.empty}>
          <p class="muted">{t.ranges.emptyText}</p>
          <button type="button" class="primary" onClick={() => (creating.value = true)}>
            {t.ranges.create}
          </button>
        </Empty>
      ) : (
        <Table ranges={data} />
      )}
      <Create open={creating.value} onClose={() => (creating.value = false)} />
    </>
  )
}
