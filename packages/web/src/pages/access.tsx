import type { GroupAnswer, UserItem } from "@rangewright/application/wire"
import { changeText } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { submitted } from "../parts/form.ts"
import { plain } from "../parts/format.ts"
import { inGroup } from "../parts/groups.ts"
import { CardTable, Unread } from "../parts/list.tsx"
import { Confirm, Empty, Field, Outcome, Text, useDoing, useQuestion } from "../parts/parts.tsx"
import { RangeHead, useRange } from "../range/range-head.tsx"
import { admin } from "../texts/admin.ts"
import { t } from "../texts.ts"

const texts = admin.access

interface Grant {
  readonly userID: string
  readonly name: string
  readonly accessType: keyof typeof texts.types
}

const Pick = ({
  label,
  options,
}: {
  readonly label: string
  readonly options: readonly (readonly [value: string, text: string])[]
}) => (
  <Field label={label}>
    {(ids) => (
      <select {...ids} name="who" required>
        <option value="">{t.pick}</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {plain(text)}
          </option>
        ))}
      </select>
    )}
  </Field>
)

export const AccessPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const rangeID = values["id"] ?? ""
  const view = useRange(rangeID)
  const grants = useRead<readonly Grant[]>("/ranges/{rangeID}/users", { rangeID })
  const users = useRead<readonly UserItem[]>("/user/all")
  const groups = useRead<readonly GroupAnswer[]>("/groups")
  const doing = useDoing()
  const question = useQuestion()
  const data = grants.data.value
  const has = new Set(data?.map(({ userID }) => userID))
  const share = (event: SubmitEvent): void => {
    const userID = submitted(event).text("who")
    void doing.run(() => changeText("POST", "/ranges/assign/{userID}/{rangeID}", { userID, rangeID }))
  }
  const shareGroup = (event: SubmitEvent): void => {
    const group = submitted(event).text("who")
    void doing.run(() => inGroup("POST", "/groups/{groupName}/ranges", group, { rangeIDs: [rangeID] }))
  }
  const revoke = (userID: string): void => {
    question.value = {
      title: texts.revokeTitle(userID, rangeID),
      text: texts.revokeText,
      action: texts.revoke,
      danger: true,
      act: () => void doing.run(() => changeText("DELETE", "/ranges/revoke/{userID}/{rangeID}", { userID, rangeID })),
    }
  }
  return (
    <>
      <RangeHead id={rangeID} view={view} />
      <p class="intro">{texts.intro}</p>
      <Outcome doing={doing} />
      <div class="columns">
        <section aria-label={texts.title}>
          <Unread of={grants} />
          {data?.length === 0 ? <Empty title={texts.empty} /> : null}
          {data === undefined || data.length === 0 ? null : (
            <CardTable columns={[...Object.values(texts.columns), t.range.columns.actions]}>
              {data.map(({ userID, name, accessType }) => (
                <tr key={`${userID} ${accessType}`}>
                  <th scope="row">
                    <Text>{userID}</Text>
                    <span class="sub">
                      <Text>{name}</Text>
                    </span>
                  </th>
                  <td data-label={texts.columns.by}>
                    {texts.types[accessType]}
                    {accessType === "Direct" ? null : <span class="sub">{texts.byGroup}</span>}
                  </td>
                  <td class="row-actions">
                    {accessType === "Direct" ? (
                      <button
                        type="button"
                        class="small"
                        disabled={doing.busy}
                        aria-label={`${texts.revoke}: ${userID}`}
                        onClick={() => revoke(userID)}
                      >
                        {texts.revoke}
                      </button>
                    ) : null}
                  </td>
                </tr>
              ))}
            </CardTable>
          )}
        </section>
        <aside>
          <form class="card" onSubmit={share}>
            <Pick
              label={texts.share}
              options={(users.data.value ?? [])
                .filter(({ userID }) => !has.has(userID))
                .map(({ userID, name }) => [userID, `${userID} – ${name}`])}
            />
            <button type="submit" disabled={doing.busy}>
              {texts.share}
            </button>
          </form>
          <form class="card" onSubmit={shareGroup}>
            <Pick label={texts.shareGroup} options={(groups.data.value ?? []).map(({ name }) => [name, name])} />
            <button type="submit" disabled={doing.busy}>
              {texts.shareGroup}
            </button>
          </form>
        </aside>
      </div>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
