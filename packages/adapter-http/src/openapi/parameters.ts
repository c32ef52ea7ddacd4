import type { Operation, ParameterSchemas, WireSchema } from "@rangewright/application"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { NamedSchemas, SchemaObject } from "./schemas.ts"

/** A parameter is described by its decoded type; when that is not a single value, by the text that it is. */
const schemaOf = (schema: Schema.Constraint, { describe }: NamedSchemas): SchemaObject => {
  const type = Schema.toType(schema as WireSchema)
  const { ast } = type
  return AST.isString(ast) || AST.isNumber(ast) || AST.isBoolean(ast) || AST.isLiteral(ast) || AST.isUnion(ast)
    ? describe(type)
    : { type: "string" }
}

const declared = (fields: ParameterSchemas, place: "path" | "query", schemas: NamedSchemas): readonly SchemaObject[] =>
  Object.entries(fields).map(([name, schema]) => ({
    name,
    in: place,
    required: place === "path" || !AST.isOptional((schema as Schema.Constraint).ast),
    schema: schemaOf(schema as Schema.Constraint, schemas),
  }))

const text = { type: "string" } as const
const userId = { name: "userID", in: "query", required: false, description: "Act as this user (administrators)", schema: text }
const rangeId = {
  name: "rangeID",
  in: "query",
  required: false,
  description: "The range; without it the default range",
  schema: text,
}

const ifMatch = {
  name: "If-Match",
  in: "header",
  required: false,
  description: "The ETag of the version to change; without it, whatever is stored is changed",
  schema: text,
}

/**
 * The parameters of an operation. `userID` and `rangeID` are accepted everywhere, but listed only where they affect the result: the first
 * where the operation declares that it can be wrong, the second where it works on a range.
 */
export const parametersOf = (operation: Operation, schemas: NamedSchemas): readonly SchemaObject[] => {
  const { input, access, target, statuses, route } = operation
  const selectsUser = route.base === "/api/v2" && access !== "anonymous" && access !== "admin" && statuses[400] !== undefined
  return [
    ...declared(input.path, "path", schemas),
    ...(target === "range" && !("rangeID" in input.query) ? [rangeId] : []),
    ...(selectsUser && !("userID" in input.query) && !("userID" in input.path) ? [userId] : []),
    ...declared(input.query, "query", schemas),
    ...(operation.conditional ? [ifMatch] : []),
  ]
}
