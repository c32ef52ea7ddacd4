import { isBuilder, longestText, readBuilderFile, type TemplateDefinition, templateTold } from "@rangewright/domain"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { readPlainFile, walk } from "./walk.ts"

/** A template that comes with the service, and the folder of its files. */
export interface ShippedTemplate {
  readonly definition: TemplateDefinition
  readonly folder: string
}

/** The templates of a source that comes with the service, by name. Throws when one of its folders is not a template. */
export const readShipped = async (source: string): Promise<ReadonlyMap<string, ShippedTemplate>> => {
  const shipped = new Map<string, ShippedTemplate>()
  for (const entry of await readdir(join(source, "templates"), { withFileTypes: true })) {
    const folder = join(entry.parentPath, entry.name)
    const paths = (await walk(folder)).map(({ path }) => path)
    const builder = paths.find(isBuilder)
    if (builder === undefined) throw new Error(`${folder} has no builder file`)
    const text = new TextDecoder().decode(await readPlainFile(join(folder, builder), longestText))
    const facts = readBuilderFile(builder, text)
    const { name } = facts
    if (name === undefined) throw new Error(`${folder} does not name its template`)
    shipped.set(name, {
      definition: {
        name,
        ...templateTold(
          facts,
          paths.find((path) => path === facts.icon),
        ),
      },
      folder,
    })
  }
  return shipped
}
