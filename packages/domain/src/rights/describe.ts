import { type AccessChange, placeText, type RevokedSubject, subjectName } from "./model.ts"

const revokedText = (subject: RevokedSubject): string =>
  subject.roles === undefined ? subjectName(subject) : `${subjectName(subject)} (${subject.roles.join(", ")})`

/** Describes a change for display: `Revoke rights on pool LAB from user alice@pve (PVEVMAdmin)`. */
export const changeText = (change: AccessChange): string => {
  switch (change.kind) {
    case "revoke":
      return `Revoke rights on ${placeText(change.place)} from ${change.subjects.map(revokedText).join(", ")}`
    case "leave-groups":
      return `Remove ${change.account} from ${change.groups.join(", ")}`
    case "remove-account":
      return `Remove account ${change.account}`
    case "remove-group":
      return `Remove group ${change.group}`
    case "remove-pool":
      return `Remove pool ${change.rangeId}`
    case "create-group":
      return `Create group ${change.group}`
    case "create-account":
      return `Create account ${change.account}`
    case "join-groups":
      return `Add ${change.account} to ${change.groups.join(", ")}`
    case "set-password":
      return `Set the password of ${change.account}`
    case "restore":
      return `Restore the rights that others gave ${change.account}`
    case "create-pool":
      return `Create pool ${change.rangeId}`
    case "grant":
      return `Grant rights on ${placeText(change.place)} to ${change.groups.join(", ")}`
  }
}

/** The same, phrased to follow "cannot": `revoke rights on pool LAB from user alice@pve`. */
export const changeDoing = (change: AccessChange): string => {
  const text = changeText(change)
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}
