import type { GroupAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change, Refusal, save } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { BulkReport, useBulk } from "../../parts/bulk.tsx"
import { submitted } from "../../parts/form.ts"
import { Dialog, Field, FormEnd, Outcome, useDoing } from "../../parts/parts.tsx"
import { inGroup } from "../../parts/groups.ts"
import { admin } from "../../texts/admin.ts"
import { invite } from "./invites.ts"
import { type NewUser, newUsers } from "./roster.ts"

const texts = admin.users

/** Adds a list of users and puts them into a group. Failures are reported for each; the others are added all the same. */
export const AddMany = ({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) => {
  const groups = useRead<readonly GroupAnswer[]>(open ? "/groups" : undefined)
  const keys = useSignal<readonly (NewUser & { readonly apiKey: string })[]>([])
  const doing = useDoing()
  const bulk = useBulk()
  const close = (): void => {
    bulk.clear()
    keys.value = []
    onClose()
  }
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    const group = text("group")
    void doing.run(async () => {
      const { users, wrong } = newUsers(text("list"))
      if (wrong.length > 0) throw new Refusal(0, wrong.map(texts.badLine).join("\n"))
      const added = new Set<string>()
      await bulk.start(
        users.map((user) => ({
          key: user.userID,
          act: async () => {
            // a user created by an earlier try is only added to the group
            if (!added.has(user.userID)) {
              const { apiKey } = await change<{ readonly apiKey: string }>("POST", "/user", {}, user)
              added.add(user.userID)
              keys.value = [...keys.peek(), { ...user, apiKey }]
            }
            if (group !== "") await inGroup("POST", "/groups/{groupName}/users", group, { userIDs: [user.userID] })
            return texts.manySaid(user.email)
          },
        })),
      )
      return undefined
    })
  }
  const added = keys.value.map(({ userID }) => userID)
  const file = (name: string, head: string, lines: readonly string[]): Promise<void> =>
    save(name, new Blob([[head, ...lines, ""].join("\n")], { type: "text/csv" }))
  const saveInvites = async (): Promise<undefined> => {
    const lines = (await invite(added)).map(({ userID, email, address }) => `${userID},${email},${address}`)
    await file("invitations.csv", "userID,email,invitation", lines)
    return undefined
  }
  const saveKeys = (): Promise<void> =>
    file(
      "keys.csv",
      "userID,email,apiKey",
      keys.value.map(({ userID, email, apiKey }) => `${userID},${email},${apiKey}`),
    )
  const isBegun = bulk.rows.value.length > 0
  return (
    <Dialog title={texts.manyTitle} open={open} onClose={close} wide>
      {isBegun ? (
        <>
          <BulkReport bulk={bulk} title={texts.manyReport} />
          <p class="muted">{texts.manyKeysText}</p>
          <Outcome doing={doing} />
          <div class="actions end">
            <button type="button" disabled={bulk.isBusy || added.length === 0} onClick={() => void saveKeys()}>
              {texts.manyKeys}
            </button>
            <button
              type="button"
              class="primary"
              disabled={doing.busy || bulk.isBusy || added.length === 0}
              onClick={() => void doing.run(saveInvites)}
            >
              {texts.manyInvites}
            </button>
          </div>
        </>
      ) : (
        <form onSubmit={submit}>
          <Field label={texts.list} hint={texts.manyHint}>
            {(ids) => (
              <textarea {...ids} name="list" rows={8} required spellcheck={false} placeholder="JO,Jo Doe,jo@lab.example" />
            )}
          </Field>
          <Field label={texts.manyGroup}>
            {(ids) => (
              <select {...ids} name="group">
                <option value="">{texts.noGroup}</option>
                {(groups.data.value ?? []).map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <FormEnd doing={doing} action={texts.manyTitle} onClose={close} />
        </form>
      )}
    </Dialog>
  )
}
