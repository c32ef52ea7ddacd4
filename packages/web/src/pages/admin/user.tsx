import type { MembershipAnswer, UserItem } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { changeText } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { me } from "../../me.ts"
import { submitted } from "../../parts/form.ts"
import { Unread } from "../../parts/list.tsx"
import { Confirm, Dialog, Empty, FormEnd, Outcome, State, Text, Time, useDoing, useQuestion } from "../../parts/parts.tsx"
import { Secret } from "../../parts/secret.tsx"
import { linkTo } from "../../links.ts"
import { admin } from "../../texts/admin.ts"
import { t } from "../../texts.ts"
import { AdminHead } from "./admin-head.tsx"
import { invite } from "./invites.ts"

const texts = admin.users

const Remove = ({ id, open, onClose }: { readonly id: string; readonly open: boolean; readonly onClose: () => void }) => {
  const doing = useDoing()
  const submit = (event: SubmitEvent): void => {
    const withRange = submitted(event).has("range")
    void doing.run(
      () => changeText("DELETE", "/user/{userID}", { userID: id, ...(withRange ? { deleteDefaultRange: true } : {}) }),
      "/admin/users",
    )
  }
  return (
    <Dialog title={texts.removeTitle(id)} open={open} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{texts.removeText}</p>
        <label class="check">
          <input type="checkbox" name="range" />
          {texts.removeRange}
        </label>
        <FormEnd doing={doing} action={texts.remove} danger onClose={onClose} />
      </form>
    </Dialog>
  )
}

const Belongs = ({ id }: { readonly id: string }) => {
  const groups = useRead<readonly MembershipAnswer[]>("/user/memberships", { userID: id })
  const ranges = useRead<readonly { readonly rangeID: string; readonly accessType?: string }[]>("/ranges/accessible", {
    userID: id,
  })
  return (
    <div class="grid">
      <section class="card" aria-labelledby="groups">
        <h2 id="groups">{texts.groups}</h2>
        <Unread of={groups} />
        {groups.data.value?.length === 0 ? <p class="muted">{texts.noGroups}</p> : null}
        <ul class="plain lines">
          {(groups.data.value ?? []).map(({ groupName, role }) => (
            <li key={groupName}>
              <a href={linkTo("classes", groupName)}>
                <Text>{groupName}</Text>
              </a>
              <span class="muted">{texts.roles[role]}</span>
            </li>
          ))}
        </ul>
      </section>
      <section class="card" aria-labelledby="ranges">
        <h2 id="ranges">{texts.ranges}</h2>
        <Unread of={ranges} />
        {ranges.data.value?.length === 0 ? <p class="muted">{texts.noRanges}</p> : null}
        <ul class="plain lines">
          {(ranges.data.value ?? []).map(({ rangeID, accessType }) => (
            <li key={rangeID}>
              <a href={linkTo("ranges", rangeID)}>
                <Text>{rangeID}</Text>
              </a>
              <span class="muted">
                <Text>{accessType ?? ""}</Text>
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}

export const UserPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const users = useRead<readonly UserItem[]>("/user/all")
  const doing = useDoing()
  const question = useQuestion()
  const removing = useSignal(false)
  const link = useSignal<string | undefined>(undefined)
  const user = users.data.value?.find(({ userID }) => userID === id)
  const isMe = me.value?.userID === id
  if (user === undefined)
    return (
      <>
        <AdminHead title={<Text>{id}</Text>} />
        {users.data.value === undefined ? <Unread of={users} /> : <Empty title={texts.unknown(id)} />}
      </>
    )
  const rights = (): void => {
    const isAdmin = !user.isAdmin
    question.value = {
      title: isAdmin ? texts.makeAdminTitle(id) : texts.endAdminTitle(id),
      text: isAdmin ? texts.makeAdminText : texts.endAdminText,
      action: isAdmin ? texts.makeAdmin : texts.endAdmin,
      danger: true,
      act: () => void doing.run(() => changeText("PUT", "/user/{userID}/admin", { userID: id }, { isAdmin })),
    }
  }
  const askInvite = (): void => {
    question.value = {
      title: texts.inviteTitle(id),
      text: texts.inviteText,
      action: texts.invite,
      act: () =>
        void doing.run(async () => {
          link.value = (await invite([id]))[0]?.address
          return undefined
        }),
    }
  }
  return (
    <>
      <AdminHead
        title={
          <>
            <Text>{id}</Text>
            {user.isAdmin ? <State tone="warn">{texts.admin}</State> : null}
          </>
        }
        lead={<Text>{user.name}</Text>}
      >
        {isMe ? undefined : (
          <>
            <button type="button" disabled={doing.busy} onClick={askInvite}>
              {texts.invite}
            </button>
            <button type="button" disabled={doing.busy} onClick={rights}>
              {user.isAdmin ? texts.endAdmin : texts.makeAdmin}
            </button>
            <button type="button" class="danger" disabled={doing.busy} onClick={() => (removing.value = true)}>
              {texts.remove}
            </button>
          </>
        )}
      </AdminHead>
      <Outcome doing={doing} />
      {link.value === undefined ? null : (
        <section class="card" aria-label={texts.link}>
          <Secret label={texts.link} value={link.value} />
          <p class="hint">{texts.linkHint}</p>
        </section>
      )}
      <Belongs id={id} />
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">{texts.facts}</h2>
        <dl class="facts">
          <dt>{texts.number}</dt>
          <dd>{user.userNumber}</dd>
          <dt>{texts.account}</dt>
          <dd class="mono">
            <Text>{user.proxmoxUsername ?? t.none}</Text>
          </dd>
          <dt>{texts.columns.active}</dt>
          <dd>
            <Time at={user.dateLastActive} />
          </dd>
          <dt>{texts.columns.since}</dt>
          <dd>
            <Time at={user.dateCreated} />
          </dd>
        </dl>
      </section>
      <Remove id={id} open={removing.value} onClose={() => (removing.value = false)} />
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
