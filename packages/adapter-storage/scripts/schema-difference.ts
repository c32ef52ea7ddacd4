import type { SqlMikroORM } from "@mikro-orm/sql"

/**
 * The statements that would turn a database into what the entities describe. Triggers are left to migrations: entities do not include them.
 */
export const schemaDifference = async (orm: SqlMikroORM): Promise<readonly string[]> => {
  const text = await orm.schema.getUpdateSchemaSQL({ dropTables: false, wrap: false })
  return text
    .split("\n")
    .map((line) => line.trim().replace(/;$/u, ""))
    .filter((line) => line !== "" && !/^(set names|drop trigger|drop function)\b/u.test(line))
}
