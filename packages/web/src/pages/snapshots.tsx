import type { SnapshotGroup, SnapshotResult, Snapshots } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { CardTable, Unread } from "../parts/list.tsx"
import {
  Confirm,
  Dialog,
  Empty,
  Field,
  FormEnd,
  Note,
  Outcome,
  type Question,
  Text,
  Time,
  useDoing,
  useQuestion,
} from "../parts/parts.tsx"
import { RangeHead, useRange } from "../range/range-head.tsx"
import { shortName } from "../range/sentence.ts"
import { SnapshotName } from "../range/snapshot-name.tsx"
import { snapshotText } from "../range/snapshot-outcome.ts"
import { submitted } from "../parts/form.ts"
import { t } from "../texts.ts"

interface RowProperties {
  readonly id: string
  readonly set: SnapshotGroup
  readonly isBusy: boolean
  readonly ask: (question: Question) => void
  readonly act: (path: string, body: object) => void
}

const Row = ({ id, set, isBusy, ask, act }: RowProperties) => {
  const { name, complete, machines, missing, newest } = set
  const rollBack = (): void =>
    ask({
      title: t.snapshots.rollBackTitle(name),
      text: t.snapshots.rollBackText,
      action: t.snapshots.rollBack,
      danger: true,
      act: () => act("/snapshots/rollback", { name }),
    })
  const remove = (): void =>
    ask({
      title: t.snapshots.removeTitle(name),
      text: t.snapshots.removeText,
      action: t.snapshots.remove,
      danger: true,
      act: () => act("/snapshots/remove", { name }),
    })
  return (
    <tr>
      <th scope="row">
        <Text>{name}</Text>
        {set.includesRAM ? <span class="tag">{t.snapshots.withRam}</span> : null}
      </th>
      <td data-label={t.snapshots.columns.machines}>
        {complete ? t.snapshots.complete : t.snapshots.partial(machines.length, machines.length + missing.length)}
        {missing.length === 0 ? null : (
          <span class="sub">
            <Text>
              {t.snapshots.missing(missing.map(({ vmname, vmid }) => shortName(id, vmname ?? String(vmid))).join(", "))}
            </Text>
          </span>
        )}
      </td>
      <td data-label={t.snapshots.columns.taken}>
        <Time at={new Date(newest * 1000).toISOString()} />
      </td>
      <td class="row-actions">
        <button type="button" class="small" disabled={isBusy} onClick={rollBack}>
          {t.snapshots.rollBack}
        </button>
        <button type="button" class="small danger" disabled={isBusy} onClick={remove}>
          {t.snapshots.remove}
        </button>
      </td>
    </tr>
  )
}

export const SnapshotsPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const view = useRange(id)
  const sets = useRead<Snapshots>("/snapshots/sets", { rangeID: id }, ({ topic, rangeID }) => topic === "run" && rangeID === id)
  const taking = useSignal(false)
  const doing = useDoing()
  const question = useQuestion()
  const data = sets.data.value
  const isBusy = doing.busy || view.run.data.value?.status === "running"
  const act = (path: string, body: object) =>
    doing.run(async () => snapshotText(await change<SnapshotResult>("POST", path, { rangeID: id }, body)))
  const take = (event: SubmitEvent): void => {
    const { text, has } = submitted(event)
    const body = { name: text("name").trim(), description: text("description"), includeRAM: has("ram") }
    void act("/snapshots/create", body).then((done) => done && (taking.value = false))
  }
  return (
    <>
      <RangeHead id={id} view={view} />
      <div class="summary">
        <p class="muted">{t.snapshots.intro}</p>
        <div class="actions">
          <button type="button" class="primary" disabled={isBusy} onClick={() => (taking.value = true)}>
            {t.snapshots.take}
          </button>
        </div>
      </div>
      <Outcome doing={doing} />
      <Unread of={sets} />
      {(data?.errors ?? []).map(({ vmname, vmid, error }) => (
        <Note key={`${vmid}`} tone="warn">
          <Text>{`${vmname ?? vmid ?? ""}: ${error}`}</Text>
        </Note>
      ))}
      {data === undefined ? null : data.sets.length === 0 ? (
        <Empty title={t.snapshots.empty} />
      ) : (
        <CardTable columns={[...Object.values(t.snapshots.columns), t.range.columns.actions]}>
          {data.sets.map((set) => (
            <Row
              key={set.name}
              id={id}
              set={set}
              isBusy={isBusy}
              ask={(asked) => (question.value = asked)}
              act={(path, body) => void act(path, body)}
            />
          ))}
        </CardTable>
      )}
      <Dialog title={t.snapshots.take} open={taking.value} onClose={() => (taking.value = false)}>
        <form onSubmit={take}>
          <SnapshotName label={t.snapshots.name} />
          <Field label={t.snapshots.description}>
            {(ids) => <input {...ids} name="description" maxLength={500} autocomplete="off" />}
          </Field>
          <label class="check">
            <input type="checkbox" name="ram" />
            {t.snapshots.ram}
          </label>
          <FormEnd doing={doing} action={t.snapshots.take} onClose={() => (taking.value = false)} />
        </form>
      </Dialog>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
