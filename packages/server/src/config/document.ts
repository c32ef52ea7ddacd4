import { environmentName, type Key } from "./key.ts"
import { keys } from "./keys.ts"

const row = (key: Key<unknown>): string => {
  const variable = `\`${environmentName(key)}\``
  const secret = key.secret
    ? ` Secret: may also come from a file named by \`${key.name}_file\` or \`${environmentName(key)}_FILE\`.`
    : ""
  const example = key.example === undefined ? "" : ` Example: \`${key.example}\`.`
  return `| \`${key.name}\` | ${variable} | ${key.default} | ${key.about}${example}${secret} |`
}

/** docs/configuration.md, generated from the declared keys. */
export const configurationDocument = (): string => {
  const all: readonly Key<unknown>[] = Object.values(keys)
  const groups = [...new Set(all.map((k) => k.group))]
  const sections = groups.map((group) =>
    [
      `## ${group}`,
      "",
      "| key | variable | default | meaning |",
      "| --- | --- | --- | --- |",
      ...all.filter((k) => k.group === group).map(row),
      "",
    ].join("\n"),
  )
  return [
    "# Configuration",
    "",
    "This page is generated from the declaration in `packages/server/src/config/keys.ts` by `npm run docs`.",
    "",
    "The service reads a YAML file (`--config FILE`, else `RANGEWRIGHT_CONFIG`, else `rangewright.yml` in the working folder",
    "if it exists) and environment variables; variables take precedence over the file. It refuses to start if it finds a key",
    "or variable that is not listed here, so that a misspelled one does not go unnoticed.",
    "",
    ...sections,
  ].join("\n")
}
