/** Names that Proxmox allows. None contains a comma, so a list of them cannot be misread as having more entries. */
const userName = /^[^\s:/,;\p{C}]+@[A-Za-z][A-Za-z0-9._-]+$/u
const plainName = /^[A-Za-z0-9._-]+$/u

export const isAccountName = (text: string): boolean => text.length <= 64 && userName.test(text)
export const isGroupName = (text: string): boolean => plainName.test(text)
export const isRoleName = (text: string): boolean => plainName.test(text)

/** `alice@pve!name`. */
export const isTokenName = (text: string): boolean => {
  const at = text.lastIndexOf("!")
  return isAccountName(text.slice(0, Math.max(at, 0))) && plainName.test(text.slice(at + 1))
}
