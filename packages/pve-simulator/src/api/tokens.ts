import { badParameter, failure } from "../core/errors.ts"
import { randomUuid } from "../core/random.ts"
import { flag, optionalNumber, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { hashSecret } from "../http/identity.ts"
import { touchAccess, userNamed, forgetSubject, describeToken, present } from "./access-entries.ts"

const listTokens = (call: Call): unknown[] =>
  [...userNamed(call.world, text(call, "userid")).tokens.values()].map((token) => ({
    tokenid: token.tokenid,
    ...describeToken(token),
  }))

const tokenOf = (call: Call) => {
  const user = userNamed(call.world, text(call, "userid"))
  const token = user.tokens.get(text(call, "tokenid"))
  if (token === undefined) throw failure(`no such token '${text(call, "tokenid")}' for user '${user.userid}'`)
  return { user, token }
}

const createToken = (call: Call) => {
  const { world } = call
  const user = userNamed(world, text(call, "userid"))
  const tokenid = text(call, "tokenid")
  if (user.tokens.has(tokenid)) throw badParameter({ tokenid: "Token already exists." })
  const value = randomUuid(world.state.random)
  const privsep = call.parameters["privsep"] === undefined || flag(call, "privsep")
  user.tokens.set(tokenid, {
    tokenid,
    privsep,
    expire: optionalNumber(call, "expire") ?? 0,
    comment: optionalText(call, "comment"),
    hash: hashSecret("token", value),
  })
  touchAccess(world)
  // given values are returned as text, defaults as numbers
  const info = {
    privsep: call.parameters["privsep"] === undefined ? 1 : text(call, "privsep"),
    ...present("comment", optionalText(call, "comment")),
    ...present("expire", optionalText(call, "expire")),
  }
  return { "full-tokenid": `${user.userid}!${tokenid}`, info, value }
}

const updateToken = (call: Call) => {
  const { token } = tokenOf(call)
  if (call.parameters["privsep"] !== undefined) token.privsep = flag(call, "privsep")
  if (call.parameters["expire"] !== undefined) token.expire = optionalNumber(call, "expire") ?? 0
  token.comment = optionalText(call, "comment") ?? token.comment
  touchAccess(call.world)
  return describeToken(token)
}

const deleteToken = (call: Call): null => {
  const { user, token } = tokenOf(call)
  user.tokens.delete(token.tokenid)
  forgetSubject(call.world, (subject) => subject === `${user.userid}!${token.tokenid}`)
  return null
}

/** API tokens of a user. */
export const tokenRoutes: Routes = {
  "GET /access/users/{userid}/token": listTokens,
  "GET /access/users/{userid}/token/{tokenid}": (call) => describeToken(tokenOf(call).token),
  "POST /access/users/{userid}/token/{tokenid}": createToken,
  "PUT /access/users/{userid}/token/{tokenid}": updateToken,
  "DELETE /access/users/{userid}/token/{tokenid}": deleteToken,
}
