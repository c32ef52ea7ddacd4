export interface NewUser {
  readonly userID: string
  readonly name: string
  readonly email: string
}

/** Cells of a line that was typed or copied from a spreadsheet. */
const cellsOf = (line: string): readonly string[] =>
  line.split(line.includes("\t") ? "\t" : /[,;]/u).map((cell) => cell.trim().replace(/^"(.*)"$/u, "$1"))

/** Parses a list with a line for each user: user ID, name, email. `wrong`: numbers of incomplete lines, from 1. */
export const newUsers = (list: string): { readonly users: readonly NewUser[]; readonly wrong: readonly number[] } => {
  const users: NewUser[] = []
  const wrong: number[] = []
  for (const [at, line] of list.split(/\r?\n/u).entries()) {
    if (line.trim() === "") continue
    const [userID = "", name = "", email = ""] = cellsOf(line)
    if (userID === "" || name === "" || !email.includes("@")) wrong.push(at + 1)
    else users.push({ userID, name, email })
  }
  return { users, wrong }
}

/** The lines of the list that are not about these users. */
export const withoutUsers = (list: string, userIDs: readonly string[]): string =>
  list
    .split(/\r?\n/u)
    .filter((line) => !newUsers(line).users.some(({ userID }) => userIDs.includes(userID)))
    .join("\n")
