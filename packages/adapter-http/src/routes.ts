import Router from "@koa/router"
import type { Operation } from "@rangewright/application"
import type { Middleware } from "koa"

/** `/range/config/{name}` under `/api/v2` as the router spells it. */
const pathOf = ({ base, path }: Operation["route"]): string => `${base === "/" ? "" : base}${path}`.replace(/\{(\w+)\}/gu, ":$1")

const isParameter = (segment: string): boolean => segment.startsWith(":")

/** Literal segments come before parameters, so that `/range/config/example` is not taken for a name. */
const literalFirst = (a: string, b: string): number => {
  const left = a.split("/")
  const right = b.split("/")
  const at = left.findIndex((segment, i) => isParameter(segment) !== isParameter(right[i] ?? ""))
  return at < 0 ? 0 : Number(isParameter(left[at] ?? "")) - Number(isParameter(right[at] ?? ""))
}

/**
 * Routes every operation; what no route matches goes on to the next middleware. Letter case and a trailing slash count, a parameter is
 * one segment and may hold `%2F`, GET routes answer HEAD too.
 */
export const routesOf = (operations: readonly Operation[], handlerOf: (operation: Operation) => Middleware): Middleware => {
  const router = new Router({ sensitive: true, strict: true })
  const sorted = operations
    .map((operation) => ({ operation, path: pathOf(operation.route) }))
    .sort((a, b) => literalFirst(a.path, b.path))
  const seen = new Set<string>()
  for (const { operation, path } of sorted) {
    const key = `${operation.route.method} ${path.replace(/:\w+/gu, ":")}`
    if (seen.has(key)) throw new Error(`Two operations have the route ${key}; the second is ${operation.id}`)
    seen.add(key)
    router.register(path, [operation.route.method], handlerOf(operation))
  }
  return router.routes() as unknown as Middleware
}
