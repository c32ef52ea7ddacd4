import type { SqlMikroORM } from "@mikro-orm/sql"

/** MikroORM on either engine: it owns the schema, the migrations, the connections and the transactions. */
export type Orm = SqlMikroORM
