import type { GroupMemberAnswer, Range } from "@rangewright/application/wire"
import type { Resource } from "../../api/resource.ts"
import { submitted } from "../../parts/form.ts"
import { inGroup } from "../../parts/groups.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Confirm, Empty, Field, Outcome, Text, useDoing, useQuestion } from "../../parts/parts.tsx"
import { RangeName } from "../../range/range-name.tsx"
import { classes as texts } from "../../texts/classes.ts"
import { t } from "../../texts.ts"

const idsOf = (text: string): readonly string[] => text.split(/[\s,;]+/u).filter(Boolean)

const Remove = ({ id, isBusy, remove }: { readonly id: string; readonly isBusy: boolean; readonly remove: () => void }) => (
  <button type="button" class="small" disabled={isBusy} aria-label={`${texts.remove}: ${id}`} onClick={remove}>
    {texts.remove}
  </button>
)

/** Members of the class, and its ranges. */
export const ClassPeople = ({
  group,
  members,
  ranges,
}: {
  readonly group: string
  readonly members: Resource<readonly GroupMemberAnswer[]>
  readonly ranges: Resource<readonly Range[]>
}) => {
  const doing = useDoing()
  const question = useQuestion()
  const add = (kind: "users" | "ranges") => (event: SubmitEvent) => {
    const { form, text, has } = submitted(event)
    const ids = idsOf(text("ids"))
    void doing
      .run(async () =>
        texts.added(
          kind === "users"
            ? await inGroup("POST", "/groups/{groupName}/users", group, {
                userIDs: ids,
                ...(has("managers") ? { managers: ids } : {}),
              })
            : await inGroup("POST", "/groups/{groupName}/ranges", group, { rangeIDs: ids }),
        ),
      )
      .then((done) => done && form.reset())
  }
  const remove = (kind: "users" | "ranges", id: string): void => {
    question.value = {
      title: kind === "users" ? texts.removePerson(id, group) : texts.removeRange(id, group),
      text: kind === "users" ? texts.removePersonText : texts.removeRangeText,
      action: texts.remove,
      danger: true,
      act: () =>
        void doing.run(async () =>
          texts.removed(
            kind === "users"
              ? await inGroup("DELETE", "/groups/{groupName}/users", group, { userIDs: [id] })
              : await inGroup("DELETE", "/groups/{groupName}/ranges", group, { rangeIDs: [id] }),
          ),
        ),
    }
  }
  const people = members.data.value
  return (
    <>
      <Outcome doing={doing} />
      <div class="columns">
        <div>
          <section aria-label={texts.tabs.people}>
            <Unread of={members} />
            {people?.length === 0 ? <Empty title={texts.nobody} /> : null}
            {people === undefined || people.length === 0 ? null : (
              <CardTable columns={[texts.peopleColumns.user, texts.peopleColumns.role, t.range.columns.actions]}>
                {people.map(({ userID, name, role }) => (
                  <tr key={userID}>
                    <th scope="row">
                      <Text>{userID}</Text>
                      <span class="sub">
                        <Text>{name}</Text>
                      </span>
                    </th>
                    <td data-label={texts.peopleColumns.role}>{texts.roles[role]}</td>
                    <td class="row-actions">
                      <Remove id={userID} isBusy={doing.busy} remove={() => remove("users", userID)} />
                    </td>
                  </tr>
                ))}
              </CardTable>
            )}
          </section>
          <section aria-labelledby="class-ranges">
            <h2 id="class-ranges">{texts.classRanges}</h2>
            {ranges.data.value?.length === 0 ? <Empty title={texts.noRanges} /> : null}
            {(ranges.data.value ?? []).length === 0 ? null : (
              <CardTable columns={[texts.peopleColumns.range, t.range.columns.actions]}>
                {(ranges.data.value ?? []).map(({ rangeID, name }) => (
                  <tr key={rangeID}>
                    <RangeName rangeID={rangeID} name={name} />
                    <td class="row-actions">
                      <Remove id={rangeID} isBusy={doing.busy} remove={() => remove("ranges", rangeID)} />
                    </td>
                  </tr>
                ))}
              </CardTable>
            )}
          </section>
        </div>
        <aside>
          <form class="card" onSubmit={add("users")}>
            <Field label={texts.addPeople} hint={texts.addPeopleHint}>
              {(ids) => <input {...ids} name="ids" required autocomplete="off" autocapitalize="characters" spellcheck={false} />}
            </Field>
            <label class="check">
              <input type="checkbox" name="managers" />
              {texts.asManagers}
            </label>
            <p>
              <button type="submit" disabled={doing.busy}>
                {texts.add}
              </button>
            </p>
          </form>
          <form class="card" onSubmit={add("ranges")}>
            <Field label={texts.addRanges} hint={texts.addRangesHint}>
              {(ids) => <input {...ids} name="ids" required autocomplete="off" autocapitalize="characters" spellcheck={false} />}
            </Field>
            <button type="submit" disabled={doing.busy}>
              {texts.add}
            </button>
          </form>
        </aside>
      </div>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
