import type { SqlMikroORM } from "@mikro-orm/sql"
import type { InferKyselyDB } from "@mikro-orm/sql"
import type { entities } from "../schema/entities.ts"

/** The columns of every table, inferred from the entities. */
export type Tables = InferKyselyDB<(typeof entities)[number]>

/** MikroORM on either engine: it owns the schema, the migrations, the connections and the transactions. */
export type Orm = SqlMikroORM
