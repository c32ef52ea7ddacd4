import * as AST from "effect/SchemaAST"

/** Renames the members of a JSON value to the names in a schema. */
export type Fold = (value: unknown) => unknown

const identity: Fold = (value) => value
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Members known to any of the union's alternatives. */
const membersOf = (asts: readonly AST.AST[]) => {
  const members = new Map<string, { readonly name: string; readonly fold: Fold }>()
  for (const ast of asts)
    if (AST.isObjects(ast))
      for (const { name, type } of ast.propertySignatures)
        if (typeof name === "string" && !members.has(name.toLowerCase()))
          members.set(name.toLowerCase(), { name, fold: foldOf(type) })
  return members
}

const alternatives = (ast: AST.AST): readonly AST.AST[] => {
  if (AST.isSuspend(ast)) return alternatives(ast.thunk())
  return AST.isUnion(ast) ? ast.types.flatMap(alternatives) : [ast]
}

/** Whether the schema accepts objects without declaring their members. */
const isOpen = (ast: AST.AST): boolean =>
  AST.isUnknown(ast) || AST.isAny(ast) || AST.isObjectKeyword(ast) || AST.isDeclaration(ast)

const foldObject = (asts: readonly AST.AST[]): Fold => {
  if (asts.some(isOpen)) return identity
  const members = membersOf(asts)
  const further = asts.flatMap((ast) => (AST.isObjects(ast) ? ast.indexSignatures.map((s) => foldOf(s.type)) : []))[0]
  return (value) => {
    if (!isRecord(value)) return value
    const folded: Record<string, unknown> = {}
    for (const [key, part] of Object.entries(value)) {
      const member = members.get(key.toLowerCase())
      // null counts as absent
      if (member !== undefined && part === null) delete folded[member.name]
      else if (member !== undefined) folded[member.name] = member.fold(part)
      else if (further !== undefined) folded[key] = further(part)
    }
    return folded
  }
}

const foldArray = (asts: readonly AST.AST[]): Fold => {
  const item = asts.flatMap((ast) => (AST.isArrays(ast) ? [...ast.elements, ...ast.rest].map(foldOf) : []))[0] ?? identity
  return (value) => (value as readonly unknown[]).map(item)
}

/** Created at first use: a schema may contain itself. */
const foldOf = (ast: AST.AST): Fold => {
  let fold: Fold | undefined
  const make = (): Fold => {
    const asts = alternatives(ast)
    const object = foldObject(asts)
    const array = foldArray(asts)
    return (value) => (Array.isArray(value) ? array(value) : object(value))
  }
  return (value) => (typeof value === "object" && value !== null ? (fold ??= make())(value) : value)
}

/**
 * Member names match in any letter case, all the way down the schema, and the last of two matching ones counts: `vmIDs` must never be taken
 * for "no vmids, so all of them". Unknown members and nulls are dropped.
 */
export const foldKeys = (schema: { readonly ast: AST.AST }): Fold => foldOf(AST.toEncoded(schema.ast))
