/** Stamps sorted by id: writers that lock rows in one order cannot deadlock. */
export const inOrder = <Id extends string>(stamps: ReadonlyMap<Id, Date>): readonly (readonly [Id, Date])[] =>
  [...stamps].sort(([a], [b]) => (a < b ? -1 : 1))
