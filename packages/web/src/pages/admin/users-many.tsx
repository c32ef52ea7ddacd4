import type { GroupAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change, Refusal, save } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { BulkReport, useBulk } from "../../parts/bulk.tsx"
import { Dialog, Field, FormEnd, Outcome, useDoing } from "../../parts/parts.tsx"
import { inGroup } from "../../parts/groups.ts"
import { admin } from "../../texts/admin.ts"
import { t } from "../../texts.ts"
import { invite } from "./invites.ts"
import { type NewUser, newUsers, withoutUsers } from "./roster.ts"

const texts = admin.users

type Added = NewUser & { readonly apiKey: string }

const file = (name: string, head: string, lines: readonly string[]): Promise<void> =>
  save(name, new Blob([[head, ...lines, ""].join("\n")], { type: "text/csv" }))

/** What the users need to sign in, as files. */
const Credentials = ({ added, isBusy }: { readonly added: readonly Added[]; readonly isBusy: boolean }) => {
  const doing = useDoing()
  const saveInvites = async (): Promise<undefined> => {
    const lines = (await invite(added.map(({ userID }) => userID))).map(
      ({ userID, email, address }) => `${userID},${email},${address}`,
    )
    await file("invitations.csv", "userID,email,invitation", lines)
    return undefined
  }
  const saveKeys = (): Promise<void> =>
    file(
      "keys.csv",
      "userID,email,apiKey",
      added.map(({ userID, email, apiKey }) => `${userID},${email},${apiKey}`),
    )
  return (
    <>
      <p class="muted">{texts.manyKeysText}</p>
      <Outcome doing={doing} />
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={() => void saveKeys()}>
          {texts.manyKeys}
        </button>
        <button type="button" class="primary" disabled={doing.busy || isBusy} onClick={() => void doing.run(saveInvites)}>
          {texts.manyInvites}
        </button>
      </div>
    </>
  )
}

/** Adds a list of users and puts them into a group. Failures are reported for each; the others are added all the same. */
export const AddMany = ({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) => {
  const groups = useRead<readonly GroupAnswer[]>(open ? "/groups" : undefined)
  /** What was typed, without the users that were added. */
  const list = useSignal("")
  const group = useSignal("")
  const keys = useSignal<readonly Added[]>([])
  const doing = useDoing()
  const bulk = useBulk()
  const isBusy = doing.busy || bulk.isBusy
  const rows = bulk.rows.value
  const isLeft = rows.some(({ phase }) => phase === "failed")
  const toList = (): void => {
    const done = rows.filter(({ phase }) => phase === "done").map(({ task }) => task.key)
    list.value = withoutUsers(list.peek(), done)
    bulk.clear()
  }
  const close = (): void => {
    if (isBusy) return
    toList()
    keys.value = []
    onClose()
  }
  const add = async (user: NewUser, groupName: string): Promise<string> => {
    // a user created by an earlier try is only added to the group
    if (!keys.peek().some(({ userID }) => userID === user.userID)) {
      const { apiKey } = await change<{ readonly apiKey: string }>("POST", "/user", {}, user)
      keys.value = [...keys.peek(), { ...user, apiKey }]
    }
    if (groupName !== "") await inGroup("POST", "/groups/{groupName}/users", groupName, { userIDs: [user.userID] })
    return texts.manySaid(user.email)
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const groupName = group.peek()
    void doing.run(async () => {
      const { users, wrong } = newUsers(list.peek())
      if (wrong.length > 0) throw new Refusal(0, wrong.map(texts.badLine).join("\n"))
      await bulk.start(users.map((user) => ({ key: user.userID, act: () => add(user, groupName) })))
      return undefined
    })
  }
  return (
    <Dialog title={texts.manyTitle} open={open} stays={isBusy || keys.value.length > 0} onClose={close} wide>
      {rows.length > 0 ? <BulkReport bulk={bulk} title={texts.manyReport} closes={false} /> : null}
      {keys.value.length > 0 ? <Credentials added={keys.value} isBusy={isBusy} /> : null}
      {rows.length > 0 ? (
        <div class="actions end">
          {isLeft ? (
            <button type="button" disabled={isBusy} onClick={toList}>
              {texts.manyChange}
            </button>
          ) : null}
          <button type="button" disabled={isBusy} onClick={close}>
            {t.close}
          </button>
        </div>
      ) : (
        <form onSubmit={submit}>
          <Field label={texts.list} hint={texts.manyHint}>
            {(ids) => (
              <textarea
                {...ids}
                rows={8}
                required
                spellcheck={false}
                placeholder="JO,Jo Doe,jo@lab.example"
                value={list.value}
                onInput={({ currentTarget }) => (list.value = currentTarget.value)}
              />
            )}
          </Field>
          <Field label={texts.manyGroup}>
            {(ids) => (
              <select {...ids} value={group.value} onChange={({ currentTarget }) => (group.value = currentTarget.value)}>
                <option value="">{texts.noGroup}</option>
                {(groups.data.value ?? []).map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <FormEnd doing={doing} action={texts.manyTitle} cancel={keys.value.length > 0 ? t.close : t.cancel} onClose={close} />
        </form>
      )}
    </Dialog>
  )
}
