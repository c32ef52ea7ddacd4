const suffix = /\.(?:tar\.(?:gz|bz2|xz|zst)|t(?:gz|bz2|xz)|tar|zip|gz|bz2|xz|zst)$/iu

/** The role that an uploaded archive is of: the name of its file without the endings of archives. */
export const roleOfArchive = (filename: string): string => {
  let name = filename
  while (suffix.test(name)) name = name.replace(suffix, "")
  return name
}
