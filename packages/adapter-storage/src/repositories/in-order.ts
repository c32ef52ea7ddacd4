/** Stamps by id: writers that take rows in one order never wait for each other in a circle. */
export const inOrder = <Id extends string>(stamps: ReadonlyMap<Id, Date>): readonly (readonly [Id, Date])[] =>
  [...stamps].sort(([a], [b]) => (a < b ? -1 : 1))
