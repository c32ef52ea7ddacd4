import Router from "@koa/router"
import type { Operation } from "@rangewright/application"
import type { Middleware } from "koa"

/** `/range/config/{name}` under `/api/v2` in the router's notation. */
const pathOf = ({ base, path }: Operation["route"]): string => `${base === "/" ? "" : base}${path}`.replace(/\{(\w+)\}/gu, ":$1")

export const pathOfOperation = ({ route }: Operation): string => pathOf(route)

const isParameter = (segment: string): boolean => segment.startsWith(":")

/** Literal segments come before parameters, so that `/range/config/example` is not taken for a name. */
const literalFirst = (a: string, b: string): number => {
  const left = a.split("/")
  const right = b.split("/")
  const at = left.findIndex((segment, i) => isParameter(segment) !== isParameter(right[i] ?? ""))
  return at < 0 ? 0 : Number(isParameter(left[at] ?? "")) - Number(isParameter(right[at] ?? ""))
}

const assertUniqueRoutes = (operations: readonly Operation[]): void => {
  const seen = new Map<string, string>()
  for (const { id, route } of operations) {
    const key = `${route.method} ${pathOf(route).replace(/:\w+/gu, ":")}`
    const other = seen.get(key)
    if (other !== undefined) throw new Error(`${other} and ${id} have the same route ${key}`)
    seen.set(key, id)
  }
}

/** Makes a handler at the first request: hardly any process is asked for every operation, and making all of them takes time at its start. */
const whenAsked = (make: () => Middleware): Middleware => {
  let made: Middleware | undefined
  return (ctx, next) => (made ??= make())(ctx, next)
}

/**
 * Routes every operation; unmatched requests go to the next middleware. Paths are sensitive to letter case and a trailing slash, a
 * parameter is one segment and may contain `%2F`, and GET routes answer HEAD too. Paths without parameters are found by lookup, so that
 * they take precedence and cost nothing to match; only the others are tried one after another.
 */
export const routesOf = (operations: readonly Operation[], handlerOf: (operation: Operation) => Middleware): Middleware => {
  assertUniqueRoutes(operations)
  const literal = new Map<string, Middleware>()
  const router = new Router({ sensitive: true, strict: true })
  const routes = operations.map((operation) => ({
    method: operation.route.method,
    path: pathOf(operation.route),
    handle: whenAsked(() => handlerOf(operation)),
  }))
  const isMatched = ({ path }: { readonly path: string }): boolean => path.includes(":")
  for (const route of routes) if (!isMatched(route)) literal.set(`${route.method} ${route.path}`, route.handle)
  for (const { method, path, handle } of routes.filter(isMatched).sort((a, b) => literalFirst(a.path, b.path)))
    router.register(path, [method], handle)
  const withParameters = router.routes() as unknown as Middleware
  return (ctx, next) => {
    const method = ctx.method === "HEAD" ? "GET" : ctx.method
    return (literal.get(`${method} ${ctx.path}`) ?? withParameters)(ctx, next)
  }
}
