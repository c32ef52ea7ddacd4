const mostListed = 20

/** Names for a message, which a caller may have chosen: the first of them, and how many there are beside. */
export const listed = (names: readonly string[]): string =>
  names.length <= mostListed ? names.join(", ") : `${names.slice(0, mostListed).join(", ")} and ${names.length - mostListed} more`
