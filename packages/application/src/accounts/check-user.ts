import { isReservedUserId, isUserId, passwordProblem, type FaultIssue } from "@rangewright/domain"

/** The input for a new user, unchecked. */
export interface UserDraft {
  readonly userId: string
  readonly name: string
  readonly email: string
  /** Absent or empty: a random one is made. */
  readonly password: string | undefined
}

// a local part, one @, a domain with a dot: catches mistakes without refusing an address that mail servers accept
const emailPattern = /^[^\s@"<>(),;:\\[\]]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/u

/** All problems of the input for a new user. */
export const checkUserDraft = (draft: UserDraft): readonly FaultIssue[] => {
  const issues: FaultIssue[] = []
  const issue = (path: string, message: string, allowed?: string) =>
    issues.push(allowed === undefined ? { path, message } : { path, message, allowed })
  if (draft.name.trim() === "") issue("name", "a name is needed")
  else if (draft.name.length > 255) issue("name", "the name is longer than 255 characters")
  if (draft.userId === "") issue("userID", "a user ID is needed")
  else if (isReservedUserId(draft.userId)) issue("userID", `the user ID ${draft.userId} is reserved`)
  else if (!isUserId(draft.userId))
    issue("userID", "the user ID is not allowed", "a letter, then letters and digits, 20 characters at most")
  if (draft.email === "") issue("email", "an e-mail address is needed")
  else if (draft.email.length > 254 || !emailPattern.test(draft.email))
    issue("email", "this is not an email address", "name@example.com")
  if (draft.password !== undefined && draft.password !== "") {
    const problem = passwordProblem(draft.password, [draft.userId, draft.name, draft.email])
    if (problem !== undefined) issue("password", problem)
  }
  return issues
}
