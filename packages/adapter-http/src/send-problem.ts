import type { Context } from "koa"
import type { Problem } from "./problem.ts"

export const sendProblem = (ctx: Context, problem: Problem): void => {
  ctx.status = problem.status
  ctx.set("Content-Type", "application/json")
  ctx.body = problem.body
}
