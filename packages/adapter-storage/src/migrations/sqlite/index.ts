import type { MigrationList } from "../../engine/migrate.ts"
import { M0001Initial } from "./m0001-initial.ts"
import { M0002Groups } from "./m0002-groups.ts"
import { M0003Blueprints } from "./m0003-blueprints.ts"
import { M0004Thumbnails } from "./m0004-thumbnails.ts"

/** An explicit list: the same from sources, from the packed library and from a bundle. */
export const sqliteMigrations: MigrationList = [
  { name: "0001-initial", class: M0001Initial },
  { name: "0002-groups", class: M0002Groups },
  { name: "0003-blueprints", class: M0003Blueprints },
  { name: "0004-thumbnails", class: M0004Thumbnails },
]
