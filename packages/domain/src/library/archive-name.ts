const suffix = /\.(?:tar\.(?:gz|bz2|xz|zst)|t(?:gz|bz2|xz)|tar|zip|gz|bz2|xz|zst)$/iu

/** The role name for an uploaded archive: its file name without archive extensions. */
export const roleOfArchive = (filename: string): string => {
  let name = filename
  while (suffix.test(name)) name = name.replace(suffix, "")
  return name
}
