import { Conflict, howTo, type Range } from "@rangewright/domain"

/** Why a router's access rules cannot be updated; `state`: its power state, or that it is gone. Scripts match the text. */
export const routerAway = (doing: string, { id }: Pick<Range, "id">, router: string, state: string): Conflict =>
  new Conflict({
    what: `Cannot ${doing}. The range router you are sharing access to must be accessible, but ${router} is ${state}`,
    hint: `Repeat it when the router is powered on and accessible: ${howTo("PUT /range/poweron", {}, id)}.`,
  })
