import type { GroupLimits, QuotaAmounts, QuotaOfUser } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { changeText } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { submitted } from "../../parts/form.ts"
import { bytes } from "../../parts/format.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Dialog, Empty, Field, FormEnd, Text, useDoing } from "../../parts/parts.tsx"
import { Tick, useSelection } from "../../parts/selection.tsx"
import { admin } from "../../texts/admin.ts"
import { t } from "../../texts.ts"
import { DiskThings, diskText } from "../disk.tsx"
import { AdminHead } from "./admin-head.tsx"

const texts = admin.quotas

/** Resources by their names in the operations. */
const resources = [
  ["Ranges", texts.units.ranges],
  ["VMs", texts.units.vms],
  ["CPU", texts.units.cpus],
  ["RAM", texts.units.ram],
] as const

interface Subject {
  readonly of: "users" | "groups"
  readonly names: readonly string[]
}

const SetLimits = ({ subject, onClose }: { readonly subject: Subject | undefined; readonly onClose: () => void }) => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    if (subject === undefined) return
    const { text } = submitted(event)
    const limits = (prefix: string): Readonly<Record<string, number>> =>
      Object.fromEntries(
        resources.flatMap(([name]) => {
          const value = text(name).trim()
          return value === "" ? [] : [[`${prefix}${name}`, Number(value)]]
        }),
      )
    void doing
      .run(() =>
        subject.of === "users"
          ? changeText("PUT", "/user/quotas", {}, { userIDs: subject.names, ...limits("quota") })
          : changeText("PUT", "/groups/quotas", {}, { groupNames: subject.names, ...limits("defaultQuota") }),
      )
      .then((done) => done && onClose())
  }
  return (
    <Dialog title={texts.setTitle(subject?.names.join(", ") ?? "")} open={subject !== undefined} onClose={onClose}>
      <form onSubmit={submit}>
        <p class="muted">{texts.setHint}</p>
        {resources.map(([name, label]) => (
          <Field key={name} label={label}>
            {(ids) => <input {...ids} name={name} type="number" min={0} step={1} inputMode="numeric" autocomplete="off" />}
          </Field>
        ))}
        <FormEnd doing={doing} action={texts.save} onClose={onClose} />
      </form>
    </Dialog>
  )
}

const Amount = ({ used, limit, source }: { readonly used: number; readonly limit: number; readonly source: string }) => (
  <>
    <span class={limit > 0 && used >= limit ? "full" : undefined}>{texts.used(used, limit)}</span>
    {source === "" ? null : <span class="sub">{source}</span>}
  </>
)

const Disk = ({ userID, usedDiskBytes: used, limitDiskBytes: limit }: QuotaOfUser) => (
  <>
    <span class={limit > 0 && used !== undefined && used >= limit ? "full" : undefined}>{diskText(used, limit)}</span>
    {used === 0 ? null : <DiskThings userID={userID} />}
  </>
)

const Users = ({ choose }: { readonly choose: (subject: Subject) => void }) => {
  const users = useRead<readonly QuotaOfUser[]>("/user/quotas/all")
  const selection = useSelection()
  const data = users.data.value
  const ids = data?.map(({ userID }) => userID) ?? []
  const chosen = selection.of(ids)
  const { columns, sources } = texts
  return (
    <section aria-labelledby="users">
      <div class="summary">
        <h2 id="users">{texts.users}</h2>
        <div class="actions">
          <Tick selection={selection} keys={ids} label={texts.selectAll} />
          <span class="muted" role="status">
            {chosen.length === 0 ? texts.selectAll : texts.chosen(chosen.length)}
          </span>
          <button type="button" disabled={chosen.length === 0} onClick={() => choose({ of: "users", names: chosen })}>
            {texts.set}
          </button>
        </div>
      </div>
      <Unread of={users} />
      {data?.length === 0 ? <Empty title={texts.emptyUsers} /> : null}
      {data === undefined || data.length === 0 ? null : (
        <CardTable columns={Object.values(columns)}>
          {data.map((user) => (
            <tr key={user.userID}>
              <th scope="row">
                <Tick selection={selection} keys={[user.userID]} label={texts.select(user.userID)} />
                <Text>{user.userID}</Text>
                <span class="sub">
                  <Text>{user.name}</Text>
                </span>
              </th>
              <td data-label={columns.ranges}>
                <Amount used={user.usedRanges} limit={user.limitRanges} source={sources[user.sourceRanges]} />
              </td>
              <td data-label={columns.vms}>
                <Amount used={user.usedVMs} limit={user.limitVMs} source={sources[user.sourceVMs]} />
              </td>
              <td data-label={columns.cpus}>
                <Amount used={user.usedCPU} limit={user.limitCPU} source={sources[user.sourceCPU]} />
              </td>
              <td data-label={columns.ram}>
                <Amount used={user.usedRAM} limit={user.limitRAM} source={sources[user.sourceRAM]} />
              </td>
              <td data-label={columns.disk}>
                <Disk {...user} />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </section>
  )
}

const limitText = (limit: number, none: string): string => (limit === 0 ? none : `${limit}`)

const Groups = ({ choose }: { readonly choose: (subject: Subject) => void }) => {
  const groups = useRead<readonly GroupLimits[]>("/groups/quotas")
  const data = groups.data.value
  const columns = texts.groupColumns
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">{texts.groups}</h2>
      <Unread of={groups} />
      {data?.length === 0 ? <Empty title={texts.emptyGroups} /> : null}
      {data === undefined || data.length === 0 ? null : (
        <CardTable columns={[...Object.values(columns), t.range.columns.actions]}>
          {data.map((group) => (
            <tr key={group.name}>
              <th scope="row">
                <Text>{group.name}</Text>
              </th>
              <td data-label={columns.people}>{group.memberCount}</td>
              <td data-label={columns.ranges}>{limitText(group.defaultQuotaRanges, t.none)}</td>
              <td data-label={columns.vms}>{limitText(group.defaultQuotaVMs, t.none)}</td>
              <td data-label={columns.cpus}>{limitText(group.defaultQuotaCPU, t.none)}</td>
              <td data-label={columns.ram}>{limitText(group.defaultQuotaRAM, t.none)}</td>
              <td class="row-actions">
                <button
                  type="button"
                  class="small"
                  aria-label={`${texts.set} ${group.name}`}
                  onClick={() => choose({ of: "groups", names: [group.name] })}
                >
                  {texts.set}
                </button>
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </section>
  )
}

export const QuotasPage = () => {
  const defaults = useRead<QuotaAmounts>("/user/quotas/defaults")
  const subject = useSignal<Subject | undefined>(undefined)
  const data = defaults.data.value
  const choose = (next: Subject): void => void (subject.value = next)
  return (
    <>
      <AdminHead title={texts.title} lead={texts.intro} />
      {data === undefined ? null : (
        <p class="intro">
          {texts.defaults(
            resources.map(([name, label]) => `${label} ${limitText(data[`limit${name}`], texts.noLimit)}`).join("; "),
          )}{" "}
          {texts.disk(data.limitDiskBytes === 0 ? texts.noLimit : bytes(data.limitDiskBytes))}
        </p>
      )}
      <Users choose={choose} />
      <Groups choose={choose} />
      <SetLimits subject={subject.value} onClose={() => (subject.value = undefined)} />
    </>
  )
}
