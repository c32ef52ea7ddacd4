import type { Operation } from "@rangewright/application"
import * as AST from "effect/SchemaAST"
import { expectedOf } from "./access-table.ts"
import { type Headers, statusOf } from "./ask.ts"
import { type Caller, callers, selectionOf, withKey, withToken } from "./callers.ts"
import { needsOf, needsRunning, sampleOf } from "./requests.ts"
import type { WholeService } from "./service.ts"

/** One request of the matrix. */
export interface Cell {
  readonly name: string
  readonly headers: Headers
  readonly query: string
  readonly body?: unknown
  readonly expected: number
  /** The operation has permitted effects before it is refused, and they stay. */
  readonly leavesTraces?: true
}

const isSuccess = (status: number): boolean => status < 300

/** All letter cases of a name, which mean the same. */
const anyCase = (name: string): readonly string[] => [
  name,
  name.toLowerCase(),
  name.toUpperCase(),
  `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
]

/** Names that people mistake for a selector; operations that change something refuse them. */
const wrongNames = {
  rangeID: [
    "range",
    "ranges",
    "id",
    "ID",
    "range_id",
    "range-id",
    "RANGE_ID",
    "range.id",
    "rangeID[]",
    "range_number",
    "rangeName",
  ],
  userID: ["user", "users", "user_id", "user-id", "USER_ID", "userID[]", "username", "userName", "uid"],
} as const

/** Selectors in bodies: the member, and the status for callers who name something that is not theirs. Null: it names a new object. */
const bodySelectors: Readonly<Record<string, readonly [name: string, foreign: string, expected: number] | null>> = {
  applyBlueprintToRange: ["rangeID", "R2", 403],
  createBlueprintFromRange: ["rangeID", "R2", 403],
  setDefaultRangeID: ["defaultRangeID", "R2", 403],
  postCredentials: ["userID", "AD", 403],
  // a read-only key cannot be limited to a range
  createScopedKey: ["rangeID", "R2", 400],
  addUser: null,
  createRange: null,
  // the address names the record; in its body these cannot be changed
  recordUpdateUser: null,
  recordUpdateRange: null,
}

const membersOf = ({ input: { body } }: Operation): readonly string[] => {
  if (body.type !== "json" && body.type !== "json-or-multipart") return []
  const ast = AST.toEncoded(body.schema.ast)
  return AST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

/** Invalid credentials; where none are needed, they do no harm. */
const ofCredentials = (operation: Operation, kinds: Readonly<Record<string, Headers>>): readonly Cell[] =>
  Object.entries(kinds).map(([name, headers]) => ({
    name,
    headers,
    query: "",
    expected: operation.access === "anonymous" ? expectedOf(operation, "member") : 401,
  }))

/** ROOT may fetch a source; only the fetched content shows roles, which ROOT cannot install. */
const isFetchedFirst = (operation: Operation, caller: Caller): boolean =>
  operation.id === "installSource" && caller === "root on R1"

/** The row of the table, with a key and with a token. */
const ofCallers = (service: WholeService, operation: Operation): readonly Cell[] =>
  callers.flatMap((caller) => {
    const traces = isFetchedFirst(operation, caller) ? ({ leavesTraces: true } as const) : {}
    const cell = { query: selectionOf(caller, operation), expected: expectedOf(operation, caller), ...traces }
    return [
      { ...cell, name: `${caller}, with a key`, headers: withKey(service, caller) },
      { ...cell, name: `${caller}, with a token`, headers: withToken(service, caller) },
    ]
  })

/** Selectors work in any letter case, and two different values for one are refused. */
const ofSelectors = (service: WholeService, operation: Operation): readonly Cell[] => {
  if (operation.access === "anonymous") return []
  const as = (caller: Caller, query: string, expected: number): Cell => ({
    name: `${caller} ?${query}`,
    headers: withKey(service, caller),
    query,
    expected,
  })
  const isAdmins = operation.access === "admin" && operation.alsoFor === undefined
  const refused = operation.statuses[403] === undefined ? 401 : 403
  const foreign = isAdmins ? refused : 403
  return [
    ...anyCase("rangeID").flatMap((name) => [
      as("member", `${name}=R2`, foreign),
      as("stranger", `${name}=R1`, foreign),
      as("admin as stranger", `userID=ST&${name}=R1`, 403),
      as("admin", `${name}=NONE`, 404),
      as("member", `rangeID=R1&${name}=R2`, 400),
      as("admin", `${name}=R1&rangeId=R2`, 400),
      as("member", `${name}=R2&rangeid=R2`, foreign),
    ]),
    ...anyCase("userID").flatMap((name) => [
      as("member", `${name}=AD`, 401),
      as("stranger", `${name}=ME`, 401),
      as("admin", `${name}=NOBODY`, 400),
      as("admin", `${name}=ME&userId=ST`, 400),
      as("admin as stranger", `${name}=ST&rangeID=R2`, 403),
    ]),
  ]
}

/** Other names: refused by operations that change something, ignored by the rest. */
const ofWrongNames = (service: WholeService, operation: Operation): readonly Cell[] =>
  Object.values(wrongNames)
    .flat()
    .filter((name) => !(name in operation.input.query))
    .flatMap((name) =>
      (["member", "admin", "stranger"] as const).map((caller) => {
        const query = `${encodeURIComponent(name)}=R2`
        const selected = selectionOf(caller, operation)
        return {
          name: `${caller} ?${query}`,
          headers: withKey(service, caller),
          query: operation.mutates || selected === "" ? query : `${selected}&${query}`,
          expected: operation.mutates ? 400 : expectedOf(operation, caller),
        }
      }),
    )

const ofBodies = (service: WholeService, operation: Operation): readonly Cell[] => {
  const selectors = membersOf(operation).filter((name) => /^(?:default)?(?:range|user)ID$/iu.test(name))
  if (selectors.length === 0) return []
  const known = bodySelectors[operation.id]
  if (known === undefined) throw new Error(`${operation.id} has no cells for ${selectors.join(" and ")} in its body`)
  if (known === null) return []
  const [name, foreign, expected] = known
  const { json } = sampleOf(operation, service.runId)
  const others = Object.fromEntries(Object.entries(json as object).filter(([key]) => key !== name))
  const cell = (member: string, status: number): Cell => ({
    name: `member {${member}: ${foreign}}`,
    headers: withKey(service, "member"),
    query: "",
    body: { ...others, [member]: foreign },
    expected: status,
  })
  const misspelt = [
    `${name.slice(0, -2)}_ID`,
    `${name.slice(0, -2)}-id`,
    ...(name.startsWith("default") ? [] : [name.slice(0, -2), "id"]),
  ]
  return [
    ...anyCase(name).map((member) => cell(member, expected)),
    ...misspelt.filter((member) => name === "rangeID" || member !== "id").map((member) => cell(member, 400)),
  ]
}

/** All cells of an operation. Throws if the operation lacks a cell that it needs. */
export const cellsOf = (
  service: WholeService,
  operation: Operation,
  kinds: Readonly<Record<string, Headers>>,
): readonly Cell[] => [
  ...ofCredentials(operation, kinds),
  ...ofCallers(service, operation),
  ...ofSelectors(service, operation),
  ...ofWrongNames(service, operation),
  ...ofBodies(service, operation),
]

/** Sends a cell's request and describes what is wrong with the answer. Changing operations get a service of their own from `fresh`. */
export const wrongWith = async (
  shared: WholeService,
  fresh: (needs: ReturnType<typeof needsOf>) => Promise<WholeService>,
  operation: Operation,
  cell: Cell,
): Promise<string | undefined> => {
  const isOwn = cell.leavesTraces ?? (isSuccess(cell.expected) && (operation.mutates || needsRunning(operation)))
  const service = isOwn ? await fresh(needsOf(operation)) : shared
  // keys differ between services
  const headers = isOwn ? reissued(cell.headers, shared, service) : cell.headers
  const status = await statusOf(service, operation, headers, cell.query, cell.body)
  if (isOwn) await service.stop()
  return status === cell.expected ? undefined : `${operation.id}, ${cell.name}: ${status} instead of ${cell.expected}`
}

const reissued = (headers: Headers, from: WholeService, to: WholeService): Headers => {
  const swap = (text: string): string => {
    for (const who of ["admin", "member", "stranger", "root"] as const)
      text = text.replaceAll(from.keys[who], to.keys[who]).replaceAll(from.tokens[who], to.tokens[who])
    return text
  }
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, swap(value)]))
}
