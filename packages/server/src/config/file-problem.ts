const reasons: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `there is no file ${path}`,
  ENOTDIR: (path) => `there is no file ${path}`,
  EACCES: (path) => `this user may not read ${path}: grant it access, or run the service as the file's owner`,
  EISDIR: (path) => `${path} is a folder: name the file in it`,
}

/** Why a file cannot be read, for people; `path` is shown as given. */
export const fileProblem = (path: string, error: unknown): string => {
  const { code = "", message = String(error) } = error as Partial<NodeJS.ErrnoException>
  return reasons[code]?.(path) ?? `${path} cannot be read (${message})`
}
